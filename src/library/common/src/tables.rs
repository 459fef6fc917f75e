//! The provider tables whose handles are accepted.
//!
//! Every call with a handle reads this set, so reading takes no lock: it compares a few words. The first is the table of the
//! adapter that was registered first, usually the only one that a program opens. Writing is rare, and the registry's lock
//! allows one writer at a time.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::head::Head;

/// The largest number of tables. Our providers have one for each adapter name.
const CAPACITY: usize = 256;

/// A set of tables.
pub struct Tables {
    /// What the first place holds, or [`NOBODY`] if that is free.
    first: AtomicPtr<Head>,
    /// The tables; a free place holds NULL.
    places: [AtomicPtr<Head>; CAPACITY],
    /// Places from this index on were never used.
    end: AtomicUsize,
}

/// A table without functions, which stands in for the first table when there is none. NULL would not do, because the memory
/// behind a wrong handle often holds 0.
static NOBODY: [AtomicUsize; WORDS] = [const { AtomicUsize::new(0) }; WORDS];

/// Words of a table; no version's has more.
const WORDS: usize = 96;

/// Bytes that no version's table may exceed.
pub const LARGEST: usize = WORDS * size_of::<AtomicUsize>();

const fn nobody() -> *mut Head {
    (&raw const NOBODY).cast::<Head>().cast_mut()
}

/// The tables of this library in this process.
pub static TABLES: Tables = Tables::new();

impl Tables {
    const fn new() -> Self {
        Tables {
            first: AtomicPtr::new(nobody()),
            places: [const { AtomicPtr::new(ptr::null_mut()) }; CAPACITY],
            end: AtomicUsize::new(0),
        }
    }

    /// Whether `table` is the first one, as it is for nearly every handle of nearly every program. If so it can be read: it
    /// has functions, or is one of NULLs.
    #[inline(always)]
    pub fn is_first(&self, table: *const Head) -> bool {
        // Pairs with the store in `insert`, so that the table's contents are visible.
        ptr::eq(self.first.load(Ordering::Acquire), table)
    }

    /// Whether there is no table, so that no handle is one.
    pub fn is_empty(&self) -> bool {
        let end = self.end.load(Ordering::Acquire);
        self.places.iter().take(end).all(|place| place.load(Ordering::Relaxed).is_null())
    }

    /// Whether handles of `table` are accepted.
    pub fn contains(&self, table: *const Head) -> bool {
        let end = self.end.load(Ordering::Acquire);
        !table.is_null() && self.places.iter().take(end).any(|place| ptr::eq(place.load(Ordering::Acquire), table))
    }

    /// Accepts handles of `table` from now on; returns `false` if there is no place left. One writer at a time.
    pub fn insert(&self, table: *const Head) -> bool {
        if self.contains(table) {
            return true;
        }
        let free = self.places.iter().position(|place| place.load(Ordering::Relaxed).is_null());
        let Some(free) = free else { return false };
        self.places[free].store(table.cast_mut(), Ordering::Release);
        if free == 0 {
            self.first.store(table.cast_mut(), Ordering::Release);
        }
        self.end.fetch_max(free + 1, Ordering::Release);
        true
    }

    /// Stops accepting handles of `table`, which may be unmapped from now on. One writer at a time.
    pub fn remove(&self, table: *const Head) {
        if ptr::eq(self.first.load(Ordering::Relaxed), table) {
            self.first.store(nobody(), Ordering::Release);
        }
        for place in &self.places {
            if ptr::eq(place.load(Ordering::Relaxed), table) {
                place.store(ptr::null_mut(), Ordering::Release);
            }
        }
    }
}

#[cfg(test)]
mod tests;
