//! Symbols that the dynamic loader finds.

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

/// Returns the address of a versioned symbol of the process; `None` without one, or if the loader ignores versions, as
/// the loader of musl does.
///
/// # Parameters
/// * `name` - name of the symbol.
/// * `node` - the version, such as `DAT_1.2`.
pub fn versioned(name: &CStr, node: &CStr) -> Option<NonNull<c_void>> {
    #[cfg(target_env = "gnu")]
    // SAFETY: both strings are C strings.
    return NonNull::new(unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), node.as_ptr()) });
    #[cfg(not(target_env = "gnu"))]
    {
        let _ = (name, node);
        None
    }
}

/// Returns the address of a symbol of the process, or `None` if it has none.
pub fn named(name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: the name is a C string.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

#[cfg(test)]
mod tests;
