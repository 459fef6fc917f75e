//! Environment variables, read only where that is safe.

use std::ffi::OsString;

/// The value of `name`. `None` when it is not set, or when this process runs with more rights than its starter
/// (set-user-ID, set-group-ID, file capabilities).
///
/// Every variable of these libraries is read through here. A user who starts a privileged program must not choose the
/// files it reads, the output it writes or the way it works.
pub fn secure(name: &str) -> Option<OsString> {
    value(name, privileged())
}

/// The rule of [`secure`].
fn value(name: &str, privileged: bool) -> Option<OsString> {
    if privileged {
        return None;
    }
    std::env::var_os(name)
}

/// Whether this process runs with more rights than its starter, who then must not have a say in what it does.
pub fn privileged() -> bool {
    // SAFETY: getauxval reads a value that the kernel gave at start, whatever the argument.
    (unsafe { libc::getauxval(libc::AT_SECURE) }) != 0
}

#[cfg(test)]
mod tests;
