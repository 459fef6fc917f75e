use super::super::step::Finding;
use super::*;

#[test]
fn without_a_file_the_built_in_entries_are_told() {
    let root = tempfile::tempdir().unwrap();
    let places = Places {
        override_file: None,
        files: vec![root.path().join("none")],
        sysfs: root.path().join("sys"),
        proc: root.path().join("proc"),
        own: None,
    };
    let steps = explain(&places, Api::V12, None, false).steps;
    let (notes, others): (Vec<_>, Vec<_>) = steps.iter().partition(|step| step.state == Finding::Note);
    assert!(notes.iter().all(|step| step.text.starts_with("built-in entries are missing: ")));
    assert!(others.iter().all(|step| step.state == Finding::Ok));
    assert_eq!((steps.last().unwrap().state, notes.len()), (Finding::Ok, 2));
    assert_eq!(steps.last().unwrap().text, "built in: shm by libdaplshm.so.1, not listed");
}
