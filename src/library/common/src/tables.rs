//! The registered provider tables.
//!
//! A lookup takes no lock and compares a few words. Writers hold the registry's lock.

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};

use crate::head::Head;

/// Maximum number of tables. The providers of this project have one table per adapter name.
const MAX_TABLES: usize = 256;

/// A set of tables.
pub struct Tables {
    /// A free slot contains NULL.
    places: [AtomicPtr<Head>; MAX_TABLES],
    /// Index of the first slot that was never used.
    end: AtomicUsize,
}

/// The tables of this library in this process.
pub static TABLES: Tables = Tables::new();

impl Tables {
    const fn new() -> Self {
        Tables { places: [const { AtomicPtr::new(ptr::null_mut()) }; MAX_TABLES], end: AtomicUsize::new(0) }
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

    /// Adds `table`, if it is not in the set. Returns `false` if the set is full.
    pub fn insert(&self, table: *const Head) -> bool {
        if self.contains(table) {
            return true;
        }
        let free = self.places.iter().position(|place| place.load(Ordering::Relaxed).is_null());
        let Some(free) = free else { return false };
        self.places[free].store(table.cast_mut(), Ordering::Release);
        self.end.fetch_max(free + 1, Ordering::Release);
        true
    }

    /// Removes `table`. Only for [`retire`](crate::dispatch::retire).
    pub fn remove(&self, table: *const Head) {
        for place in &self.places {
            if ptr::eq(place.load(Ordering::Relaxed), table) {
                place.store(ptr::null_mut(), Ordering::Release);
            }
        }
    }
}

#[cfg(test)]
mod tests;
