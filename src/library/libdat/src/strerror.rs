//! The names of return codes.

use std::ffi::c_char;

use dat_library::api::Api;
use dat_udat12::{DAT_RETURN, DAT_SUCCESS};

/// Stores the names of the type and the subtype of `value`. On an error, writes nothing.
///
/// # Safety
/// Each pointer must be NULL or writable.
pub unsafe fn dat_strerror<A: Api>(
    value: DAT_RETURN,
    major_message: *mut *const c_char,
    minor_message: *mut *const c_char,
) -> DAT_RETURN {
    let (Some(major), Some(minor)) = (A::NAMES.of_type(value), A::NAMES.of_subtype(value)) else {
        return A::CODES.argument(1);
    };
    if major_message.is_null() {
        return A::CODES.argument(2);
    }
    if minor_message.is_null() {
        return A::CODES.argument(3);
    }
    // SAFETY: not NULL as checked, and writable as the caller promises.
    unsafe { major_message.write_unaligned(major.as_ptr()) };
    // SAFETY: not NULL as checked, and writable as the caller promises.
    unsafe { minor_message.write_unaligned(minor.as_ptr()) };
    DAT_SUCCESS
}

#[cfg(test)]
mod tests;
