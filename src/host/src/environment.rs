//! Environment variables, which privileged processes ignore.

use std::ffi::OsString;

/// Returns the value of `name`; `None` if it is not set, or if the process is [`privileged`].
///
/// All variables are read here, because the user of a privileged program must not choose its files or behaviour.
pub fn secure(name: &str) -> Option<OsString> {
    value(name, privileged())
}

fn value(name: &str, privileged: bool) -> Option<OsString> {
    if privileged {
        return None;
    }
    std::env::var_os(name)
}

/// Returns whether this process has more rights than its user (set-user-ID, set-group-ID, file capabilities).
pub fn privileged() -> bool {
    // SAFETY: getauxval takes any argument.
    (unsafe { libc::getauxval(libc::AT_SECURE) }) != 0
}

#[cfg(test)]
mod tests;
