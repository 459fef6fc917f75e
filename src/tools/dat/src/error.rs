//! Errors of uDAPL calls, of loading a library, and of allocating memory.

use std::fmt;

/// The result of a call of uDAPL, of loading a library, or of allocating memory.
pub type Result<T> = std::result::Result<T, Error>;

/// An error with its text, boxed: a small `Result` keeps the loops of dat-perf fast.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Cause>);

#[derive(Clone, PartialEq, Eq)]
struct Cause {
    text: String,
    absent: Option<String>,
}

impl Error {
    #[cold]
    pub(crate) fn new(text: String) -> Self {
        Self(Box::new(Cause { text, absent: None }))
    }

    pub(crate) fn library(file: &std::path::Path, reason: String) -> Self {
        let file = file.display();
        // The loader reports only text. A file that exists but lacks one of its own libraries is not absent.
        let is_absent = reason.ends_with("No such file or directory") && reason.contains(&format!("{file}: "));
        let text = format!("{file}: cannot load the library: {reason}");
        Self(Box::new(Cause { text, absent: is_absent.then_some(reason) }))
    }

    /// Returns the loader's message if the loader found no file with the name of the library, or `None` for other
    /// errors.
    pub fn absent(&self) -> Option<&str> {
        self.0.absent.as_deref()
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.text)
    }
}

/// Formats only the text: for an error that `main` returns, Rust prints the debug format.
impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for Error {}

#[cfg(test)]
mod tests;
