//! Handles of interface adapters.
//!
//! Programs know an adapter by the address that its provider returned. The C library hands out small numbers instead, which
//! providers translate with dats_get_ia_handle; here both are the same. As with the numbers, memory is read only behind the
//! handle of an open adapter: programs keep the handles of closed ones, and an adapter that was opened to read its attributes
//! can only be closed.

use dat_library::api::Api;
use dat_library::dispatch::provider_of;
use dat_library::guard::slow;
use dat_library::head::Head;
use dat_library::ia;
use dat_registry::Purpose;
use dat_udat20::{DAT_CLOSE_FLAGS, DAT_IA_HANDLE, DAT_RETURN};

/// Defines an exported function that calls the provider's function of the same name and arguments, the first of which is
/// the handle of an adapter.
macro_rules! dispatch_on_ia {
    (
        $node:literal,
        $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($handle:ident: $handle_type:ty, $($handle_line:literal)+;
            $($argument:ident: $type:ty, $($line:literal)+;)*)
    ) => {
        dat_library::symver!($node, $name);

        $(#[$doc])*
        #[doc = dat_library::parameters!($handle, $($handle_line)+; $($argument, $($line)+;)*)]
        ///
        /// # Safety
        /// Each pointer must be NULL or valid as its parameter says. Handles may be anything.
        #[unsafe(no_mangle)]
        pub unsafe extern $abi fn $name($handle: $handle_type $(, $argument: $type)*) -> DAT_RETURN {
            let Some(table) = ia::provider_of_open::<Udat20>($handle) else {
                return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
            };
            // SAFETY: a registered table stays readable until its provider removes it.
            match unsafe { slot::$name(table.cast()) } {
                // SAFETY: the arguments are passed on as they came; the slot has this type.
                Some(function) => unsafe { function($handle $(, $argument)*) },
                None => DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE),
            }
        }
    };
}
pub(crate) use dispatch_on_ia;

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
    ia::close::<A>(handle, flags, purpose).unwrap_or(Err(A::CODES.invalid_ia))
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
            return Err(A::CODES.invalid_ia);
        }
        if ia_handle.is_null() {
            return Err(A::CODES.argument(2));
        }
        // SAFETY: not NULL as checked, and writable as the caller promises.
        unsafe { ia_handle.write_unaligned(handle) };
        Ok(())
    })
}
