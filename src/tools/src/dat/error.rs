//! Return codes as errors.

use std::ffi::c_char;
use std::fmt;

use dat_udat12::*;

use super::Library;
use super::library::text_at;

/// The result of a call.
pub type Result<T> = std::result::Result<T, Error>;

/// A call failed. It is shown as the call and the names of the code, such as `dat_ep_connect: DAT_INVALID_PARAMETER,
/// DAT_INVALID_ARG2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    call: &'static str,
    names: String,
}

impl Error {
    pub(super) fn new(library: Library, call: &'static str, code: DAT_RETURN) -> Self {
        Self { call, names: names(library, code) }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.call, self.names)
    }
}

impl std::error::Error for Error {}

/// The names that the library has for a code, or its number.
fn names(library: Library, code: DAT_RETURN) -> String {
    let (mut major, mut minor) = (std::ptr::null::<c_char>(), std::ptr::null::<c_char>());
    // SAFETY: both places are this function's own.
    let known = unsafe { (library.calls().dat_strerror)(code, &mut major, &mut minor) } == DAT_SUCCESS;
    if !known || major.is_null() {
        return format!("0x{code:08x}");
    }
    // SAFETY: what the call writes on success are strings that live as long as the library.
    let [major, minor] = [major, minor].map(|name| unsafe { text_at(name) });
    if minor.is_empty() { major } else { format!("{major}, {minor}") }
}
