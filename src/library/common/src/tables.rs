//! The registered provider tables.
//!
//! A lookup takes no lock and compares a few words. The first slot contains the first registered adapter's table,
//! usually the program's only table. Writers hold the registry's lock.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::head::Head;

/// Maximum number of tables. Our providers have one table per adapter name.
const MAX_TABLES: usize = 256;

/// A set of tables.
pub struct Tables {
    /// The table in the first slot, or [`EMPTY_TABLE`] if that slot is free.
    first: AtomicPtr<Head>,
    /// A free slot contains NULL.
    places: [AtomicPtr<Head>; MAX_TABLES],
    /// Index of the first slot that was never used.
    end: AtomicUsize,
}

/// A table without functions, in `first` while that slot is free. Not NULL: the word at an invalid handle is often 0.
static EMPTY_TABLE: [AtomicUsize; WORDS] = [const { AtomicUsize::new(0) }; WORDS];

const WORDS: usize = 96;

/// Size of the largest table of any version, in bytes.
pub const MAX_TABLE_BYTES: usize = WORDS * size_of::<AtomicUsize>();

const fn empty_table() -> *mut Head {
    (&raw const EMPTY_TABLE).cast::<Head>().cast_mut()
}

/// The tables of this library in this process.
pub static TABLES: Tables = Tables::new();

impl Tables {
    const fn new() -> Self {
        Tables {
            first: AtomicPtr::new(empty_table()),
            places: [const { AtomicPtr::new(ptr::null_mut()) }; MAX_TABLES],
            end: AtomicUsize::new(0),
        }
    }

    /// Returns whether `table` is in the first slot, and thus readable.
    #[inline(always)]
    pub fn is_first(&self, table: *const Head) -> bool {
        // Pairs with the store in `insert`: the table's contents are visible.
        ptr::eq(self.first.load(Ordering::Acquire), table)
    }

    /// Returns the first registered table that `is_it` accepts.
    pub fn find(&self, is_it: impl Fn(*const Head) -> bool) -> Option<*const Head> {
        let end = self.end.load(Ordering::Acquire);
        let tables = self.places.iter().take(end).map(|place| place.load(Ordering::Acquire).cast_const());
        tables.filter(|table| !table.is_null()).find(|&table| is_it(table))
    }

    /// Returns whether `table` is registered.
    pub fn contains(&self, table: *const Head) -> bool {
        self.find(|known| ptr::eq(known, table)).is_some()
    }

    /// Adds `table`. Returns `false` if the set is full.
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

    /// Removes `table`, which may be unmapped after this call.
    pub fn remove(&self, table: *const Head) {
        if ptr::eq(self.first.load(Ordering::Relaxed), table) {
            self.first.store(empty_table(), Ordering::Release);
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
