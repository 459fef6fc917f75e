//! Which dat.conf counts and why, and what each of its lines means.

use std::env;
use std::ffi::{CStr, OsStr};
use std::path::{Path, PathBuf};

use dat::Api;
use dat_registry::Origin;
use dat_registry::search::{ALL_BUILT_IN, Found, Places, find};
use dat_registry::step::{LineUse, Step as Search};
use host::environment;

use super::step::Step;
use super::topic::Topic;
use crate::info::{version, words};

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
///
/// # Parameters
/// * `name` - the adapter that is asked for; of many other ones only the number is told.
/// * `gives` - whether it gives programs of some version an adapter; a file need not have lines for all.
pub fn explain(places: &Places, api: Api, name: Option<&CStr>, gives: bool) -> Configuration {
    const MANY: usize = 3;
    // Each with whether it is about an adapter of another name.
    let mut steps = vec![(chosen_file(places, env::var_os("DAT_OVERRIDE").as_deref()), false)];
    let mut file = None;
    let mut others = Others::default();
    let found = find(places, version(api), &mut |search| {
        if let Search::Taken(path) = search {
            file = Some(path.to_owned());
        }
        if !others.take(&search) {
            steps.extend(others.step().map(|step| (step, false)));
            let is_other = matches!(&search, Search::Line(Origin::Line(..), LineUse::Entry(entry))
                if name.is_some_and(|name| *entry.name != *name));
            steps.push((step_of(&search), is_other));
        }
    });
    steps.extend(others.step().map(|step| (step, false)));
    let of_others = steps.iter().filter(|step| step.1).count();
    if of_others > MANY {
        steps.retain(|step| !step.1);
        steps.push((Step::ok(format!("{of_others} lines have other names")), false));
    }
    let mut steps: Vec<Step> = steps.into_iter().map(|step| step.0).collect();
    steps.extend(found.excess.iter().map(|(origin, excess)| {
        Step::wrong(format!("{origin}: {excess}: this line and all that follow are ignored")).see(Topic::IgnoredLine)
    }));
    steps.extend(file.as_deref().filter(|_| found.entries.is_empty()).map(|file| without_adapters(file, api, gives)));
    Configuration { found, file, steps }
}

/// Lines one behind the other that are for other versions: a file of a distribution has dozens.
#[derive(Default)]
struct Others {
    count: usize,
    /// What is said of the first, and where that and the last one are.
    first: Option<(String, Origin)>,
    last: Option<Origin>,
}

impl Others {
    /// Takes a step if it is such a line.
    fn take(&mut self, search: &Search<'_>) -> bool {
        let Search::Line(origin, LineUse::OtherVersion(_)) = search else { return false };
        self.count += 1;
        self.first.get_or_insert_with(|| (search.to_string(), (*origin).clone()));
        self.last = Some((*origin).clone());
        true
    }

    /// One step for all of them.
    fn step(&mut self) -> Option<Step> {
        let Others { count, first, last } = std::mem::take(self);
        let (said, first) = first?;
        Some(Step::note(match (first, last?) {
            (Origin::Line(path, first), Origin::Line(_, last)) if count > 1 => {
                format!("{}: {count} lines from {first} to {last} are for other versions", path.display())
            }
            _ => said,
        }))
    }
}

/// A file that counts, and gives no adapter.
fn without_adapters(file: &Path, api: Api, gives: bool) -> Step {
    Step::wrong_if(
        !gives,
        format!("{}: none of its lines defines an adapter for uDAPL {api}, and no other file is used", file.display()),
    )
    .see(Topic::NoAdapter)
}

/// What the variable of the environment says.
fn chosen_file(places: &Places, variable: Option<&OsStr>) -> Step {
    match (&places.override_file, variable) {
        (Some(path), _) if path.as_os_str() == ALL_BUILT_IN => Step::ok("DAT_OVERRIDE is builtin, so no file is read"),
        (Some(path), _) => Step::ok(format!("DAT_OVERRIDE names {}, so no other file is read", path.display())),
        (None, None) => Step::ok("DAT_OVERRIDE is not set, so the files of the system are read"),
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
        Search::Line(Origin::BuiltIn, LineUse::NonDefault(entry)) => {
            Step::note(format!("built in: {} is disabled by a nondefault line", words(&entry.name)))
        }
        // These are made to be skipped.
        Search::Line(..) | Search::PassedOver(_) => Step::note(search.to_string()),
        Search::Absent(_) | Search::Reading(_) | Search::Taken(_) | Search::BuiltIn => Step::ok(search.to_string()),
    }
}

#[cfg(test)]
mod tests;
