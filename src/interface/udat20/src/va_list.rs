//! Type of the variable arguments of a C function

use core::ffi::c_void;

/// A `va_list` as C passes it to a function: a pointer to its state.
pub type va_list = *mut c_void;
