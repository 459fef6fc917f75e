//! The steps of the search for the configuration: why an entry is there or not.

#![forbid(unsafe_code)]

use std::fmt;
use std::io;
use std::path::Path;

use crate::conf::BadLine;
use crate::entry::{Api, Entry, Origin, text};

/// A step of the search.
#[derive(Debug)]
pub enum Step<'a> {
    /// There is no such file, and the next place is looked at.
    Absent(&'a Path),
    /// The file is there and cannot be read, so there are no entries.
    Unreadable(&'a Path, &'a io::Error),
    /// The file is read; its lines follow.
    Reading(&'a Path),
    /// A line of the file that was read last, or a built-in entry, which is nondefault if a line switches it off.
    Line(&'a Origin, LineUse<'a>),
    /// The file that was read last has no line for this version: its entries are all for another one, or it has nothing but
    /// comments. The next place is looked at.
    PassedOver(&'a Path),
    /// The file that was read last is the configuration.
    Taken(&'a Path),
    /// No file is used, and the built-in entries follow.
    BuiltIn,
}

/// What becomes of a line.
#[derive(Debug)]
pub enum LineUse<'a> {
    /// It can be opened.
    Entry(&'a Entry),
    /// It is for the kernel's programs.
    Kernel(&'a Entry),
    /// It is no default entry.
    NonDefault(&'a Entry),
    /// It is for another major version of the interface.
    OtherVersion(&'a Entry),
    /// An entry before it has the same name, version and thread safety.
    Repeated(&'a Entry),
    /// The same, and it is tried if the library of that one cannot be loaded.
    StandIn(&'a Entry),
    /// It is no entry.
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
        }
    }
}

impl fmt::Display for LineUse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (entry, why) = match self {
            LineUse::Entry(entry) => return write!(f, "{} by {}", text(&entry.name), text(&entry.library)),
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
