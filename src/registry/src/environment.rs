//! Environment variables, read only where that is safe.

use std::ffi::OsString;

/// Replaces the whole search for a configuration file.
pub const OVERRIDE: &str = "DAT_OVERRIDE";

/// Asks for messages: a number, 0 for none.
pub const DEBUG: [&str; 2] = ["DAT_DBG_TYPE", "DAPL_DBG_TYPE"];

/// Asks for messages in the words of the `log` facade: `error` to `trace`, `off`.
pub const LOG: &str = "RUST_LOG";

/// The value of `name`, or `None` when it is not set or when this process runs with more rights
/// than whoever started it (set-user-ID, set-group-ID, file capabilities).
pub fn secure(name: &str) -> Option<OsString> {
    if privileged() {
        return None;
    }
    std::env::var_os(name)
}

fn privileged() -> bool {
    // SAFETY: getauxval reads a value that the kernel gave at start, whatever the argument.
    (unsafe { libc::getauxval(libc::AT_SECURE) }) != 0
}
