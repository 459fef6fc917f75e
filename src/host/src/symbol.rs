//! Names that the dynamic loader finds.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// What the process has under a name in a version of it. A loader without versions, such as that of musl, finds nothing.
///
/// # Parameters
/// * `name` - the name.
/// * `node` - the version, such as `DAT_1.2`.
pub fn versioned(name: &CStr, node: &CStr) -> Option<NonNull<c_void>> {
    #[cfg(target_env = "gnu")]
    // SAFETY: searches a name among the libraries of the process; both strings are C strings.
    return NonNull::new(unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), node.as_ptr()) });
    #[cfg(not(target_env = "gnu"))]
    {
        let _ = (name, node);
        None
    }
}

/// What the process has under a name.
pub fn named(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: searches a name among the libraries of the process; the name is a C string.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

#[cfg(test)]
mod tests;
