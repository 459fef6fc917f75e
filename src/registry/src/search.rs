//! The search for the static entries.
//!
//! 1. `DAT_OVERRIDE`, when it is set and the process has no more rights than its starter: that
//!    file and no other. If it cannot be read, there are no entries.
//! 2. `/etc/dat.conf`.
//! 3. `/etc/rdma/dat.conf`.
//! 4. If none of these is used: the entries of [`builtin`].
//!
//! A file in `/etc` whose lines are all for another API version, as the packages of uDAPL 2.0 install it, is skipped. So is
//! one that has only comments, as our packages install it.
//!
//! A file that exists but cannot be read ends the search. So does an empty one: somebody has emptied it, and adapters that
//! the administrator has not listed would be a surprise.
//!
//! Time and memory are bounded whatever a file holds: [`file::LIMIT`] bytes of it count, [`conf::LINE_MAX`] bytes of a
//! line, and [`LINES_MAX`] lines. Entries are compared by a hash, so the time grows linearly.

#![forbid(unsafe_code)]

use std::collections::{HashMap, HashSet, hash_map};
use std::ffi::CString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::{environment, memory, sysfs};

use crate::builtin;
use crate::conf::{self, BadLine, Line};
use crate::entry::{Entry, Identity, Interface, Origin, Version};
use crate::file;
use crate::step::{LineUse, Step};

/// Names the configuration file, and replaces the search for it.
const OVERRIDE: &str = "DAT_OVERRIDE";

/// The most lines of a file that count, without comments and blank ones.
pub const LINES_MAX: usize = 65_536;

/// The places, in order.
pub const FILES: [&str; 2] = ["/etc/dat.conf", "/etc/rdma/dat.conf"];

/// The places to look in: [`Places::of_this_process`] in use, other values in tests.
#[derive(Clone, Debug)]
pub struct Places {
    /// The value of `DAT_OVERRIDE`, if it is set and may be used.
    pub override_file: Option<PathBuf>,
    /// Files to try in order.
    pub files: Vec<PathBuf>,
    /// Root of sysfs.
    pub sysfs: PathBuf,
}

impl Places {
    /// The places of this process at this moment.
    pub fn of_this_process() -> Self {
        Places {
            // A variable that is set but empty names no file.
            override_file: environment::secure(OVERRIDE).filter(|name| !name.is_empty()).map(PathBuf::from),
            files: FILES.iter().map(PathBuf::from).collect(),
            sysfs: PathBuf::from(sysfs::ROOT),
        }
    }
}

/// The result of the search.
#[derive(Debug, Default)]
pub struct Found {
    /// The entries that can be used, in order, each identity once.
    pub entries: Vec<(Origin, Entry)>,
    /// Entries that stand in for one of `entries` with the same identity, in order, with its index.
    pub stand_ins: Vec<(usize, Origin, Entry)>,
    /// Names of entries of another major version, which are skipped silently. A program that asks for such a name gets the
    /// code that says that only the version is missing.
    pub other_versions: HashSet<CString>,
    /// Entries of another major version that are listed, each identity once, with the number of `entries` before each.
    pub listed_only: Vec<(usize, Identity)>,
    /// Lines that are not valid entries.
    pub bad: Vec<(Origin, BadLine)>,
    /// The reason why the file could not be read.
    pub failure: Option<(PathBuf, io::Error)>,
    /// The place from which what a file holds is ignored, and the limit that it exceeds: [`file::LIMIT`] or [`LINES_MAX`].
    pub excess: Option<(Origin, String)>,
}

/// Finds and reads the configuration, or takes the built-in entries, for one version of the interface.
///
/// # Parameters
/// * `tell` - is called for each step.
pub fn find(places: &Places, version: Version, tell: &mut dyn FnMut(Step<'_>)) -> Found {
    let mut found = Found::default();
    let candidates: &[PathBuf] = match &places.override_file {
        Some(path) => std::slice::from_ref(path),
        None => &places.files,
    };
    for path in candidates {
        match file::read(path) {
            Ok(text) => {
                tell(Step::Reading(path));
                let silent = found.read(path, &text, version, tell);
                if places.override_file.is_some() || !silent {
                    tell(Step::Taken(path));
                    return found;
                }
                tell(Step::PassedOver(path));
                found.listed_only.clear();
            }
            Err(error) if places.override_file.is_none() && is_absent(&error) => tell(Step::Absent(path)),
            Err(error) => {
                tell(Step::Unreadable(path, &error));
                found.failure = Some((path.clone(), error));
                return found;
            }
        }
    }
    tell(Step::BuiltIn);
    for entry in builtin::entries(version, &places.sysfs) {
        tell(Step::Line(&Origin::BuiltIn, LineUse::Entry(&entry)));
        found.entries.push((Origin::BuiltIn, entry));
    }
    found
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Found {
    /// Takes the entries of a file. Returns true if the file has nothing for this API version: its entries are all for another
    /// one, or it has none but is not empty either.
    fn read(&mut self, path: &Path, text: &file::Text, version: Version, tell: &mut dyn FnMut(Step<'_>)) -> bool {
        let major = version.major;
        let mut own = 0_usize;
        let mut other = 0_usize;
        let path = Arc::new(path.to_owned());
        let origin = |line| Origin::Line(Arc::clone(&path), line);
        let mut seen = HashMap::new();
        let mut last = 0;
        for line in conf::parse(&text.bytes) {
            let (Line::Entry(number, _) | Line::Bad(BadLine { line: number, .. })) = line;
            if own + other == LINES_MAX {
                self.excess = Some((origin(number), format!("the file has more than {LINES_MAX} entries")));
                return own == 0;
            }
            last = number;
            if memory::is_short() {
                // The registry notices that the reserve was used, and reads the file again at the next call.
                return false;
            }
            match line {
                Line::Entry(line, entry) => {
                    let of_other = entry.api.interface != Interface::User || entry.api.major != major;
                    *if of_other { &mut other } else { &mut own } += 1;
                    self.take(origin(line), entry, version, &mut seen, tell);
                }
                Line::Bad(bad) => {
                    tell(Step::Line(&origin(bad.line), LineUse::Bad(&bad)));
                    if bad.api.is_some_and(|api| api.interface != Interface::User || api.major != major) {
                        other += 1;
                    } else {
                        own += 1;
                        self.bad.push((origin(bad.line), bad));
                    }
                }
            }
        }
        if text.cut {
            let limit = format!("the file is larger than {} bytes", file::LIMIT);
            self.excess = Some((origin(last.saturating_add(1)), limit));
        }
        own == 0 && !text.bytes.is_empty()
    }

    fn take(
        &mut self,
        origin: Origin,
        entry: Entry,
        version: Version,
        seen: &mut HashMap<Identity, usize>,
        tell: &mut dyn FnMut(Step<'_>),
    ) {
        if entry.api.interface != Interface::User {
            return tell(Step::Line(&origin, LineUse::Kernel(&entry)));
        }
        if !entry.default {
            return tell(Step::Line(&origin, LineUse::NonDefault(&entry)));
        }
        if entry.api.major != version.major {
            tell(Step::Line(&origin, LineUse::OtherVersion(&entry)));
            let before = self.entries.len();
            if version.lists_others() && seen.insert(entry.identity(), before).is_none() {
                self.listed_only.push((before, entry.identity()));
            }
            self.other_versions.insert(entry.name);
            return;
        }
        match seen.entry(entry.identity()) {
            hash_map::Entry::Vacant(place) => {
                place.insert(self.entries.len());
                tell(Step::Line(&origin, LineUse::Entry(&entry)));
                self.entries.push((origin, entry));
            }
            hash_map::Entry::Occupied(first) if version.has_stand_ins() => {
                tell(Step::Line(&origin, LineUse::StandIn(&entry)));
                self.stand_ins.push((*first.get(), origin, entry));
            }
            hash_map::Entry::Occupied(_) => tell(Step::Line(&origin, LineUse::Repeated(&entry))),
        }
    }
}

#[cfg(test)]
mod tests;
