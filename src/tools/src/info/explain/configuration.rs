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

/// Maximum number of shown entries for names other than the requested name. If there are more, one step only counts
/// them.
const MAX_OTHER_NAMES: usize = 3;

/// Explains the search for the configuration and its lines, for one adapter or all. `gives` is set if the library of
/// any version has an adapter: then a file that defines none for this version is no fault.
pub fn explain(places: &Places, api: Api, name: Option<&CStr>, gives: bool) -> Configuration {
    let mut steps = vec![chosen_file(places, env::var_os("DAT_OVERRIDE").as_deref())];
    let (mut file, mut versions, mut names) = (None, Vec::new(), Vec::new());
    let found = find(places, version(api), &mut |search| {
        match search {
            Search::Taken(path) => file = Some(path.to_owned()),
            Search::Line(origin, LineUse::OtherVersion(entry)) if !is_unknown(entry) => {
                versions.push((origin.clone(), search.to_string()));
                return;
            }
            _ => {}
        }
        steps.extend(other_versions(&mut versions));
        let of = if let Search::Line(Origin::Line(..), line) = &search { name_of(line) } else { None };
        let is_other = name.zip(of).is_some_and(|(name, of)| *name != *of);
        let step = step_of(&search);
        match search {
            Search::Line(_, LineUse::Entry(_) | LineUse::OldVersion(..)) if is_other => names.push(step.not_wrong()),
            _ if is_other => steps.push(step.not_wrong()),
            _ => steps.push(step),
        }
    });
    steps.extend(other_versions(&mut versions));
    if names.len() > MAX_OTHER_NAMES {
        names = vec![Step::ok(format!("{} lines have other names", names.len()))];
    }
    steps.extend(names);
    steps.extend(found.excess.iter().map(|(origin, excess)| {
        Step::wrong(format!("{origin}: {excess}: this line and all that follow are ignored")).see(Topic::IgnoredLine)
    }));
    if let Some(file) = file.as_deref().filter(|_| found.usable().next().is_none()) {
        let file = file.display();
        let text = format!("{file}: none of its lines defines an adapter for uDAPL {api}, and no other file is used");
        steps.push(Step::wrong_if(!gives, text).see(Topic::NoAdapter));
    }
    Configuration { found, file, steps }
}

/// Returns the name of the adapter that a line defines, if the line has one.
fn name_of<'a>(line: &LineUse<'a>) -> Option<&'a CStr> {
    match line {
        LineUse::Bad(bad) => bad.name.as_deref(),
        LineUse::Entry(entry)
        | LineUse::Unlisted(entry)
        | LineUse::OldVersion(entry, _)
        | LineUse::Kernel(entry)
        | LineUse::NonDefault(entry)
        | LineUse::OtherVersion(entry)
        | LineUse::Repeated(entry)
        | LineUse::StandIn(entry) => Some(&entry.name),
    }
}

/// Takes consecutive lines for other versions, and returns one step for all of them. Some files have dozens of such
/// lines.
fn other_versions(lines: &mut Vec<(Origin, String)>) -> Option<Step> {
    let text = match &lines[..] {
        [] => return None,
        [(Origin::Line(path, first), _), .., (Origin::Line(_, last), _)] => {
            format!("{}: {} lines from {first} to {last} are for other versions", path.display(), lines.len())
        }
        [(_, text), ..] => text.clone(),
    };
    lines.clear();
    Some(Step::note(text))
}

/// Returns whether the major version of an entry does not exist in uDAPL.
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
        Search::Line(Origin::BuiltIn, line @ (LineUse::Entry(_) | LineUse::Unlisted(_))) => {
            Step::ok(format!("built in: {line}"))
        }
        Search::Line(_, LineUse::OldVersion(..)) => Step::wrong(search.to_string()).see(Topic::IgnoredLine),
        Search::Line(Origin::BuiltIn, LineUse::NonDefault(entry)) => {
            Step::note(format!("built in: {} is disabled by a nondefault line", words(&entry.name)))
        }
        Search::Unlisted(_) => Step::note(search.to_string()).see(Topic::InterfaceList),
        Search::Line(..) | Search::PassedOver(_) => Step::note(search.to_string()),
        Search::Absent(_) | Search::Reading(_) | Search::Taken(_) | Search::BuiltIn => Step::ok(search.to_string()),
    }
}

#[cfg(test)]
mod tests;
