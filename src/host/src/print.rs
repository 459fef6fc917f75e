//! The standard output of the program, for calls that print.

use std::ffi::CStr;

/// Returns the host name.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Prints through libc, in order with the program's own output.
pub fn print(text: &CStr) {
    // SAFETY: the format takes one C string.
    unsafe { libc::printf(c"%s".as_ptr(), text.as_ptr()) };
}
