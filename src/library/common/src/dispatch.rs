//! Dispatch of a call to the provider that created the handle.
//!
//! A handle is the address of a word that points to the table of the object's provider. Dispatch accepts a handle if it
//! is aligned, and the word is the address of a registered table. Dispatch reads the word on pages that are known to
//! contain objects; on other pages, the kernel compares it ([`crate::pages`]).
//!
//! The provider checks whether the object is alive and of the right kind. It also checks the call's other handles.
//!
//! Functions of `dispatch!` do not allocate or panic. They do not lock, except that libdat2 locks the registry to check
//! a handle of an adapter. Only the first handle on a page and invalid handles cost a system call. The functions own no
//! value with a destructor, so `pthread_cancel` can unwind a provider's wait through them.

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering, fence};

use dat_udat::dat::DAT_HANDLE;

use crate::head::Head;
use crate::pages::{PAGES, Pages};
use crate::tables::TABLES;

/// Returns the word at `handle`: the table of the provider, if `handle` is valid.
///
/// # Safety
/// The handle must be aligned, and its 8 bytes readable.
#[inline(always)]
unsafe fn first_word(handle: DAT_HANDLE) -> *const Head {
    // SAFETY: aligned and readable, as the caller promises. The read is atomic, because another thread may use a stale
    // handle's memory.
    let word = unsafe { AtomicPtr::<Head>::from_ptr(handle.cast()) };
    word.load(Ordering::Relaxed)
}

/// Returns the table of the object's provider, or `None` if `handle` is invalid.
#[cold]
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "what is not known to be readable is not read")]
pub fn provider_of(handle: DAT_HANDLE) -> Option<*const Head> {
    if PAGES.has(handle) {
        // SAFETY: aligned, and the page has had an object. If a provider in C has unmapped the page, the program must
        // not pass the handle.
        let table = unsafe { first_word(handle) };
        return TABLES.contains(table).then_some(table);
    }
    let table = TABLES.find(|table| Pages::has_word(handle, table.addr()))?;
    PAGES.note(handle, table);
    // Pairs with the fence in `retire`: either `retire` forgets this page, or its removal of the table is visible here.
    fence(Ordering::SeqCst);
    if !TABLES.contains(table) {
        PAGES.forget();
        return None;
    }
    Some(table)
}

/// Removes a table, which may be unmapped after this call. The caller holds the registry's lock.
pub fn retire(table: *const Head) {
    TABLES.remove(table);
    fence(Ordering::SeqCst);
    PAGES.forget();
}

/// Like [`provider_of`], but without a search. Succeeds only if the page is in its first slot of `PAGES`, and the
/// object has the table that was noted with the page.
#[inline(always)]
#[expect(clippy::not_unsafe_ptr_arg_deref, reason = "what is not known to be readable is not read")]
pub fn provider_of_page(handle: DAT_HANDLE) -> Option<*const Head> {
    let table = PAGES.table_of(handle)?;
    // SAFETY: the word is aligned, and its page has had an object.
    ptr::eq(unsafe { first_word(handle) }, table).then_some(table)
}

/// Returns `None`: calls without a fast path use this function instead of [`provider_of_page`].
#[inline(always)]
pub fn no_provider(_: DAT_HANDLE) -> Option<*const Head> {
    None
}

/// Defines an exported function that calls the provider's function in the slot `$field`, with the same arguments.
///
/// The first argument determines the table. `$subtype` completes `DAT_INVALID_HANDLE`; `$node` is the version node.
/// `$of_page` finds the table on the fast path, `$find` on the slow path; the defaults accept every registered table.
/// The types and the codes must be in scope.
#[macro_export]
macro_rules! dispatch {
    ($node:literal, extern $abi:literal fn $name:ident $arguments:tt => $field:ident, $subtype:ident) => {
        $crate::dispatch! {
            $node, extern $abi fn $name $arguments => $field, $subtype,
            $crate::dispatch::provider_of_page, $crate::dispatch::provider_of
        }
    };
    (
        $node:literal,
        extern $abi:literal fn $name:ident($handle:ident: $handle_type:ty $(, $argument:ident: $type:ty)*)
            => $field:ident, $subtype:ident, $of_page:path, $find:path
    ) => {
        $crate::symver!($node, $name);

        #[doc = concat!("See ", stringify!($name), "(3).")]
        ///
        /// # Safety
        /// Each pointer among the arguments must be NULL or valid as the manual page describes. Any handle is allowed.
        #[unsafe(no_mangle)]
        pub unsafe extern $abi fn $name($handle: $handle_type $(, $argument: $type)*) -> DAT_RETURN {
            if let Some(table) = $of_page($handle) {
                // SAFETY: a registered table is readable until its provider removes it.
                if let Some(function) = unsafe { (*table.cast::<DAT_PROVIDER>()).$field } {
                    // SAFETY: the slot has this type, and the arguments are the caller's.
                    return unsafe { function($handle $(, $argument)*) };
                }
            }

            // Separate, so that the fast path needs no stack frame.
            #[cold]
            #[inline(never)]
            unsafe extern $abi fn slow_path($handle: $handle_type $(, $argument: $type)*) -> DAT_RETURN {
                let Some(table) = $find($handle) else {
                    return DAT_ERROR(DAT_INVALID_HANDLE, $subtype);
                };
                // SAFETY: a registered table is readable until its provider removes it.
                match unsafe { (*table.cast::<DAT_PROVIDER>()).$field } {
                    // SAFETY: the slot has this type, and the arguments are the caller's.
                    Some(function) => unsafe { function($handle $(, $argument)*) },
                    None => DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE),
                }
            }
            // SAFETY: the arguments are the caller's.
            unsafe { slow_path($handle $(, $argument)*) }
        }
    };
}

#[cfg(test)]
mod tests;
