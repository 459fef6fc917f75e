//! The library of another version of the interface in the same process.
//!
//! A provider in C calls dat_registry_add_provider and dat_registry_remove_provider without a symbol version. So the
//! first loaded library gets the call, and passes it to the library of the provider's version.

use std::ffi::{CStr, c_void};
use std::mem;
use std::ptr::NonNull;

use dat_udat::dat::DAT_PROVIDER_INFO;
use dat_udat::dat_error::{DAT_RETURN, DAT_SUCCESS};
use host::symbol;

use crate::api::Api;
use crate::head::Head;

type Function = unsafe extern "C" fn(*const Head, *const DAT_PROVIDER_INFO) -> DAT_RETURN;

/// Major versions of uDAPL, each with the version node of its functions in all libraries of that version.
const NODES: [(u32, &CStr); 2] = [(1, c"DAT_1.2"), (2, c"DAT_2.0")];

/// Passes a call of `name` to the library of the provider's version, and returns its result. Returns `None` without
/// another library of that version, or if `info` is NULL.
///
/// # Safety
/// Each pointer must be NULL or valid, as the function's parameter specifies.
pub unsafe fn passed_on<A: Api>(
    name: &'static CStr,
    provider: *const Head,
    info: *const DAT_PROVIDER_INFO,
) -> Option<Result<(), DAT_RETURN>> {
    if info.is_null() {
        return None;
    }
    // SAFETY: not NULL, so readable as the caller promises.
    let major = unsafe { info.read_unaligned() }.dapl_version_major;
    let function = function_of::<A>(name, major)?;
    // SAFETY: the pointers are as the caller promises, and the function has this type in all versions.
    let code = unsafe { function(provider, info) };
    Some(if code == DAT_SUCCESS { Ok(()) } else { Err(code) })
}

/// Returns the function `name` in another library, of version `major`, or `None` if the process has no such library.
fn function_of<A: Api>(name: &'static CStr, major: u32) -> Option<Function> {
    let (_, node) = NODES.iter().find(|(number, _)| *number == major && major != A::VERSION.major)?;
    let found = symbol::versioned(name, node)?;
    // SAFETY: a symbol with this name and version is a function of this type.
    Some(unsafe { mem::transmute::<NonNull<c_void>, Function>(found) })
}

#[cfg(test)]
mod tests;
