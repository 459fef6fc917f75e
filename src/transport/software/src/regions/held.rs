//! Rows that are held while something moves bytes that no thread of this process watches.

use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;

use super::row::split_key;
use super::{Mirror, RegionRef, RegionTable};

impl<M: Mirror> RegionTable<M> {
    /// Pins a row until [`RegionTable::release`] is called as often; false if there is none.
    #[must_use]
    pub fn hold(&self, key: u32) -> bool {
        self.acquire_counted(key).map(ManuallyDrop::new).is_some()
    }

    /// Ends one [`RegionTable::hold`] of a row.
    pub fn release(&self, key: u32) {
        let (index, _) = split_key(key);
        // A row that is held is not used again, even once it has been closed.
        if let Some(local) = self.local(index) {
            if local.state.load(Ordering::Relaxed) & super::REFERENCES != 0 {
                drop(RegionRef { waiters: &self.waiters, local, section: None });
            }
        }
    }
}
