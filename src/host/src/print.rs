//! The standard output of the program, for calls whose work is to print.

use std::ffi::CStr;

/// The name of this host.
pub fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Prints a text through libc, so that it stands in its order between what the program prints itself.
pub fn print(text: &CStr) {
    // SAFETY: the format wants one C string, and gets it.
    unsafe { libc::printf(c"%s".as_ptr(), text.as_ptr()) };
}
