//! The search for the static entries.
//!
//! 1. `DAT_OVERRIDE`, when it is set and the process has no more rights than its starter: that
//!    file and no other. If it cannot be read, there are no entries.
//! 2. `/etc/dat.conf`.
//! 3. `/etc/rdma/dat.conf`.
//! 4. If none of these is used: the entries of [`builtin`].
//!
//! A file in `/etc` whose lines are all for another API version, as the packages of uDAPL 2.0 install it, is not meant
//! for programs of this version: it is skipped.
//!
//! A file that exists but cannot be read ends the search, like an empty one: falling through to adapters other than
//! those that the administrator wrote down would be a surprise.
//!
//! Time and memory are bounded, whatever a file holds: [`file::LIMIT`] bytes of it count, [`conf::LINE_MAX`] bytes of a
//! line, and [`LINES_MAX`] lines. Entries are compared by a hash, so the time grows with the size alone.

#![forbid(unsafe_code)]

use std::collections::HashSet;
use std::ffi::CString;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use host::{environment, memory, sysfs};

use crate::builtin::{self, Version};
use crate::conf::{self, BadLine, Line};
use crate::entry::{Entry, Identity, Interface, Origin, Source};
use crate::file;

/// Replaces the whole search for a configuration file.
const OVERRIDE: &str = "DAT_OVERRIDE";

/// The most lines of a file that count, without comments and blank ones.
pub const LINES_MAX: usize = 65_536;

/// The places, in order.
pub const FILES: [&str; 2] = ["/etc/dat.conf", "/etc/rdma/dat.conf"];

/// The places to look in: [`Places::of_this_process`] in use, other values in tests.
#[derive(Clone, Debug)]
pub struct Places {
    /// The value of `DAT_OVERRIDE`, if it counts.
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
    /// Names of entries of another major version, which are skipped silently. With them, a program that asks for such a
    /// name can be told that only the version is missing.
    pub other_versions: HashSet<CString>,
    /// Lines that are not valid entries.
    pub bad: Vec<(Origin, BadLine)>,
    /// The reason why the file could not be read.
    pub failure: Option<(PathBuf, io::Error)>,
    /// The place from which a file is too large, and the limit.
    pub excess: Option<(Origin, Excess)>,
}

/// A limit that a file exceeds. What is beyond it is ignored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excess {
    /// [`file::LIMIT`].
    Bytes,
    /// [`LINES_MAX`].
    Lines,
}

impl fmt::Display for Excess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Excess::Bytes => write!(f, "the file is larger than {} bytes", file::LIMIT),
            Excess::Lines => write!(f, "the file has more than {LINES_MAX} entries"),
        }
    }
}

/// Finds and reads the configuration, or takes the built-in entries, for one version of the
/// interface.
pub fn find(places: &Places, version: &Version) -> Found {
    let major = version.major;
    let mut found = Found::default();
    let candidates: &[PathBuf] = match &places.override_file {
        Some(path) => std::slice::from_ref(path),
        None => &places.files,
    };
    for path in candidates {
        match file::read(path) {
            Ok(text) => {
                let foreign = found.read(path, &text, major);
                if places.override_file.is_some() || !foreign {
                    return found;
                }
            }
            Err(error) if places.override_file.is_none() && is_absent(&error) => {}
            Err(error) => {
                found.failure = Some((path.clone(), error));
                return found;
            }
        }
    }
    found.entries = builtin::entries(version, &places.sysfs)
        .into_iter()
        .map(|entry| {
            let origin = Origin { source: Source::BuiltIn, line: 0 };
            (origin, entry)
        })
        .collect();
    found
}

fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl Found {
    /// Takes the entries of a file. Returns true if the file has entries and all of them are for another API version.
    fn read(&mut self, path: &Path, text: &file::Text, major: u32) -> bool {
        let mut own = 0_usize;
        let mut other = 0_usize;
        let source = Source::File(Arc::new(path.to_owned()));
        let origin = |line| Origin { source: source.clone(), line };
        let mut seen = HashSet::new();
        let mut last = 0;
        for line in conf::parse(&text.bytes) {
            let (Line::Entry(number, _) | Line::Bad(BadLine { line: number, .. })) = line;
            if own + other == LINES_MAX {
                self.excess = Some((origin(number), Excess::Lines));
                return own == 0;
            }
            last = number;
            if memory::is_short() {
                // The caller notices that the reserve was used, and reads the file another time.
                return false;
            }
            match line {
                Line::Entry(line, entry) => {
                    let of_other = entry.api.interface != Interface::User || entry.api.major != major;
                    *if of_other { &mut other } else { &mut own } += 1;
                    self.take(origin(line), entry, major, &mut seen);
                }
                Line::Bad(bad) => {
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
            self.excess = Some((origin(last.saturating_add(1)), Excess::Bytes));
        }
        own == 0 && other > 0
    }

    fn take(&mut self, origin: Origin, entry: Entry, major: u32, seen: &mut HashSet<Identity>) {
        if entry.api.interface != Interface::User || !entry.default {
            return;
        }
        if entry.api.major != major {
            self.other_versions.insert(entry.name);
            return;
        }
        if seen.insert(entry.identity()) {
            self.entries.push((origin, entry));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const VERSION: Version = Version { major: 1, minor: 2, shm: c"libshm.so.7", verbs: c"libverbs.so.8" };

    fn places(root: &Path) -> Places {
        Places {
            override_file: None,
            files: vec![root.join("dat.conf"), root.join("rdma/dat.conf")],
            sysfs: root.join("sys"),
        }
    }

    fn line(name: &str) -> String {
        format!("{name} u1.2 nonthreadsafe default l.so A.1.0 \"\" \"\"\n")
    }

    fn names(found: &Found) -> Vec<&str> {
        found.entries.iter().map(|(_, entry)| entry.name.to_str().unwrap()).collect()
    }

    #[test]
    fn the_first_file_that_exists_is_the_only_one() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        fs::create_dir(root.path().join("rdma")).unwrap();
        assert_eq!(names(&find(&places, &VERSION)), ["shm"]);
        fs::write(&places.files[1], line("second")).unwrap();
        assert_eq!(names(&find(&places, &VERSION)), ["second"]);
        fs::write(&places.files[0], line("first")).unwrap();
        assert_eq!(names(&find(&places, &VERSION)), ["first"]);
        fs::write(&places.files[0], "").unwrap();
        assert!(names(&find(&places, &VERSION)).is_empty());
    }

    #[test]
    fn a_file_for_another_version_alone_is_passed_over() {
        let root = tempfile::tempdir().unwrap();
        let mut places = places(root.path());
        let foreign = "ofa-v2-ib0 u2.0 nonthreadsafe default libdaplofa.so.2 dapl.2.0 \"ib0 0\" \"\"\n";
        fs::write(&places.files[0], foreign).unwrap();
        let found = find(&places, &VERSION);
        assert_eq!(names(&found), ["shm"]);
        assert_eq!(found.other_versions.len(), 1);
        fs::write(&places.files[0], format!("{foreign}{}", line("mine"))).unwrap();
        assert_eq!(names(&find(&places, &VERSION)), ["mine"]);
        // A file that was asked for is used as it is.
        fs::write(&places.files[0], foreign).unwrap();
        places.override_file = Some(places.files[0].clone());
        assert!(names(&find(&places, &VERSION)).is_empty());
    }

    #[test]
    fn the_override_replaces_them_all() {
        let root = tempfile::tempdir().unwrap();
        let mut places = places(root.path());
        fs::write(&places.files[0], line("first")).unwrap();
        let mine = root.path().join("mine.conf");
        fs::write(&mine, line("mine")).unwrap();
        places.override_file = Some(mine.clone());
        assert_eq!(names(&find(&places, &VERSION)), ["mine"]);
        fs::remove_file(&mine).unwrap();
        let found = find(&places, &VERSION);
        assert!(names(&found).is_empty());
        assert_eq!(found.failure.unwrap().0, mine);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_no_missing_file() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        fs::create_dir(&places.files[0]).unwrap();
        let found = find(&places, &VERSION);
        assert!(names(&found).is_empty());
        assert!(found.failure.is_some());
    }

    #[test]
    fn the_sample_gives_two_entries() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        let text = concat!(
            "# whole-line comment\n",
            "ibd0 u1.2 nonthreadsafe default libprov.so.1 ACME.1.0 \"i\" \"\" # trailing\n",
            "ibd0 u1.2 threadsafe default libprov.so.1 ACME.1.0 \" \" \"\"\n",
            "ibd1 u1.2 nonthreadsafe nondefault libprov.so.1 ACME.1.0 \"\" \"\"\n",
            "ibd2 u1.x nonthreadsafe default libprov.so.1 ACME.1.0 \"\" \"\"\n",
            "ibd0 u1.2 nonthreadsafe default libother.so.1 ACME.1.0 \"\" \"\"\n",
            "ibd3 k1.2 nonthreadsafe default libprov.so.1 ACME.1.0 \"\" \"\"\n",
            "ibd4 u2.0 nonthreadsafe default libprov.so.2 ACME.1.0 \"\" \"\"\n",
            "ibd5 u2.0 maybe\n",
        );
        fs::write(&places.files[0], text).unwrap();
        let found = find(&places, &VERSION);
        assert_eq!(names(&found), ["ibd0", "ibd0"]);
        assert!(!found.entries[0].1.thread_safe && found.entries[1].1.thread_safe);
        assert_eq!(found.entries[0].1.library.as_c_str(), c"libprov.so.1");
        assert_eq!(found.bad.len(), 1);
        let shown = found.bad[0].0.to_string();
        assert!(shown.ends_with("dat.conf:5"), "{shown}");
        assert_eq!(found.other_versions.len(), 1);
    }

    #[test]
    fn an_entry_that_takes_no_part_hides_no_other() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        let text = format!(
            "a u1.2 nonthreadsafe nondefault one A.1.0 \"\" \"\"\n\
             a k1.2 nonthreadsafe default two A.1.0 \"\" \"\"\n{}",
            line("a")
        );
        fs::write(&places.files[0], text).unwrap();
        let found = find(&places, &VERSION);
        assert_eq!(found.entries[0].1.library.as_c_str(), c"l.so");
        assert_eq!(found.entries[0].0.line, 3);
    }

    #[test]
    fn lines_beyond_the_limit_are_ignored() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        let mut text: String = (0..LINES_MAX - 2).map(|n| line(&format!("n{n}"))).collect();
        text.push_str("# a comment\n\nbad u1.2\n");
        text.push_str(&line("last"));
        fs::write(&places.files[0], &text).unwrap();
        let found = find(&places, &VERSION);
        assert_eq!((found.entries.len(), found.bad.len()), (LINES_MAX - 1, 1));
        assert!(found.excess.is_none());
        assert_eq!(names(&found).last(), Some(&"last"));
        text.push_str(&line("beyond"));
        text.push_str(&line("far_beyond"));
        fs::write(&places.files[0], &text).unwrap();
        let found = find(&places, &VERSION);
        assert_eq!(found.entries.len(), LINES_MAX - 1);
        let (origin, excess) = found.excess.unwrap();
        assert_eq!((origin.line as usize, excess), (LINES_MAX + 3, Excess::Lines));
    }

    #[test]
    fn one_name_with_many_versions_is_no_more_work() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        let version = |n| format!("a u1.{n} nonthreadsafe default l.so A.1.0 \"\" \"\"\n");
        let text: String = (0..30_000).chain(0..30_000).map(version).collect();
        fs::write(&places.files[0], text).unwrap();
        assert_eq!(find(&places, &VERSION).entries.len(), 30_000);
    }

    #[test]
    fn a_long_line_is_bad_and_the_others_count() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        let long = |bytes: usize| format!("# {}\n", "x".repeat(bytes - 2));
        let text = [line("a"), long(conf::LINE_MAX), long(conf::LINE_MAX + 1), line("b")].concat();
        fs::write(&places.files[0], text).unwrap();
        let found = find(&places, &VERSION);
        assert_eq!(names(&found), ["a", "b"]);
        assert_eq!(found.bad.len(), 1);
        assert_eq!((found.bad[0].0.line, found.bad[0].1.fault), (3, conf::Fault::LongLine));
    }

    /// The installed example, both unchanged and with every line of an adapter switched on.
    #[test]
    fn the_example_has_no_bad_line() {
        let root = tempfile::tempdir().unwrap();
        let places = places(root.path());
        let example = include_str!("../../../dat.conf.example");
        fs::write(&places.files[0], example).unwrap();
        let found = find(&places, &VERSION);
        assert_eq!(names(&found), ["shm"]);
        assert!(found.bad.is_empty());

        let all: Vec<&str> = example
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(entry) if entry.contains(" u1.2 ") => entry,
                _ => line,
            })
            .collect();
        fs::write(&places.files[0], all.join("\n")).unwrap();
        let found = find(&places, &VERSION);
        let expected = ["shm", "verbs-eth0", "verbs-ib0", "OpenIB-cma", "OpenIB-mlx4_0-1"];
        assert_eq!(names(&found), expected);
        assert!(found.bad.is_empty());
    }
}
