//! The search for the configuration:
//!
//! 1. `DAT_OVERRIDE`, unless the process is privileged: only that file, or for `builtin`, the entries of [`builtin`].
//! 2. `/etc/dat.conf`.
//! 3. `/etc/rdma/dat.conf`.
//! 4. The entries of [`builtin`].
//!
//! A file that cannot be read ends the search without entries, because it may switch names off. A nonempty file in
//! `/etc` without lines for this major version, which packages of uDAPL 2.0 install, is skipped.
//!
//! Built-in entries follow the entries of a file in `/etc`, unless a line for this version has their name. A
//! `nondefault` line switches off its name, or for the name [`ALL_BUILT_IN`], all built-in names. [`Listed`] is the
//! condition under which a built-in entry is listed.
//!
//! At most [`file::MAX_BYTES`] of a file, [`conf::LINE_MAX`] of a line and [`LINES_MAX`] lines count.

#![forbid(unsafe_code)]

use std::collections::{HashMap, HashSet, hash_map};
use std::ffi::{CStr, CString};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::{environment, memory, net, sysfs};

use crate::builtin::{self, BuiltIn, Listed};
use crate::conf::{self, BadLine, Line};
use crate::entry::{Entry, Identity, Interface, Origin, Version};
use crate::file;
use crate::loader;
use crate::step::{LineUse, Step};

const OVERRIDE: &str = "DAT_OVERRIDE";

/// The word for the built-in entries in `DAT_OVERRIDE` and in a line that switches them off.
pub const ALL_BUILT_IN: &str = "builtin";

/// Maximum number of lines of a file, without comments and blank lines.
pub const LINES_MAX: usize = 65_536;

/// Default files, in order.
pub const FILES: [&str; 2] = ["/etc/dat.conf", "/etc/rdma/dat.conf"];

/// Places to search.
#[derive(Clone, Debug)]
pub struct Places {
    /// Value of `DAT_OVERRIDE`, if it may be used.
    pub override_file: Option<PathBuf>,
    /// Files to try in order.
    pub files: Vec<PathBuf>,
    /// Root of sysfs.
    pub sysfs: PathBuf,
    /// Root of procfs.
    pub proc: PathBuf,
    /// The file of libdat, if known.
    pub own: Option<PathBuf>,
}

impl Places {
    /// Returns the places for this process, for code in libdat.
    pub fn of_this_process() -> Self {
        Places {
            // An empty variable counts as unset.
            override_file: environment::secure(OVERRIDE).filter(|name| !name.is_empty()).map(PathBuf::from),
            files: FILES.iter().map(PathBuf::from).collect(),
            sysfs: PathBuf::from(sysfs::ROOT),
            proc: PathBuf::from(net::PROC),
            own: loader::own(),
        }
    }

    /// Returns the places that a libdat in the file `own` would search in this process.
    pub fn of_library(own: Option<PathBuf>) -> Self {
        Places { own, ..Places::of_this_process() }
    }
}

/// Result of the search.
#[derive(Debug, Default)]
pub struct Found {
    /// Usable and listed entries, in order, without duplicate identities.
    pub entries: Vec<(Origin, Entry)>,
    /// Usable built-in entries that are not listed.
    pub unlisted: Vec<Entry>,
    /// Stand-ins ([`LineUse::StandIn`]), in order, each with the index of the earlier entry in `entries`.
    pub stand_ins: Vec<(usize, Origin, Entry)>,
    /// Names of entries for other major versions, for the error of a request.
    pub other_versions: HashSet<CString>,
    /// Listed entries for other major versions, without duplicates.
    pub listed_only: Vec<Identity>,
    /// Names of nondefault entries for this major version.
    pub switched_off: HashSet<CString>,
    /// Lines that are not valid entries.
    pub bad: Vec<(Origin, BadLine)>,
    /// The file that could not be read, if any, and the reason.
    pub failure: Option<(PathBuf, io::Error)>,
    /// The first ignored line, if any, and the limit that the file exceeds.
    pub excess: Option<(Origin, String)>,
}

/// Finds and reads the configuration for one version. Calls `tell` for each step.
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
    /// Returns the usable entries, the listed ones first.
    pub fn usable(&self) -> impl Iterator<Item = (&Origin, &Entry)> + Clone {
        let listed = self.entries.iter().map(|(origin, entry)| (origin, entry));
        listed.chain(self.unlisted.iter().map(|entry| (&Origin::BuiltIn, entry)))
    }

    fn add_built_in(&mut self, places: &Places, version: Version, tell: &mut dyn FnMut(Step<'_>)) {
        // If the variable names a file, this function is not called. So a set variable requests the built-in entries.
        let asked = places.override_file.is_some();
        let listed_by_default = asked || !self.entries.iter().any(|(_, own)| own.api.minor >= version.minor);
        let none = self.switched_off.iter().any(|name| name.to_bytes() == ALL_BUILT_IN.as_bytes());
        let of_entries = self.entries.iter().map(|(_, own)| own.name.as_c_str());
        let of_bad = self.bad.iter().filter_map(|(_, bad)| bad.name.as_deref());
        let named: HashSet<&CStr> = of_entries.chain(of_bad).collect();
        let (mut listed, mut unlisted) = (Vec::new(), Vec::new());
        let mut unread = |error: &io::Error| tell(Step::Unlisted(error));
        let built_in = builtin::entries(version, &places.sysfs, &places.proc, places.own.as_deref(), &mut unread);
        for BuiltIn { entry, listed: when } in built_in {
            let off = self.switched_off.contains(&entry.name);
            let is_listed = match when {
                Listed::ByDefault => listed_by_default,
                Listed::OnRequest => asked,
                Listed::Never => false,
            };
            // The entries that are never listed are too many to report.
            let mut tell = |line| {
                if off || when != Listed::Never {
                    tell(Step::Line(&Origin::BuiltIn, line));
                }
            };
            if none || off {
                tell(LineUse::NonDefault(&entry));
            } else if !named.contains(entry.name.as_c_str()) {
                if is_listed {
                    tell(LineUse::Entry(&entry));
                    listed.push((Origin::BuiltIn, entry));
                } else {
                    tell(LineUse::Unlisted(&entry));
                    unlisted.push(entry);
                }
            }
        }
        self.entries.extend(listed);
        self.unlisted = unlisted;
    }

    /// Adds the entries of a file. Returns `true` if the file is not empty but has no line for this version.
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
                // The registry notices the use of the reserve, and searches again later.
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
            let limit = format!("the file is larger than {} bytes", file::MAX_BYTES);
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
            // From 2.0 on, entries that cannot be opened are listed, too.
            if version.major >= 2 && seen.insert(entry.identity(), self.entries.len()).is_none() {
                self.listed_only.push(entry.identity());
            }
            self.other_versions.insert(entry.name);
            return;
        }
        match seen.entry(entry.identity()) {
            hash_map::Entry::Vacant(place) => {
                place.insert(self.entries.len());
                let is_old = entry.api.minor < version.minor;
                let line = if is_old { LineUse::OldVersion(&entry, version) } else { LineUse::Entry(&entry) };
                tell(Step::Line(&origin, line));
                self.entries.push((origin, entry));
            }
            // From 2.0 on, an entry replaces an earlier one whose library cannot be used.
            hash_map::Entry::Occupied(first) if version.major >= 2 => {
                tell(Step::Line(&origin, LineUse::StandIn(&entry)));
                self.stand_ins.push((*first.get(), origin, entry));
            }
            hash_map::Entry::Occupied(_) => tell(Step::Line(&origin, LineUse::Repeated(&entry))),
        }
    }
}

#[cfg(test)]
mod tests;
