//! The search for the static entries.
//!
//! 1. `DAT_OVERRIDE`, when it is set and the process has no more rights than its starter: that
//!    file and no other. If it cannot be read, there are no entries. The word `builtin` names the entries of [`builtin`].
//! 2. `/etc/dat.conf`.
//! 3. `/etc/rdma/dat.conf`.
//! 4. If none of these is used: the entries of [`builtin`].
//!
//! A file in `/etc` whose lines are all for another API version, as the packages of uDAPL 2.0 install it, is skipped. So is
//! one that has only comments. Behind the entries of a file in `/etc` come those of [`builtin`] whose names no line of it
//! has, since such a file often belongs to another package. A `nondefault` line switches the name off that it has, and one
//! that is called [`ALL_BUILT_IN`] all names that are built in. Of the built-in entries not all are listed.
//!
//! A file that exists but cannot be read ends the search, since it may switch names off.
//!
//! Time and memory are bounded whatever a file holds: [`file::LIMIT`] bytes of it count, [`conf::LINE_MAX`] bytes of a
//! line, and [`LINES_MAX`] lines. Entries are compared by a hash, so the time grows linearly.

#![forbid(unsafe_code)]

use std::collections::{HashMap, HashSet, hash_map};
use std::ffi::{CStr, CString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::{environment, memory, net, sysfs};

use crate::builtin::{self, BuiltIn, Sources};
use crate::conf::{self, BadLine, Line};
use crate::entry::{Entry, Identity, Interface, Origin, Version};
use crate::file;
use crate::loader;
use crate::step::{LineUse, Step};

/// Names the configuration file, and replaces the search for it.
const OVERRIDE: &str = "DAT_OVERRIDE";

/// The value of `DAT_OVERRIDE` that means the built-in entries, and the name by which a line switches them off.
pub const ALL_BUILT_IN: &str = "builtin";

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
    /// Root of the file system of processes.
    pub proc: PathBuf,
    /// The file of libdat, if it is known.
    pub own: Option<PathBuf>,
}

impl Places {
    /// The places of this process at this moment, if this code is part of libdat.
    pub fn of_this_process() -> Self {
        Places {
            // A variable that is set but empty names no file.
            override_file: environment::secure(OVERRIDE).filter(|name| !name.is_empty()).map(PathBuf::from),
            files: FILES.iter().map(PathBuf::from).collect(),
            sysfs: PathBuf::from(sysfs::ROOT),
            proc: PathBuf::from(net::PROC),
            own: loader::own(),
        }
    }

    /// The same for a program that is not libdat, and asks what the libdat in the file `own` finds.
    pub fn of_library(own: Option<PathBuf>) -> Self {
        Places { own, ..Places::of_this_process() }
    }
}

/// The result of the search.
#[derive(Debug, Default)]
pub struct Found {
    /// The entries that can be used and are listed, in order, each identity once.
    pub entries: Vec<(Origin, Entry)>,
    /// Built-in entries that can be used and are not listed.
    pub unlisted: Vec<Entry>,
    /// Entries that stand in for one of `entries` with the same identity, in order, with its index.
    pub stand_ins: Vec<(usize, Origin, Entry)>,
    /// Names of entries of another major version, which are skipped silently. A program that asks for such a name gets the
    /// code that says that only the version is missing.
    pub other_versions: HashSet<CString>,
    /// Entries of another major version that are listed, each identity once.
    pub listed_only: Vec<Identity>,
    /// Names of nondefault entries.
    pub switched_off: HashSet<CString>,
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
        Some(path) if path.as_os_str() == ALL_BUILT_IN => &[],
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
                    if places.override_file.is_none() {
                        found.add_built_in(places, version, tell);
                    }
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
    found.add_built_in(places, version, tell);
    found
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Found {
    /// Adds the built-in entries whose names no line has.
    fn add_built_in(&mut self, places: &Places, version: Version, tell: &mut dyn FnMut(Step<'_>)) {
        let none = self.switched_off.iter().any(|name| name.to_bytes() == ALL_BUILT_IN.as_bytes());
        let sources = Sources { sysfs: &places.sysfs, proc: &places.proc, own: places.own.as_deref() };
        let of_entries = self.entries.iter().map(|(_, own)| own.name.as_c_str());
        let of_bad = self.bad.iter().filter_map(|(_, bad)| bad.name.as_deref());
        let named: HashSet<&CStr> = of_entries.chain(of_bad).collect();
        let (mut listed, mut unlisted) = (Vec::new(), Vec::new());
        for BuiltIn { entry, listed: is_listed } in builtin::entries(version, sources) {
            let off = self.switched_off.contains(&entry.name);
            if none || off {
                // Of those that are not listed, each host has many.
                if is_listed || off {
                    tell(Step::Line(&Origin::BuiltIn, LineUse::NonDefault(&entry)));
                }
            } else if !named.contains(entry.name.as_c_str()) {
                if is_listed {
                    tell(Step::Line(&Origin::BuiltIn, LineUse::Entry(&entry)));
                    listed.push((Origin::BuiltIn, entry));
                } else {
                    unlisted.push(entry);
                }
            }
        }
        self.entries.extend(listed);
        self.unlisted = unlisted;
    }

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
            tell(Step::Line(&origin, LineUse::NonDefault(&entry)));
            if entry.api.major == version.major {
                self.switched_off.insert(entry.name);
            }
            return;
        }
        if entry.api.major != version.major {
            tell(Step::Line(&origin, LineUse::OtherVersion(&entry)));
            if version.lists_others() && seen.insert(entry.identity(), self.entries.len()).is_none() {
                self.listed_only.push(entry.identity());
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
