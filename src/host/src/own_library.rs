//! The shared library that contains this code.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{self, NonNull};

/// Returns the loader's path of the library, or the program's name if the code is part of the program. Returns `None`
/// if the loader does not know the path.
pub fn path() -> Option<&'static CStr> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: the address is in this library, and `info` outlives the call.
    let found = unsafe { libc::dladdr(path as *const c_void, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the C string exists while the library is loaded.
    Some(unsafe { CStr::from_ptr(info.dli_fname) })
}

/// Keeps the library loaded even if its users close it, and returns its handle. `scope` is RTLD_LOCAL, or RTLD_GLOBAL
/// to make its symbols global. Returns `None` if the code is part of the program, or without memory.
pub fn keep(scope: c_int) -> Option<NonNull<c_void>> {
    let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD | scope;
    // SAFETY: the path is a C string. The library is already loaded, so none of its code runs.
    NonNull::new(unsafe { libc::dlopen(path()?.as_ptr(), flags) })
}
