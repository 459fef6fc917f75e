//! Handles of interface adapters.
//!
//! Programs know an adapter by the address that its provider returned. The C library hands out small numbers instead, which
//! providers translate with dats_get_ia_handle; here both are the same. As with the numbers, memory is read only behind the
//! handle of an open adapter: programs keep the handles of closed ones, and an adapter that was opened to read its attributes
//! can only be closed.

use dat_library::api::{Api, INVALID_IA};
use dat_library::dispatch::provider_of;
use dat_library::guard::slow;
use dat_library::head::Head;
use dat_library::ia;
use dat_registry::Purpose;
use dat_udat20::{DAT_CLOSE_FLAGS, DAT_IA_HANDLE, DAT_RETURN};

/// The table of the provider of an adapter that is open for use, or that this thread is opening.
pub fn provider_of_open<A: Api>(handle: DAT_IA_HANDLE) -> Option<*const Head> {
    let registry = &A::statics().registry;
    if !registry.is_bound(handle.addr(), Purpose::Use) && !registry.is_opening() {
        return None;
    }
    provider_of(handle)
}

/// Closes an adapter that was opened for `purpose`. The memory behind any other handle is not read.
///
/// # Errors
/// The code for a handle that is no adapter's; that of the provider, and then the adapter is open as before.
pub fn close<A: Api>(handle: DAT_IA_HANDLE, flags: DAT_CLOSE_FLAGS, purpose: Purpose) -> Result<(), DAT_RETURN> {
    ia::close::<A>(handle, flags, purpose).unwrap_or(Err(INVALID_IA))
}

/// Has the provider close the instance, and takes it off the count of its entry. Programs close an adapter twice, so memory
/// is read only behind the handle of an open adapter.
///
/// # Safety
/// Any value may be passed.
pub unsafe fn dat_ia_close<A: Api>(ia_handle: DAT_IA_HANDLE, close_flags: DAT_CLOSE_FLAGS) -> DAT_RETURN {
    slow::<A>(|| close::<A>(ia_handle, close_flags, Purpose::Use))
}

/// Returns the handle if it is that of an adapter that is open, or that this thread is opening.
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
