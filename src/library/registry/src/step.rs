//! The steps of the search for the configuration.

#![forbid(unsafe_code)]

use std::fmt;
use std::io;
use std::path::Path;

use crate::conf::BadLine;
use crate::entry::{Api, Entry, Origin, Version, text};

/// A step of the search.
#[derive(Debug)]
pub enum Step<'a> {
    /// The file does not exist. The search continues.
    Absent(&'a Path),
    /// The file cannot be read, so there are no entries.
    Unreadable(&'a Path, &'a io::Error),
    /// The file is read. Its lines follow.
    Reading(&'a Path),
    /// A line of this file, or a built-in entry.
    Line(&'a Origin, LineUse<'a>),
    /// The file has no line for this version. The search continues.
    PassedOver(&'a Path),
    /// The file is the configuration.
    Taken(&'a Path),
    /// No file is used. The built-in entries follow.
    BuiltIn,
    /// A list of interfaces cannot be read, so there are no built-in entries for them.
    Unlisted(&'a io::Error),
}

/// The use of a line.
#[derive(Debug)]
pub enum LineUse<'a> {
    /// The entry can be opened.
    Entry(&'a Entry),
    /// The built-in entry can be opened, but is not listed.
    Unlisted(&'a Entry),
    /// The entry is for a lower minor version than this version of the programs.
    OldVersion(&'a Entry, Version),
    /// The entry is for the kernel-level interface.
    Kernel(&'a Entry),
    /// A nondefault entry, or a built-in entry that a line switches off.
    NonDefault(&'a Entry),
    /// The entry is for another major version.
    OtherVersion(&'a Entry),
    /// An earlier entry has the same identity.
    Repeated(&'a Entry),
    /// An entry that replaces an earlier entry of the same identity, if the library of that entry cannot be used.
    StandIn(&'a Entry),
    /// The line is not an entry.
    Bad(&'a BadLine),
}

impl fmt::Display for Step<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Step::Absent(path) => write!(f, "{}: does not exist", path.display()),
            Step::Unreadable(path, error) => write!(f, "{}: cannot be read: {error}", path.display()),
            Step::Reading(path) => write!(f, "{}: is read", path.display()),
            Step::Line(origin, line) => write!(f, "{origin}: {line}"),
            Step::PassedOver(path) => {
                write!(f, "{}: is not used: it has no line for this version", path.display())
            }
            Step::Taken(path) => write!(f, "{}: is the configuration", path.display()),
            Step::BuiltIn => f.write_str("no file is used: the built-in entries are the configuration"),
            Step::Unlisted(error) => write!(f, "built-in entries are missing: {error}"),
        }
    }
}

impl fmt::Display for LineUse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (entry, why) = match self {
            LineUse::Entry(entry) => return write!(f, "{} by {}", text(&entry.name), text(&entry.library)),
            LineUse::Unlisted(entry) => {
                return write!(f, "{} by {}, not listed", text(&entry.name), text(&entry.library));
            }
            LineUse::OldVersion(entry, of) => {
                let Api { major, minor, .. } = entry.api;
                let name = text(&entry.name);
                return write!(
                    f,
                    "{name} is for version {major}.{minor}; for programs of {0}.{1}, write u{0}.{1}",
                    of.major, of.minor
                );
            }
            LineUse::StandIn(entry) => {
                let (name, library) = (text(&entry.name), text(&entry.library));
                return write!(
                    f,
                    "{name} by {library}, if the library of the line of this name before it cannot be loaded"
                );
            }
            LineUse::Bad(bad) => return write!(f, "line ignored: {}", bad.fault),
            LineUse::Kernel(entry) => (entry, "it is for the kernel's programs"),
            LineUse::NonDefault(entry) => (entry, "it is nondefault"),
            LineUse::OtherVersion(entry) => {
                let Api { major, minor, .. } = entry.api;
                return write!(f, "{} is not used: it is for version {major}.{minor}", text(&entry.name));
            }
            LineUse::Repeated(entry) => (entry, "a line before it has the same name, version and thread safety"),
        };
        write!(f, "{} is not used: {why}", text(&entry.name))
    }
}
