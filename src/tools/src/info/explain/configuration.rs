//! Which dat.conf counts and why, and what each of its lines means.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use dat_registry::Origin;
use dat_registry::search::{Found, Places, find};
use dat_registry::step::{LineUse, Step as Search};
use host::environment;

use super::step::Step;
use super::topic::Topic;
use crate::info::{VERSION, words};

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
        steps.push(step_of(&search));
    });
    steps.extend(found.excess.iter().map(|(origin, excess)| {
        Step::wrong(format!("{origin}: {excess}: this line and all that follow are ignored")).see(Topic::IgnoredLine)
    }));
    steps.extend(file.as_deref().filter(|_| found.entries.is_empty()).map(without_adapters));
    Configuration { found, file, steps }
}

/// A file that counts, and gives no adapter.
fn without_adapters(file: &Path) -> Step {
    Step::wrong(format!(
        "{}: no line of it gives a program of version {}.{} an adapter, and no other file counts",
        file.display(),
        VERSION.major,
        VERSION.minor
    ))
    .see(Topic::NoAdapter)
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

/// A step of the search.
fn step_of(search: &Search<'_>) -> Step {
    match search {
        Search::Unreadable(..) => {
            Step::wrong(format!("{search}, so there are no interface adapters")).see(Topic::UnreadableConfiguration)
        }
        Search::Line(origin, LineUse::Bad(bad)) => {
            Step::wrong(format!("{origin}: {}", LineUse::Bad(bad))).see(Topic::IgnoredLine)
        }
        Search::Line(origin, LineUse::Repeated(entry)) => {
            Step::note(format!("{origin}: {}", LineUse::Repeated(entry))).see(Topic::IgnoredLine)
        }
        Search::Line(origin, LineUse::Entry(entry)) => Step::ok(match origin {
            Origin::Line(..) => format!("{search}"),
            Origin::BuiltIn => format!("built in: {} by {}", words(&entry.name), words(&entry.library)),
        }),
        // These are made to be skipped.
        Search::Line(..) | Search::PassedOver(_) => Step::note(search.to_string()),
        Search::Absent(_) | Search::Reading(_) | Search::Taken(_) | Search::BuiltIn => Step::ok(search.to_string()),
    }
}

#[cfg(test)]
mod tests;
