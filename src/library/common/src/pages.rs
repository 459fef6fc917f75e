//! The pages on which objects of providers were found.
//!
//! A program may pass any number as a handle, so memory behind one is read only where that is known to be possible: on a page
//! that has had an object. A page is noted at the first handle on it, after the kernel has confirmed that it can be read. Our
//! providers never give the memory of objects back. A provider in C may do so; a stale handle of one can end the program, as
//! it does with the library in C.
//!
//! 1,024 pages are known at a time, with 65,536 objects, each in a place that follows from its number. Where the memory of
//! several adapters is aligned to megabytes, pages share a place; a second place, which another part of the number chooses,
//! is tried before the kernel is asked. All pages are forgotten when a provider removes its table. Once a provider has
//! registered, a value that is no handle costs the system call each time.

use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};

use dat_udat::dat::DAT_HANDLE;

/// Pages that are known at a time.
const PLACES: usize = 1024;

/// The smallest pages that systems have.
const PAGE_BITS: u32 = 12;

/// Lowest address at which a program can have memory; the small integers that other libraries use as handles are below
/// it.
const LOWEST: usize = 65536;

/// First address at which no program has memory unless it asks for it by number: programs have 47 bits on x86-64, and 48
/// on aarch64, on systems with wider addresses too.
const HIGHEST: usize = if cfg!(target_arch = "aarch64") { 1 << 48 } else { 1 << 47 };

/// A set of pages. Each has two places, of which calls try the second only when it is not in the first.
pub struct Pages {
    first: [AtomicUsize; PLACES],
    second: [AtomicUsize; PLACES],
}

/// The pages of this library in this process.
pub static PAGES: Pages = Pages::new();

/// The number of the page of a handle, and one that no page has for a handle that is not aligned.
#[inline(always)]
fn page_of(handle: DAT_HANDLE) -> usize {
    // The bits that are 0 in an aligned address become the highest ones.
    const LOW_BITS: u32 = align_of::<usize>().trailing_zeros();
    handle.addr().rotate_right(LOW_BITS) >> (PAGE_BITS - LOW_BITS)
}

/// The second place of a page.
fn second_place(page: usize) -> usize {
    (page ^ (page / PLACES)) % PLACES
}

/// What a free place holds: a page that belongs to another place.
const fn nothing_at(place: usize) -> usize {
    if place == 0 { 1 } else { 0 }
}

impl Pages {
    const fn new() -> Self {
        let mut first = [const { AtomicUsize::new(nothing_at(1)) }; PLACES];
        let mut second = [const { AtomicUsize::new(nothing_at(1)) }; PLACES];
        first[0] = AtomicUsize::new(nothing_at(0));
        second[0] = AtomicUsize::new(nothing_at(0));
        Pages { first, second }
    }

    /// Whether `handle` is aligned and its page is known and in its first place, so that a word can be read there.
    #[inline(always)]
    pub fn has_first(&self, handle: DAT_HANDLE) -> bool {
        let page = page_of(handle);
        self.first[page % PLACES].load(Ordering::Relaxed) == page
    }

    /// Whether `handle` is aligned and lies on a page that is known, so that a word can be read there.
    pub fn has(&self, handle: DAT_HANDLE) -> bool {
        let page = page_of(handle);
        self.has_first(handle) || self.second[second_place(page)].load(Ordering::Relaxed) == page
    }

    /// Whether `handle` is aligned and a word can be read there, as far as the kernel knows. This is a system call.
    #[cold]
    pub fn can_read(handle: DAT_HANDLE) -> bool {
        if handle.addr() % align_of::<usize>() != 0 || !(LOWEST..HIGHEST).contains(&handle.addr()) {
            return false;
        }
        // The kernel reads half a word, and would sleep for no time at all if it had this value. The first word of an object is
        // the address of a table, so it is even and never has it.
        const ODD: u32 = 0x5a5a_5a5b;
        let no_time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the kernel checks the address, and changes nothing.
        let result = unsafe {
            libc::syscall(
                libc::SYS_futex,
                handle,
                libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG,
                ODD,
                &raw const no_time,
                ptr::null::<u32>(),
                0,
            )
        };
        // SAFETY: errno is the thread's own.
        result != -1 || unsafe { *libc::__errno_location() } != libc::EFAULT
    }

    /// Notes the page of `handle`, behind which there is an object.
    pub fn note(&self, handle: DAT_HANDLE) {
        let page = page_of(handle);
        self.first[page % PLACES].store(page, Ordering::Relaxed);
        self.second[second_place(page)].store(page, Ordering::Relaxed);
    }

    /// Forgets all pages, because a provider has removed its table and may unmap its memory. A call on one of its handles at
    /// that moment may still find the page.
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
