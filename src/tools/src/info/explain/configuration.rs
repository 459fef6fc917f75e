//! The search for dat.conf and the meaning of its lines.

use std::env;
use std::ffi::{CStr, OsStr};
use std::path::PathBuf;

use dat::Api;
use dat_registry::search::{ALL_BUILT_IN, Found, Places, find};
use dat_registry::step::{LineUse, Step as Search};
use dat_registry::{Entry, Origin};
use host::topic::Topic;

use super::step::Step;
use crate::info::{version, words};

pub struct Configuration {
    pub found: Found,
    pub file: Option<PathBuf>,
    pub steps: Vec<Step>,
}

/// Maximum shown lines about other names. More are only counted.
const MAX_OTHER_NAMES: usize = 3;

/// Explains the search for the configuration, for one adapter or all. With `gives`, some version has an adapter, so a
/// file that defines none for this version is no fault.
pub fn explain(places: &Places, api: Api, name: Option<&CStr>, gives: bool) -> Configuration {
    let mut steps = vec![chosen_file(places, env::var_os("DAT_OVERRIDE").as_deref())];
    let (mut file, mut versions, mut names) = (None, OtherVersions::default(), Vec::new());
    let found = find(places, version(api), &mut |search| {
        if let Search::Taken(path) = search {
            file = Some(path.to_owned());
        }
        if versions.take(&search) {
            return;
        }
        steps.extend(versions.step());
        let is_other = matches!(&search, Search::Line(Origin::Line(..), LineUse::Entry(entry))
            if name.is_some_and(|name| *entry.name != *name));
        if is_other { &mut names } else { &mut steps }.push(step_of(&search));
    });
    steps.extend(versions.step());
    if names.len() > MAX_OTHER_NAMES {
        names = vec![Step::ok(format!("{} lines have other names", names.len()))];
    }
    steps.extend(names);
    steps.extend(found.excess.iter().map(|(origin, excess)| {
        Step::wrong(format!("{origin}: {excess}: this line and all that follow are ignored")).see(Topic::IgnoredLine)
    }));
    if let Some(file) = file.as_deref().filter(|_| found.entries.is_empty()) {
        let file = file.display();
        let text = format!("{file}: none of its lines defines an adapter for uDAPL {api}, and no other file is used");
        steps.push(Step::wrong_if(!gives, text).see(Topic::NoAdapter));
    }
    Configuration { found, file, steps }
}

/// Consecutive lines for other versions. Some files have dozens.
#[derive(Default)]
struct OtherVersions {
    count: usize,
    first: Option<(String, Origin)>,
    last: Option<Origin>,
}

impl OtherVersions {
    fn take(&mut self, search: &Search<'_>) -> bool {
        let Search::Line(origin, LineUse::OtherVersion(entry)) = search else { return false };
        if is_unknown(entry) {
            return false;
        }
        self.count += 1;
        self.first.get_or_insert_with(|| (search.to_string(), (*origin).clone()));
        self.last = Some((*origin).clone());
        true
    }

    fn step(&mut self) -> Option<Step> {
        let OtherVersions { count, first, last } = std::mem::take(self);
        let (text, first) = first?;
        Some(Step::note(match (first, last?) {
            (Origin::Line(path, first), Origin::Line(_, last)) if count > 1 => {
                format!("{}: {count} lines from {first} to {last} are for other versions", path.display())
            }
            _ => text,
        }))
    }
}

/// Returns whether uDAPL has no such major version.
fn is_unknown(entry: &Entry) -> bool {
    !(1..=2).contains(&entry.api.major)
}

fn chosen_file(places: &Places, variable: Option<&OsStr>) -> Step {
    match (&places.override_file, variable) {
        (Some(path), _) if path.as_os_str() == ALL_BUILT_IN => Step::ok("DAT_OVERRIDE is builtin, so no file is read"),
        (Some(path), _) => Step::ok(format!("DAT_OVERRIDE names {}, so no other file is read", path.display())),
        (None, None) => Step::ok("DAT_OVERRIDE is not set, so the files of the system are read"),
        (None, Some(name)) if name.is_empty() => Step::ok("DAT_OVERRIDE is empty, which is the same as not set"),
        (None, Some(_)) => {
            Step::note("DAT_OVERRIDE is ignored, because this program runs with more rights than its user")
        }
    }
}

fn step_of(search: &Search<'_>) -> Step {
    match search {
        Search::Unreadable(..) => {
            Step::wrong(format!("{search}, so there are no interface adapters")).see(Topic::UnreadableConfiguration)
        }
        Search::Line(_, LineUse::Bad(_)) => Step::wrong(search.to_string()).see(Topic::IgnoredLine),
        Search::Line(_, LineUse::OtherVersion(entry)) if is_unknown(entry) => {
            Step::wrong(format!("{search}, which does not exist: write u1.2 or u2.0")).see(Topic::IgnoredLine)
        }
        Search::Line(_, LineUse::Repeated(_)) => Step::note(search.to_string()).see(Topic::IgnoredLine),
        Search::Line(Origin::Line(..), LineUse::Entry(_)) => Step::ok(search.to_string()),
        Search::Line(Origin::BuiltIn, LineUse::Entry(entry)) => {
            Step::ok(format!("built in: {} by {}", words(&entry.name), words(&entry.library)))
        }
        Search::Line(Origin::BuiltIn, LineUse::NonDefault(entry)) => {
            Step::note(format!("built in: {} is disabled by a nondefault line", words(&entry.name)))
        }
        Search::Line(..) | Search::PassedOver(_) => Step::note(search.to_string()),
        Search::Absent(_) | Search::Reading(_) | Search::Taken(_) | Search::BuiltIn => Step::ok(search.to_string()),
    }
}

#[cfg(test)]
mod tests;
