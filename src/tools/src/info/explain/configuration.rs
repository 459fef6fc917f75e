//! Which dat.conf counts and why, and what each of its lines means.

use std::env;
use std::ffi::OsStr;
use std::path::Path;

use dat_registry::Origin;
use dat_registry::Source;
use dat_registry::conf::Fault;
use dat_registry::search::{Excess, Found, Places, find};
use dat_registry::step::{LineUse, Step as Search};
use host::environment;

use super::step::Step;
use crate::info::{VERSION, words};

/// What the search found, and its steps.
pub fn explain(places: &Places) -> (Found, Vec<Step>) {
    let mut steps = vec![chosen_file(places, env::var_os("DAT_OVERRIDE").as_deref())];
    let found = find(places, &VERSION, &mut |search| steps.push(step_of(places, &search)));
    if let Some((origin, excess)) = &found.excess {
        let limit = match excess {
            Excess::Bytes => "bytes",
            Excess::Lines => "lines",
        };
        steps.push(Step::wrong(format!(
            "{origin}: {excess}: this line and all that follow are ignored (too many {limit})"
        )));
    }
    (found, steps)
}

/// What the variable of the environment says.
fn chosen_file(places: &Places, variable: Option<&OsStr>) -> Step {
    match (&places.override_file, variable) {
        (Some(path), _) => Step::ok(format!("DAT_OVERRIDE names {}, so no other file is looked at", path.display())),
        (None, None) => Step::ok("DAT_OVERRIDE is not set, so the files of the system are looked at"),
        (None, Some(name)) if name.is_empty() => Step::ok("DAT_OVERRIDE is empty, which is the same as not set"),
        (None, Some(_)) => {
            debug_assert!(environment::secure("DAT_OVERRIDE").is_none());
            Step::note("DAT_OVERRIDE is ignored, because this program runs with more rights than its user")
        }
    }
}

/// A step of the search, with what mends it.
fn step_of(places: &Places, search: &Search<'_>) -> Step {
    match search {
        Search::Unreadable(path, error) => {
            let step = Step::wrong(format!("{}, so there are no interface adapters", search));
            match error.kind() {
                std::io::ErrorKind::PermissionDenied => step.mend(format!("chmod a+r {}", quoted(path))),
                _ if places.override_file.is_some() => step.mend("unset DAT_OVERRIDE"),
                _ => step.mend(format!("mv {} {}", quoted(path), quoted(path.with_extension("conf.old")))),
            }
        }
        Search::Line(origin, LineUse::Bad(bad)) => {
            let step = Step::wrong(format!("{origin}: {}{}", LineUse::Bad(bad), form(bad.fault)));
            mend_line(step, origin)
        }
        Search::Line(origin, LineUse::Repeated(entry)) => {
            let step = Step::note(format!("{origin}: {}", LineUse::Repeated(entry)));
            mend_line(step, origin)
        }
        Search::Line(origin, LineUse::Entry(entry)) => Step::ok(match origin.source {
            Source::File(_) => format!("{search}"),
            Source::BuiltIn => format!("built in: {} by {}", words(&entry.name), words(&entry.library)),
        }),
        // These are made to be skipped.
        Search::Line(..) | Search::PassedOver(_) => Step::note(search.to_string()),
        Search::Absent(_) | Search::Reading(_) | Search::Taken(_) | Search::BuiltIn => Step::ok(search.to_string()),
    }
}

/// Takes a line out of its file.
fn mend_line(step: Step, origin: &Origin) -> Step {
    match &origin.source {
        Source::File(path) => step.mend(format!("sed -i '{}s/^/# /' {}", origin.line, quoted(path.as_path()))),
        Source::BuiltIn => step,
    }
}

/// The form that a line must have, where the fault does not tell it.
fn form(fault: Fault) -> &'static str {
    match fault {
        Fault::MissingField(_) | Fault::TooManyFields | Fault::Lex(_) => {
            "\na line has 8 fields: NAME u1.2 threadsafe default LIBRARY ID.1.0 \"INSTANCE\" \"\""
        }
        _ => "",
    }
}

/// A path or name as a word for the shell.
pub fn quoted(word: impl AsRef<Path>) -> String {
    let text = word.as_ref().display().to_string();
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@%".contains(letter);
    if !text.is_empty() && text.chars().all(plain) { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::super::step::State;
    use super::*;

    fn places(root: &Path, text: &str) -> Places {
        let file = root.join("dat.conf");
        fs::write(&file, text).unwrap();
        Places { override_file: None, files: vec![file], sysfs: root.join("sys") }
    }

    #[test]
    fn a_bad_line_is_told_with_its_fault_and_what_takes_it_out() {
        let root = tempfile::tempdir().unwrap();
        let (found, steps) =
            explain(&places(root.path(), "a u1.2 threadsafe default l.so A.1.0 \"\" \"\"\nb u1.2 perhaps\n"));
        assert_eq!(found.entries.len(), 1);
        let wrong: Vec<&Step> = steps.iter().filter(|step| step.state == State::Wrong).collect();
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].text.contains("dat.conf:2: line ignored: field 3 is neither"), "{}", wrong[0].text);
        assert!(wrong[0].mend[0].starts_with("sed -i '2s/^/# /' "), "{}", wrong[0].mend[0]);
        // The command does what it is for.
        assert!(std::process::Command::new("sh").args(["-c", &wrong[0].mend[0]]).status().unwrap().success());
        let text = fs::read_to_string(root.path().join("dat.conf")).unwrap();
        assert!(text.ends_with("\n# b u1.2 perhaps\n"), "{text}");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_wrong() {
        let root = tempfile::tempdir().unwrap();
        let mut places = places(root.path(), "");
        places.override_file = Some(PathBuf::from("/no/such/file"));
        let (_, steps) = explain(&places);
        let last = steps.last().unwrap();
        assert_eq!((last.state, last.mend.as_slice()), (State::Wrong, ["unset DAT_OVERRIDE".to_owned()].as_slice()));
    }

    #[test]
    fn without_a_file_the_built_in_entries_are_told() {
        let root = tempfile::tempdir().unwrap();
        let places =
            Places { override_file: None, files: vec![root.path().join("none")], sysfs: root.path().join("sys") };
        let (_, steps) = explain(&places);
        assert!(steps.iter().all(|step| step.state == State::Ok));
        assert_eq!(steps.last().unwrap().text, "built in: shm by libdaplshm.so.1");
    }

    #[test]
    fn paths_are_words_for_the_shell() {
        assert_eq!(quoted("/etc/dat.conf"), "/etc/dat.conf");
        assert_eq!(quoted("/a b's"), "'/a b'\\''s'");
    }
}
