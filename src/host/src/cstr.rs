//! C strings from and for programs.

use std::ffi::{CStr, c_char};

/// Returns the C string at `text`. Returns `None` if `text` is NULL or has no NUL within `limit` bytes.
///
/// # Parameters
/// * `limit` - maximum number of bytes, including the NUL.
///
/// # Safety
/// `text` is NULL, or a C string that does not change during `'a`. The function reads at most `limit` bytes.
pub unsafe fn bounded<'a>(text: *const c_char, limit: usize) -> Option<&'a CStr> {
    if text.is_null() {
        return None;
    }
    // SAFETY: reads up to the NUL, and at most `limit` bytes.
    let length = unsafe { libc::strnlen(text, limit) };
    if length == limit {
        return None;
    }
    // SAFETY: there is a NUL within the limit.
    Some(unsafe { CStr::from_ptr(text) })
}

/// Returns `text` as a NUL-terminated string, truncated to the array.
pub fn array<const N: usize>(text: &[u8]) -> [c_char; N] {
    let mut array = [0; N];
    for (to, &from) in array.iter_mut().take(N - 1).zip(text) {
        *to = c_char::from_ne_bytes([from]);
    }
    array
}

#[cfg(test)]
mod tests;
