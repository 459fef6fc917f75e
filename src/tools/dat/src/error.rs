//! Errors.

use std::fmt;

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// An error, as small as a pointer for the loops of dat-perf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Kind>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    Call { call: &'static str, code: String },
    Library { file: String, reason: String, absent: bool },
    Memory(usize),
}

impl Error {
    #[cold]
    pub(crate) fn call(call: &'static str, code: String) -> Self {
        Self(Box::new(Kind::Call { call, code }))
    }

    pub(crate) fn library(file: &std::path::Path, reason: String) -> Self {
        let file = file.display().to_string();
        // The loader reports only text. A file that exists but lacks one of its own libraries is not absent.
        let absent = reason.ends_with("No such file or directory") && reason.contains(&format!("{file}: "));
        Self(Box::new(Kind::Library { file, reason, absent }))
    }

    pub(crate) fn memory(bytes: usize) -> Self {
        Self(Box::new(Kind::Memory(bytes)))
    }

    /// Returns whether the loader found no file with the name of a library.
    pub fn is_absent(&self) -> bool {
        matches!(*self.0, Kind::Library { absent: true, .. })
    }

    /// Returns the loader's reason why it cannot load a library.
    pub fn reason(&self) -> Option<&str> {
        match &*self.0 {
            Kind::Library { reason, .. } => Some(reason),
            _ => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.0 {
            Kind::Call { call, code } => write!(f, "{call}: {code}"),
            Kind::Library { file, reason, .. } => write!(f, "{file}: cannot load the library: {reason}"),
            Kind::Memory(bytes) => write!(f, "cannot allocate {bytes} bytes"),
        }
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests;
