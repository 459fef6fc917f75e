//! Which dat.conf counts and why, and what each of its lines means.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use dat_registry::Source;
use dat_registry::conf::Fault;
use dat_registry::search::{Excess, Found, Places, find};
use dat_registry::step::{LineUse, Step as Search};
use host::environment;
use rustix::fs::{Access, access};

use super::MORE_FILES;
use super::shell::{SHM, append, as_owner, as_root, comment_out, empty, may_write, owns};
use super::step::Step;
use crate::info::{VERSION, words};
use crate::shell::quoted;

/// The configuration, as dat_ia_open finds it.
pub struct Configuration {
    /// What the search found.
    pub found: Found,
    /// The file that counts, if it is one.
    pub file: Option<PathBuf>,
    /// The steps of the search.
    pub steps: Vec<Step>,
}

/// Searches for the configuration.
pub fn explain(places: &Places) -> Configuration {
    let mut steps = vec![chosen_file(places, env::var_os("DAT_OVERRIDE").as_deref())];
    let mut file = None;
    let found = find(places, VERSION, &mut |search| {
        if let Search::Taken(path) = search {
            file = Some(path.to_owned());
        }
        steps.push(step_of(places, &search));
    });
    if let Some((origin, excess)) = &found.excess {
        let limit = match excess {
            Excess::Bytes => "bytes",
            Excess::Lines => "lines",
        };
        steps.push(Step::wrong(format!(
            "{origin}: {excess}: this line and all that follow are ignored (too many {limit})"
        )));
    }
    steps.extend(file.as_deref().filter(|_| found.entries.is_empty()).map(|file| without_adapters(places, file)));
    Configuration { found, file, steps }
}

/// A file that counts, and gives no adapter.
fn without_adapters(places: &Places, file: &Path) -> Step {
    let step = Step::wrong(format!(
        "{}: no line of it gives a program of version {}.{} an adapter, and no other file counts",
        file.display(),
        VERSION.major,
        VERSION.minor
    ));
    step.mend(if places.override_file.is_some() { "unset DAT_OVERRIDE".to_owned() } else { append(SHM, file) })
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
            let step = Step::wrong(format!("{search}, so there are no interface adapters"));
            match error.kind() {
                _ if matches!(error.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) => step.mend(MORE_FILES),
                std::io::ErrorKind::PermissionDenied => permission(step, path, places.override_file.is_some()),
                _ if places.override_file.is_some() => step.mend("unset DAT_OVERRIDE"),
                _ => {
                    let away = format!("mv -nT {} {}", quoted(path), quoted(path.with_extension("conf.old")));
                    let may = may_write(path.parent().unwrap_or(path));
                    step.mend(if may { away } else { as_root(away) })
                }
            }
        }
        Search::Line(origin, LineUse::Bad(bad)) => {
            let step = Step::wrong(format!("{origin}: {}{}", LineUse::Bad(bad), form(bad.fault)));
            // A comment may not be longer than any line.
            step.mends(if bad.fault == Fault::LongLine { empty(origin) } else { comment_out(origin) })
        }
        Search::Line(origin, LineUse::Repeated(entry)) => {
            Step::note(format!("{origin}: {}", LineUse::Repeated(entry))).mends(comment_out(origin))
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

/// What lets this user read a file: the right to search each directory above it, and that to read it. A file of somebody else
/// that DAT_OVERRIDE names stays closed.
fn permission(step: Step, file: &Path, overrides: bool) -> Step {
    let open = |place: &Path, right: &str| match overrides && !owns(place) {
        true => "unset DAT_OVERRIDE".to_owned(),
        false => as_owner(place, format!("chmod {right} {}", quoted(place))),
    };
    let mut above: Vec<&Path> = file.ancestors().skip(1).filter(|path| !path.as_os_str().is_empty()).collect();
    above.reverse();
    match above.into_iter().find(|directory| access(*directory, Access::EXEC_OK).is_err()) {
        Some(directory) => {
            step.more(format!("{} may not be searched by you", directory.display())).mend(open(directory, "a+x"))
        }
        None => step.mend(open(file, "a+r")),
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

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::shell::tests::run;
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
        let Configuration { found, steps, .. } =
            explain(&places(root.path(), "a u1.2 threadsafe default l.so A.1.0 \"\" \"\"\nb u1.2 perhaps\n"));
        assert_eq!(found.entries.len(), 1);
        let wrong: Vec<&Step> = steps.iter().filter(|step| step.state == State::Wrong).collect();
        assert_eq!(wrong.len(), 1);
        assert!(wrong[0].text.contains("dat.conf:2: line ignored: field 3 is neither"), "{}", wrong[0].text);
        assert!(wrong[0].mend[0].starts_with("sed -i '2s/^/# /' "), "{}", wrong[0].mend[0]);
        // The command does what it is for.
        run(&wrong[0].mend[0]);
        let text = fs::read_to_string(root.path().join("dat.conf")).unwrap();
        assert!(text.ends_with("\n# b u1.2 perhaps\n"), "{text}");
    }

    #[test]
    fn a_file_that_cannot_be_read_is_wrong() {
        let root = tempfile::tempdir().unwrap();
        let mut places = places(root.path(), "");
        places.override_file = Some(PathBuf::from("/no/such/file"));
        let steps = explain(&places).steps;
        let last = steps.last().unwrap();
        assert_eq!((last.state, last.mend.as_slice()), (State::Wrong, ["unset DAT_OVERRIDE".to_owned()].as_slice()));
    }

    #[test]
    fn without_a_file_the_built_in_entries_are_told() {
        let root = tempfile::tempdir().unwrap();
        let places =
            Places { override_file: None, files: vec![root.path().join("none")], sysfs: root.path().join("sys") };
        let steps = explain(&places).steps;
        assert!(steps.iter().all(|step| step.state == State::Ok));
        assert_eq!(steps.last().unwrap().text, "built in: shm by libdaplshm.so.1");
    }

    /// The one step that is wrong.
    fn wrong(places: &Places) -> Step {
        let mut wrong = explain(places).steps;
        wrong.retain(|step| step.state == State::Wrong);
        assert_eq!(wrong.len(), 1, "{wrong:?}");
        wrong.remove(0)
    }

    #[test]
    fn a_file_that_gives_no_adapter_is_wrong() {
        let root = tempfile::tempdir().unwrap();
        let other = "later u2.0 threadsafe default l.so A.1.0 \"\" \"\"\n";
        for text in ["", "# a comment\n", other] {
            let mut places = places(root.path(), text);
            places.override_file = Some(places.files[0].clone());
            assert_eq!(wrong(&places).mend, ["unset DAT_OVERRIDE"], "{text:?}");
        }
        let places = places(root.path(), "");
        run(&wrong(&places).mend[0]);
        let configuration = explain(&places);
        assert!(configuration.steps.iter().all(|step| step.state == State::Ok), "{:?}", configuration.steps);
        assert_eq!(configuration.file, Some(places.files[0].clone()));
        assert_eq!(words(&configuration.found.entries[0].1.name), "shm");
    }

    #[test]
    fn lines_that_are_too_long_go_away() {
        let root = tempfile::tempdir().unwrap();
        let long = "x".repeat(70_000);
        let places = places(root.path(), &format!("{}\n{long}\n# {long}\n", super::super::shell::SHM));
        for step in &explain(&places).steps {
            step.mend.iter().for_each(|command| drop(run(command)));
        }
        assert!(explain(&places).steps.iter().all(|step| step.state == State::Ok));
    }
}
