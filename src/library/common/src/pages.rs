//! The pages that have contained objects of providers.
//!
//! A program may pass any number as a handle, so dispatch reads memory only on a known page. The first handle on a page
//! makes it known, if the kernel finds the address of a registered table there. Our providers never unmap objects. If a
//! provider in C does, a stale handle can end the program, as with the library in C.
//!
//! 1,024 pages (65,536 objects) can be known. The low bits of a page's number determine its first slot, which pages 4
//! MiB apart share; higher bits contribute to its second slot. Each invalid handle on an unknown page costs a system
//! call for each registered table.

use std::sync::atomic::{AtomicUsize, Ordering};

use dat_udat::dat::DAT_HANDLE;

const MAX_PAGES: usize = 1024;

/// Logarithm of the smallest page size, in bytes.
const PAGE_BITS: u32 = 12;

/// Lowest address of a program's memory. Other libraries use smaller numbers as handles.
const MIN_ADDRESS: usize = 65536;

/// End of the addresses that the kernel uses by default: 47 bits on x86-64, 48 on aarch64.
const END_ADDRESS: usize = if cfg!(target_arch = "aarch64") { 1 << 48 } else { 1 << 47 };

/// A set of pages, each with two slots.
pub struct Pages {
    first: [AtomicUsize; MAX_PAGES],
    second: [AtomicUsize; MAX_PAGES],
}

/// The known pages of this library in this process.
pub static PAGES: Pages = Pages::new();

/// Returns the page number of a handle; for an unaligned one, a number that no page has.
#[inline(always)]
fn page_of(handle: DAT_HANDLE) -> usize {
    // The low bits, 0 in an aligned address, become the top bits.
    const LOW_BITS: u32 = align_of::<usize>().trailing_zeros();
    handle.addr().rotate_right(LOW_BITS) >> (PAGE_BITS - LOW_BITS)
}

fn second_place(page: usize) -> usize {
    (page ^ (page / MAX_PAGES)) % MAX_PAGES
}

/// Returns the content of the free slot `place`: the number of a page that belongs to another slot.
const fn nothing_at(place: usize) -> usize {
    if place == 0 { 1 } else { 0 }
}

impl Pages {
    const fn new() -> Self {
        let mut first = [const { AtomicUsize::new(nothing_at(1)) }; MAX_PAGES];
        let mut second = [const { AtomicUsize::new(nothing_at(1)) }; MAX_PAGES];
        first[0] = AtomicUsize::new(nothing_at(0));
        second[0] = AtomicUsize::new(nothing_at(0));
        Pages { first, second }
    }

    /// Returns whether `handle` is aligned and its page is in its first slot, so that the word there is readable.
    #[inline(always)]
    pub fn has_first(&self, handle: DAT_HANDLE) -> bool {
        let page = page_of(handle);
        self.first[page % MAX_PAGES].load(Ordering::Relaxed) == page
    }

    /// Returns whether `handle` is aligned and its page is known, so that the word there is readable.
    pub fn has(&self, handle: DAT_HANDLE) -> bool {
        let page = page_of(handle);
        self.has_first(handle) || self.second[second_place(page)].load(Ordering::Relaxed) == page
    }

    /// Returns whether `handle` is aligned and the word there is `word`. The kernel compares both halves, so `handle`
    /// may be any number.
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

    /// Adds the page of `handle`, which must be the address of an object.
    pub fn note(&self, handle: DAT_HANDLE) {
        let page = page_of(handle);
        self.first[page % MAX_PAGES].store(page, Ordering::Relaxed);
        self.second[second_place(page)].store(page, Ordering::Relaxed);
    }

    /// Removes all pages: a provider may unmap its memory. A concurrent call may still find a page.
    pub fn forget(&self) {
        for places in [&self.first, &self.second] {
            for (place, page) in places.iter().enumerate() {
                page.store(nothing_at(place), Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests;
