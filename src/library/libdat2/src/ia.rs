//! Handles of interface adapters (IAs).
//!
//! A handle is the address that the provider returned. The C library returns small numbers, which providers translate
//! with dats_get_ia_handle; here, that call returns its argument.
//!
//! Except during an open, memory is read only at the handle of an open adapter, because programs pass handles of closed
//! adapters. An adapter opened for a query can only be closed.

use dat_library::api::{Api, INVALID_IA};
use dat_library::dispatch::provider_of;
use dat_library::guard::slow;
use dat_library::head::Head;
use dat_library::ia;
use dat_registry::Purpose;
use dat_udat20::{DAT_CLOSE_FLAGS, DAT_IA_HANDLE, DAT_RETURN};

/// Returns the table of an adapter that is open for use, otherwise `None`. While this thread is inside a provider's
/// open, accepts every handle of a registered provider.
pub fn provider_of_open<A: Api>(handle: DAT_IA_HANDLE) -> Option<*const Head> {
    let registry = &A::statics().registry;
    if !registry.is_bound(handle.addr(), Purpose::Use) && !registry.is_opening() {
        return None;
    }
    provider_of(handle)
}

/// Closes an adapter that was opened for `purpose`.
///
/// # Errors
/// `DAT_INVALID_HANDLE` if `handle` is not open for `purpose`. After any other error, which is the provider's, the
/// adapter stays open.
pub fn close<A: Api>(handle: DAT_IA_HANDLE, flags: DAT_CLOSE_FLAGS, purpose: Purpose) -> Result<(), DAT_RETURN> {
    ia::close::<A>(handle, flags, purpose).unwrap_or(Err(INVALID_IA))
}

/// Closes the instance and releases its entry. Rejects any other handle without reading its memory, because programs
/// close adapters twice.
///
/// # Safety
/// Any value may be passed.
pub unsafe fn dat_ia_close<A: Api>(ia_handle: DAT_IA_HANDLE, close_flags: DAT_CLOSE_FLAGS) -> DAT_RETURN {
    slow::<A>(|| close::<A>(ia_handle, close_flags, Purpose::Use))
}

/// Stores `handle` in `ia_handle` if [`provider_of_open`] accepts it; otherwise returns `DAT_INVALID_HANDLE`.
///
/// # Safety
/// `ia_handle` must be NULL or writable.
pub unsafe fn dats_get_ia_handle<A: Api>(handle: DAT_IA_HANDLE, ia_handle: *mut DAT_IA_HANDLE) -> DAT_RETURN {
    slow::<A>(|| {
        if provider_of_open::<A>(handle).is_none() {
            return Err(INVALID_IA);
        }
        if ia_handle.is_null() {
            return Err(A::CODES.argument(2));
        }
        // SAFETY: not NULL as checked, and writable as the caller promises.
        unsafe { ia_handle.write_unaligned(handle) };
        Ok(())
    })
}
