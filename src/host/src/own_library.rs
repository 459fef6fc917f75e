//! The shared library that this code is part of, as the dynamic loader knows it.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{self, NonNull};

/// The path by which the loader knows the library. If the code is part of the program itself, this is what the program
/// was called by.
pub fn path() -> Option<&'static CStr> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: the address belongs to this library's code, and `info` outlives the call.
    let found = unsafe { libc::dladdr(path as *const c_void, &mut info) };
    if found == 0 || info.dli_fname.is_null() {
        return None;
    }
    // SAFETY: the loader keeps the name of a library while the library is mapped, and it is mapped while this code
    // runs.
    Some(unsafe { CStr::from_ptr(info.dli_fname) })
}

/// Keeps the library in the process from now on, even if its users close it. Returns its handle, which stays valid, or `None` if
/// this code is part of the program itself or the loader has no memory.
pub fn keep() -> Option<NonNull<c_void>> {
    reference(libc::RTLD_LOCAL)
}

/// The same, and puts the library's names into the global scope, where libraries find them that were not
/// linked with it.
pub fn keep_with_global_names() -> Option<NonNull<c_void>> {
    reference(libc::RTLD_GLOBAL)
}

fn reference(scope: c_int) -> Option<NonNull<c_void>> {
    let flags = libc::RTLD_NOW | libc::RTLD_NOLOAD | scope;
    // SAFETY: the path is a C string; the library is already loaded, so no code runs. The reference that this takes is
    // never given back.
    NonNull::new(unsafe { libc::dlopen(path()?.as_ptr(), flags) })
}
