//! The way from a handle to the provider's function.
//!
//! The first word behind a handle points to the table of the provider that made the object. A handle is accepted when
//! it is aligned, lies on a page that is known to have objects or that the kernel can read ([`crate::pages`]), and that
//! word is a table that a provider has registered. The provider checks whether the object is alive and of the right kind;
//! it also checks other handles among the arguments.
//!
//! For a data transfer this costs three loads, two compares and an indirect jump. The functions made by `dispatch!` do not
//! allocate, lock or panic. They make a system call only for the first handle on a page, and for values that are no handles.
//! They own nothing with a destructor, so a thread that `pthread_cancel` ends within a provider's wait can be unwound
//! through them.

use std::sync::atomic::{AtomicPtr, Ordering};

use dat_udat::dat::DAT_HANDLE;

use crate::head::Head;
use crate::pages::{PAGES, Pages};
use crate::tables::TABLES;

/// The first word behind `handle`.
///
/// # Safety
/// The handle is aligned, and the 8 bytes there are readable.
#[inline(always)]
unsafe fn first_word(handle: DAT_HANDLE) -> *const Head {
    // SAFETY: aligned and readable, as the caller promises. The load is atomic, because a stale handle may point to memory
    // that another thread is using for something else.
    let word = unsafe { AtomicPtr::<Head>::from_ptr(handle.cast()) };
    word.load(Ordering::Relaxed)
}

/// The table of the provider that made the object behind `handle`, or `None` if there is none.
#[cold]
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "memory that cannot be read is not read")]
pub fn provider_of(handle: DAT_HANDLE) -> Option<*const Head> {
    let is_known = PAGES.has(handle);
    if !is_known && (TABLES.is_empty() || !Pages::can_read(handle)) {
        return None;
    }
    // SAFETY: aligned and readable, as checked. It can only have been unmapped if it has no object and another thread unmaps
    // it at this moment.
    let table = unsafe { first_word(handle) };
    if !TABLES.contains(table) {
        return None;
    }
    if !is_known {
        PAGES.note(handle);
    }
    Some(table)
}

/// Does what [`provider_of`] does, but looks only at the first table, and only on pages in their first places.
#[inline(always)]
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "what is not known to be readable is not read")]
pub fn provider_if_first(handle: DAT_HANDLE) -> Option<*const Head> {
    if !PAGES.has_first(handle) {
        return None;
    }
    // SAFETY: aligned, and on a page that had an object. Our providers never unmap such pages; a handle whose memory a
    // provider in C has unmapped is invalid.
    let table = unsafe { first_word(handle) };
    TABLES.is_first(table).then_some(table)
}

/// No table: what stands for [`provider_if_first`] where the way to the table is another one.
#[inline(always)]
pub fn no_provider(_: DAT_HANDLE) -> Option<*const Head> {
    None
}

/// Defines an exported function that calls the provider's function of the same name and arguments.
///
/// The first argument determines the table; `$subtype` goes with `DAT_INVALID_HANDLE`. A slot that is NULL gives
/// `DAT_NOT_IMPLEMENTED`. `$node` is the version node. The types, the codes, and `slot` with the slots of a table must be in
/// scope. `$if_first` and `$find` find the table, the first in the usual case alone; without them, any registered one is found.
#[macro_export]
macro_rules! dispatch {
    ($node:literal, $(#[$doc:meta])* extern $abi:literal fn $name:ident($($arguments:tt)*), $subtype:ident) => {
        $crate::dispatch! {
            $node, $(#[$doc])* extern $abi fn $name($($arguments)*), $subtype,
            $crate::dispatch::provider_if_first, $crate::dispatch::provider_of
        }
    };
    (
        $node:literal,
        $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($handle:ident: $handle_type:ty, $($handle_line:literal)+;
            $($argument:ident: $type:ty, $($line:literal)+;)*), $subtype:ident, $if_first:path, $find:path
    ) => {
        $crate::symver!($node, $name);

        $(#[$doc])*
        #[doc = $crate::parameters!($handle, $($handle_line)+; $($argument, $($line)+;)*)]
        ///
        /// # Safety
        /// Each pointer among the arguments must be NULL or valid as its parameter says. Handles may be anything.
        #[unsafe(no_mangle)]
        pub unsafe extern $abi fn $name($handle: $handle_type $(, $argument: $type)*) -> DAT_RETURN {
            if let Some(table) = $if_first($handle) {
                // SAFETY: a registered table stays readable until its provider removes it.
                if let Some(function) = unsafe { slot::$name(table.cast()) } {
                    // SAFETY: the arguments are passed on as they came; the slot has this type.
                    return unsafe { function($handle $(, $argument)*) };
                }
            }

            // All other cases are in this function, so that the usual one needs no stack.
            #[cold]
            #[inline(never)]
            unsafe extern $abi fn otherwise($handle: $handle_type $(, $argument: $type)*) -> DAT_RETURN {
                let Some(table) = $find($handle) else {
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
