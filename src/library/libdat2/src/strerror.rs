//! The names of return codes.

use std::ffi::{CStr, c_char};

use dat_library::api::Api;
use dat_udat20::{DAT_RETURN, DAT_SUCCESS};

/// The texts for a code without a name. Programs print both texts without checking the return code.
const UNKNOWN: [&CStr; 2] = [c"unknown error", c"unknown minor error"];

/// Stores a text through each pointer that is not NULL, also if it returns an error because the code has no name.
///
/// # Safety
/// Each pointer must be NULL or writable.
pub unsafe fn dat_strerror<A: Api>(
    value: DAT_RETURN,
    major_message: *mut *const c_char,
    minor_message: *mut *const c_char,
) -> DAT_RETURN {
    let names = [A::NAMES.of_type(value), A::NAMES.of_subtype(value)];
    for ((message, name), unknown) in [major_message, minor_message].into_iter().zip(names).zip(UNKNOWN) {
        if !message.is_null() {
            // SAFETY: not NULL as checked, and writable as the caller promises.
            unsafe { message.write_unaligned(name.unwrap_or(unknown).as_ptr()) };
        }
    }
    if names.iter().all(Option::is_some) { DAT_SUCCESS } else { A::CODES.argument(1) }
}

#[cfg(test)]
mod tests;
