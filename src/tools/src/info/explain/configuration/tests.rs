use std::fs;

use super::super::step::State;
use super::*;

fn places(root: &Path, text: &str) -> Places {
    let file = root.join("dat.conf");
    fs::write(&file, text).unwrap();
    Places { override_file: None, files: vec![file], sysfs: root.join("sys") }
}

#[test]
fn a_bad_line_is_told_with_its_fault() {
    let root = tempfile::tempdir().unwrap();
    let Configuration { found, steps, .. } =
        explain(&places(root.path(), "a u1.2 threadsafe default l.so A.1.0 \"\" \"\"\nb u1.2 perhaps\n"));
    assert_eq!(found.entries.len(), 1);
    let wrong: Vec<&Step> = steps.iter().filter(|step| step.state == State::Wrong).collect();
    assert_eq!(wrong.len(), 1);
    assert!(wrong[0].text.contains("dat.conf:2: line ignored: field 3 is neither"), "{}", wrong[0].text);
    assert_eq!(wrong[0].see, Some(Topic::IgnoredLine.place()));
}

#[test]
fn a_file_that_cannot_be_read_is_wrong() {
    let root = tempfile::tempdir().unwrap();
    let mut places = places(root.path(), "");
    places.override_file = Some(PathBuf::from("/no/such/file"));
    let steps = explain(&places).steps;
    let last = steps.last().unwrap();
    assert_eq!((last.state, &last.see), (State::Wrong, &Some(Topic::UnreadableConfiguration.place())));
}

#[test]
fn without_a_file_the_built_in_entries_are_told() {
    let root = tempfile::tempdir().unwrap();
    let places = Places { override_file: None, files: vec![root.path().join("none")], sysfs: root.path().join("sys") };
    let steps = explain(&places).steps;
    assert!(steps.iter().all(|step| step.state == State::Ok));
    assert_eq!(steps.last().unwrap().text, "built in: shm by libdaplshm.so.1");
}

#[test]
fn a_file_that_gives_no_adapter_is_wrong() {
    let root = tempfile::tempdir().unwrap();
    for text in ["", "# a comment\n", "later u2.0 threadsafe default l.so A.1.0 \"\" \"\"\n"] {
        let mut places = places(root.path(), text);
        places.override_file = Some(places.files[0].clone());
        let mut wrong = explain(&places).steps;
        wrong.retain(|step| step.state == State::Wrong);
        assert_eq!((wrong.len(), &wrong[0].see), (1, &Some(Topic::NoAdapter.place())), "{text:?}");
    }
}
