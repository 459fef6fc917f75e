//! The pages that have contained objects of providers.
//!
//! A program may pass any number as a handle, so dispatch reads memory only on a known page. The first handle on a page
//! makes it known, if the kernel finds the address of a registered table there. The providers of this project never
//! unmap objects. If a provider in C does, a stale handle can end the program, as with the library in C.
//!
//! A known page is noted with the table that was found there, so one comparison checks the table of a handle. In the
//! providers of this project, all objects of a page have the same table. A provider in C can mix tables on a page; then
//! [`dispatch`](mod@crate::dispatch) searches the registered tables.
//!
//! The low bits of a page's number determine its first slot. Pages 16 MiB apart, the size of 262,144 objects of this
//! project's providers, share a first slot. Higher bits contribute to its second slot. Each invalid handle on an
//! unknown page costs a system call for each registered table.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use dat_udat::dat::DAT_HANDLE;

use crate::head::Head;

/// Number of first slots, and of second slots. So few that the library's zeroed data rarely contains a huge page, which
/// one access would make resident.
const SLOTS: usize = 4096;

/// Logarithm of the smallest page size, in bytes.
const PAGE_BITS: u32 = 12;

/// Lowest address of a program's memory. Other libraries use smaller numbers as handles.
const MIN_ADDRESS: usize = 65536;

/// End of the addresses that the kernel uses by default: 47 bits on x86-64, 48 on aarch64.
const END_ADDRESS: usize = if cfg!(target_arch = "aarch64") { 1 << 48 } else { 1 << 47 };

/// A known page, and the table of the object that was found there.
struct Slot {
    /// [`last_word`] of the page; 0 in a free slot.
    page: AtomicUsize,
    table: AtomicPtr<Head>,
}

impl Slot {
    const fn new() -> Self {
        Slot { page: AtomicUsize::new(0), table: AtomicPtr::new(ptr::null_mut()) }
    }

    #[inline(always)]
    fn has(&self, handle: DAT_HANDLE) -> bool {
        // Pairs with the last store in `note`: after the page, its table is visible, too.
        self.page.load(Ordering::Acquire) == last_word(handle)
    }

    fn note(&self, handle: DAT_HANDLE, table: *const Head) {
        // A concurrent call may see this table with the previous page. Both tables are registered, so dispatch can
        // compare either with the word at a handle.
        self.table.store(table.cast_mut(), Ordering::Release);
        self.page.store(last_word(handle), Ordering::Release);
    }
}

/// A set of pages, each with two slots. Unused slots take no memory.
pub struct Pages {
    first: [Slot; SLOTS],
    second: [Slot; SLOTS],
}

/// The known pages of this library in this process.
pub static PAGES: Pages = Pages::new();

/// Returns the address of the last word in the page of `handle`; for an unaligned handle, a number that no page has.
#[inline(always)]
fn last_word(handle: DAT_HANDLE) -> usize {
    handle.addr() | ((1 << PAGE_BITS) - align_of::<usize>())
}

#[inline(always)]
fn first_place(handle: DAT_HANDLE) -> usize {
    (handle.addr() >> PAGE_BITS) % SLOTS
}

fn second_place(handle: DAT_HANDLE) -> usize {
    let page = handle.addr() >> PAGE_BITS;
    (page ^ (page / SLOTS)) % SLOTS
}

impl Pages {
    const fn new() -> Self {
        Pages { first: [const { Slot::new() }; SLOTS], second: [const { Slot::new() }; SLOTS] }
    }

    /// Returns the table of the page of `handle` if that page is in its first slot and `handle` is aligned, so that the
    /// word there is readable.
    #[inline(always)]
    pub fn table_of(&self, handle: DAT_HANDLE) -> Option<*const Head> {
        let slot = &self.first[first_place(handle)];
        // Pairs with the first store in `note`: the table's contents are visible.
        slot.has(handle).then(|| slot.table.load(Ordering::Acquire).cast_const())
    }

    /// Returns whether `handle` is aligned and its page is known, so that the word there is readable.
    pub fn has(&self, handle: DAT_HANDLE) -> bool {
        self.first[first_place(handle)].has(handle) || self.second[second_place(handle)].has(handle)
    }

    /// Returns whether `handle` is aligned and the word there is `word`. The kernel compares both halves (futex(2)), so
    /// `handle` may be any number.
    #[cold]
    pub fn has_word(handle: DAT_HANDLE, word: usize) -> bool {
        if handle.addr() % align_of::<usize>() != 0 || !(MIN_ADDRESS..END_ADDRESS).contains(&handle.addr()) {
            return false;
        }
        let [a, b, c, d, e, f, g, h] = word.to_ne_bytes();
        let halves = [[a, b, c, d], [e, f, g, h]].map(u32::from_ne_bytes);
        halves.into_iter().enumerate().all(|(at, half)| {
            let place = handle.wrapping_byte_add(at * size_of::<u32>());
            let operation = libc::FUTEX_CMP_REQUEUE | libc::FUTEX_PRIVATE_FLAG;
            // Fails if the halves differ. Wakes no thread, and requeues none.
            // SAFETY: the kernel checks the address and changes nothing.
            unsafe { libc::syscall(libc::SYS_futex, place, operation, 0, 0_usize, &raw const word, half) == 0 }
        })
    }

    /// Adds the page of `handle`, the address of an object with this registered table.
    pub fn note(&self, handle: DAT_HANDLE, table: *const Head) {
        self.first[first_place(handle)].note(handle, table);
        self.second[second_place(handle)].note(handle, table);
    }

    /// Removes all pages: a provider may unmap its memory. A concurrent call may still find a page.
    pub fn forget(&self) {
        // A store would give memory to a page of free slots.
        let used = self.first.iter().chain(&self.second).filter(|slot| slot.page.load(Ordering::Relaxed) != 0);
        used.for_each(|slot| slot.page.store(0, Ordering::Relaxed));
    }
}

#[cfg(test)]
mod tests;
