//! The way from a handle to the provider's function.
//!
//! The first word behind a handle points to the table of the provider that made the object. A handle is accepted when
//! it is not NULL, is aligned, lies where a program can have memory, and that word is a table that a provider has
//! registered. The provider checks whether the object is alive and of the right kind; it also checks other handles
//! among the arguments.
//!
//! Here a data transfer costs a load, a compare and an indirect jump. The functions made by `dispatch!` do not
//! allocate, lock, make a system call or panic. They own nothing with a destructor, so a thread that `pthread_cancel`
//! ends within a provider's wait can be unwound through them.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use dat_udat::dat::DAT_HANDLE;

use crate::head::Head;
use crate::tables::TABLES;

/// Lowest address at which a program can have memory; the small integers that other libraries use as handles are below
/// it.
const LOWEST: usize = 65536;

/// First address at which no program has memory unless it asks for it by number: programs have 47 bits on x86-64, and 48
/// on aarch64, on systems with wider addresses too.
const HIGHEST: usize = if cfg!(target_arch = "aarch64") { 1 << 48 } else { 1 << 47 };

/// The first word of the object behind `handle`, or NULL if there can be no object.
///
/// # Safety
/// If `handle` is a multiple of 8 and an address at which programs can have memory, then the 8 bytes there must be
/// readable.
#[inline(always)]
unsafe fn first_word(handle: DAT_HANDLE) -> *const Head {
    // One comparison for both: the bits that are 0 in an aligned address become the highest ones.
    const LOW_BITS: u32 = align_of::<AtomicPtr<Head>>().trailing_zeros();
    if handle.addr().wrapping_sub(LOWEST).rotate_right(LOW_BITS) >= (HIGHEST - LOWEST) >> LOW_BITS {
        return ptr::null();
    }
    // SAFETY: the handle is aligned and in range as checked, hence readable as the caller promises. The load is atomic,
    // because a stale handle may point to memory that another thread is using for something else.
    let word = unsafe { AtomicPtr::<Head>::from_ptr(handle.cast()) };
    word.load(Ordering::Relaxed)
}

/// The table of the provider that made the object behind `handle`, or `None` if there is none.
///
/// # Safety
/// The same as for [`provider_if_first`].
pub unsafe fn provider_of(handle: DAT_HANDLE) -> Option<*const Head> {
    // SAFETY: the caller's promise.
    let table = unsafe { first_word(handle) };
    TABLES.contains(table).then_some(table)
}

/// Does what [`provider_of`] does, but looks only at the first table.
///
/// # Safety
/// If `handle` is a multiple of 8 and an address at which programs can have memory, then the 8 bytes there must be
/// readable.
#[inline(always)]
pub unsafe fn provider_if_first(handle: DAT_HANDLE) -> Option<*const Head> {
    // SAFETY: the caller's promise.
    let table = unsafe { first_word(handle) };
    TABLES.is_first(table).then_some(table)
}

/// Defines an exported function that calls the provider's function of the same name and arguments.
///
/// The first argument supplies the table; `$subtype` goes with `DAT_INVALID_HANDLE`. A slot that is NULL gives
/// `DAT_NOT_IMPLEMENTED`. The place of use supplies the types, the codes, and `slot` with the slots of a table; `$node` is
/// the version node.
#[macro_export]
macro_rules! dispatch {
    (
        $node:literal,
        $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($handle:ident: $handle_type:ty
            $(, $argument:ident: $type:ty)* $(,)?), $subtype:ident
    ) => {
        $crate::symver!($node, $name);

        $(#[$doc])*
        ///
        /// # Safety
        /// A handle that is aligned must point to readable memory; each other pointer must be NULL or valid as its
        /// parameter says.
        #[unsafe(no_mangle)]
        pub unsafe extern $abi fn $name($handle: $handle_type $(, $argument: $type)*) -> DAT_RETURN {
            // SAFETY: the caller's promise about handles.
            let table = unsafe { $crate::dispatch::provider_if_first($handle) };
            if let Some(table) = table
                // SAFETY: a registered table stays readable until its provider removes it.
                && let Some(function) = unsafe { slot::$name(table.cast()) }
            {
                // SAFETY: the arguments are passed on as they came; the slot has this type.
                return unsafe { function($handle $(, $argument)*) };
            }

            // All unusual cases are in this function, so that the usual one needs no stack.
            #[cold]
            #[inline(never)]
            unsafe extern $abi fn otherwise($handle: $handle_type $(, $argument: $type)*) -> DAT_RETURN {
                // SAFETY: the caller's promise about handles.
                let Some(table) = (unsafe { $crate::dispatch::provider_of($handle) }) else {
                    return DAT_ERROR(DAT_INVALID_HANDLE, $subtype);
                };
                // SAFETY: a registered table stays readable until its provider removes it.
                match unsafe { slot::$name(table.cast()) } {
                    // SAFETY: the arguments are passed on as they came; the slot has this type.
                    Some(function) => unsafe { function($handle $(, $argument)*) },
                    None => DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE),
                }
            }
            // SAFETY: the arguments are passed on as they came.
            unsafe { otherwise($handle $(, $argument)*) }
        }
    };
}

#[cfg(test)]
mod tests;
