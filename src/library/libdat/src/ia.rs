//! Handles of interface adapters (IAs).
//!
//! A handle is valid if a registered provider created it, even if this library did not open the adapter: third-party
//! providers open adapters internally.

use std::ffi::c_ulong;
use std::ptr;

use dat_library::api::{Api, INVALID_IA};
use dat_library::dispatch::provider_of;
use dat_library::guard::slow;
use dat_library::ia;
use dat_registry::Purpose;
use dat_udat12::{DAT_CLOSE_FLAGS, DAT_IA_HANDLE, DAT_RETURN, DAT_SUCCESS};

/// Closes the instance, and releases its entry if this library opened the instance.
///
/// # Safety
/// Any value may be passed.
pub unsafe fn dat_ia_close<A: Api>(ia_handle: DAT_IA_HANDLE, close_flags: DAT_CLOSE_FLAGS) -> DAT_RETURN {
    slow::<A>(|| {
        let table = provider_of(ia_handle).ok_or(INVALID_IA)?;
        ia::close::<A>(ia_handle, close_flags, Purpose::Use).unwrap_or_else(|| {
            // SAFETY: the provider that registered the table created the handle.
            unsafe { ia::close_instance::<A>(table, ia_handle, close_flags) }
        })
    })
}

/// Stores `handle` in `ia_handle` if a registered provider created `handle`; otherwise returns `DAT_INVALID_HANDLE`.
///
/// # Safety
/// `ia_handle` must be NULL or writable.
pub unsafe fn dats_get_ia_handle<A: Api>(handle: c_ulong, ia_handle: *mut DAT_IA_HANDLE) -> DAT_RETURN {
    let known: DAT_IA_HANDLE = ptr::with_exposed_provenance_mut(handle as usize);
    if provider_of(known).is_none() {
        return INVALID_IA;
    }
    if ia_handle.is_null() {
        return A::CODES.argument(2);
    }
    // SAFETY: not NULL as checked, and writable as the caller promises.
    unsafe { ia_handle.write_unaligned(known) };
    DAT_SUCCESS
}
