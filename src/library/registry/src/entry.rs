//! The contents of a registry entry.

use std::ffi::{CStr, CString};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

/// Maximum length of an adapter's name in bytes, without the NUL.
pub const NAME_MAX: usize = 255;

/// The uDAPL or kDAPL interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interface {
    /// `u`: the user-level interface.
    User,
    /// `k`: the kernel-level interface, which programs cannot use.
    Kernel,
}

/// The API version of an entry, such as `u1.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Api {
    /// User or kernel.
    pub interface: Interface,
    /// Major number. Versions with different major numbers are incompatible.
    pub major: u32,
    /// Minor number. A higher version includes the lower versions.
    pub minor: u32,
}

/// The version of uDAPL that a registry library serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    /// Major number.
    pub major: u32,
    /// Minor number.
    pub minor: u32,
}

/// The fields that identify an entry.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Identity {
    /// Name of the adapter, 1 to 255 bytes.
    pub name: CString,
    /// Major number of the API version.
    pub major: u32,
    /// Minor number of the API version.
    pub minor: u32,
    /// `true` if several threads may call the provider concurrently.
    pub thread_safe: bool,
}

/// One entry: a line of dat.conf without the fields 6 and 8, which nothing uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Field 1: name of the adapter, 1 to 255 bytes.
    pub name: CString,
    /// Field 2: API version.
    pub api: Api,
    /// Field 3: `threadsafe` or `nonthreadsafe`.
    pub thread_safe: bool,
    /// Field 4: `default` or `nondefault`. Only default entries are listed and can be opened.
    pub default: bool,
    /// Field 5: path or file name of the library; not empty.
    pub library: CString,
    /// Field 7: argument of the provider's init.
    pub instance_data: CString,
}

impl Entry {
    /// Returns the identity of the entry.
    pub fn identity(&self) -> Identity {
        Identity {
            name: self.name.clone(),
            major: self.api.major,
            minor: self.api.minor,
            thread_safe: self.thread_safe,
        }
    }
}

/// The origin of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file and a line number, counted from 1.
    Line(Arc<PathBuf>, u32),
    /// A built-in entry.
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

pub(crate) fn text(string: &CStr) -> std::borrow::Cow<'_, str> {
    string.to_string_lossy()
}
