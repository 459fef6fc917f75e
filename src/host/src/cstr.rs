//! Names that C programs hand in.

use std::ffi::{CStr, c_char};

/// The text at `text`, if there is one that ends within the limit.
///
/// # Parameters
/// * `limit` - the most bytes that the text may have with the NUL at its end.
///
/// # Safety
/// `text` is NULL or a C string that stays as it is for `'a`; no more than `limit` bytes of it are
/// read.
pub unsafe fn bounded<'a>(text: *const c_char, limit: usize) -> Option<&'a CStr> {
    if text.is_null() {
        return None;
    }
    // SAFETY: reads up to the final NUL, and no further than the limit.
    let length = unsafe { libc::strnlen(text, limit) };
    if length == limit {
        return None;
    }
    // SAFETY: a NUL was found within the limit.
    Some(unsafe { CStr::from_ptr(text) })
}

#[cfg(test)]
mod tests;
