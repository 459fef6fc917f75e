//! The library of another version of the interface in the same process.
//!
//! A provider in C calls dat_registry_add_provider and dat_registry_remove_provider by their plain names. If a process has
//! the libraries of two versions, the one that was loaded first gets such a call. The version in the provider's information
//! says which one is meant.

use std::ffi::{CStr, c_void};
use std::mem;
use std::ptr::NonNull;

use dat_udat::dat::DAT_PROVIDER_INFO;
use dat_udat::dat_error::{DAT_RETURN, DAT_SUCCESS};
use host::symbol;

use crate::api::Api;
use crate::head::Head;

/// dat_registry_add_provider, or dat_registry_remove_provider.
type Function = unsafe extern "C" fn(*const Head, *const DAT_PROVIDER_INFO) -> DAT_RETURN;

/// The node that the functions of each major version have in every library of it.
const NODES: [(u32, &CStr); 2] = [(1, c"DAT_1.2"), (2, c"DAT_2.0")];

/// Passes a call of the function `name` on to the library of another version, if the provider is for one that is in the
/// process; `None` if the call is for this library.
///
/// # Safety
/// Each pointer must be NULL or valid as the parameter of that function says.
pub unsafe fn passed_on<A: Api>(
    name: &'static CStr,
    provider: *const Head,
    info: *const DAT_PROVIDER_INFO,
) -> Option<Result<(), DAT_RETURN>> {
    if info.is_null() {
        return None;
    }
    // SAFETY: not NULL, so readable as the caller promises.
    let major = unsafe { (&raw const (*info).dapl_version_major).read_unaligned() };
    let function = function_of::<A>(name, major)?;
    // SAFETY: the caller's promise; the function has this type in all versions.
    let code = unsafe { function(provider, info) };
    Some(if code == DAT_SUCCESS { Ok(()) } else { Err(code) })
}

/// The function of this name in the library of another major version.
fn function_of<A: Api>(name: &'static CStr, major: u32) -> Option<Function> {
    let (_, node) = NODES.iter().find(|(number, _)| *number == major && major != A::VERSION.major)?;
    let found = symbol::versioned(name, node)?;
    // SAFETY: a symbol of this name and version is a function of this type.
    Some(unsafe { mem::transmute::<NonNull<c_void>, Function>(found) })
}

#[cfg(test)]
mod tests;
