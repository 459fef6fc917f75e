//! The contents of one registry entry.

use std::ffi::{CStr, CString};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Longest name of an interface adapter in bytes, without the final NUL.
pub const NAME_MAX: usize = 255;

/// The interface that an entry is meant for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// `u`: the user-level interface, for programs.
    User,
    /// `k`: the kernel-level interface, of no use to a program.
    Kernel,
}

/// The API version of an entry, such as `u1.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api {
    /// User or kernel.
    pub interface: Interface,
    /// Major number; another major number is another binary interface.
    pub major: u32,
    /// Minor number; a higher one includes the lower ones.
    pub minor: u32,
}

/// The version of the interface that a registry library has for its programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

impl Version {
    /// Whether entries of one identity stand in for each other: an entry whose library cannot be loaded gives way to the
    /// next. In uDAPL 1.2 the first one counts alone.
    pub fn has_stand_ins(self) -> bool {
        self.major >= 2
    }

    /// Whether entries of other major versions in a configuration file are listed, as uDAPL 2.0 does. They can never be
    /// opened.
    pub fn lists_others(self) -> bool {
        self.major >= 2
    }
}

/// The fields by which two entries count as the same: name, version and thread safety.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Name of the interface adapter, 1 to 255 bytes.
    pub name: CString,
    /// Major number of the API version.
    pub major: u32,
    /// Minor number of the API version.
    pub minor: u32,
    /// Whether the provider may be called by several threads at once.
    pub thread_safe: bool,
}

/// The provider's own version, such as `ACME.1.0`; for information only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderVersion {
    /// The name of its maker.
    pub id: CString,
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

/// One entry: the eight fields of a line of dat.conf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Field 1: name of the interface adapter, 1 to 255 bytes.
    pub name: CString,
    /// Field 2: API version.
    pub api: Api,
    /// Field 3: `threadsafe` or `nonthreadsafe`.
    pub thread_safe: bool,
    /// Field 4: `default` or `nondefault`; only default entries are listed and can be opened.
    pub default: bool,
    /// Field 5: path of the provider library, or a name without a slash; never empty.
    pub library: CString,
    /// Field 6: version of the provider.
    pub provider_version: ProviderVersion,
    /// Field 7: passed unchanged to the provider's init; may be empty.
    pub instance_data: CString,
    /// Field 8: stored but not used; may be empty.
    pub platform_data: CString,
}

impl Entry {
    /// The identity of the entry.
    pub fn identity(&self) -> Identity {
        Identity {
            name: self.name.clone(),
            major: self.api.major,
            minor: self.api.minor,
            thread_safe: self.thread_safe,
        }
    }
}

/// The origin of one entry; shown as `file:line`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A configuration file, and a line in it, counted from 1.
    Line(Arc<PathBuf>, u32),
    /// No configuration file: the entry is built in.
    BuiltIn,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::Line(path, line) => write!(f, "{}:{line}", path.display()),
            Origin::BuiltIn => f.write_str("built-in entry"),
        }
    }
}

/// A C string as text for a message.
pub(crate) fn text(string: &CStr) -> std::borrow::Cow<'_, str> {
    string.to_string_lossy()
}
