//! References for transfers without a thread of this process.

use std::mem::ManuallyDrop;
use std::sync::atomic::Ordering;

use super::row::split_key;
use super::{Mirror, RegionRef, RegionTable};

impl<M: Mirror> RegionTable<M> {
    /// Adds a reference to a row. Returns `false` if there is no such row.
    #[must_use]
    pub fn hold(&self, key: u32) -> bool {
        self.acquire_counted(key).map(ManuallyDrop::new).is_some()
    }

    /// Ends one [`RegionTable::hold`].
    pub fn release(&self, key: u32) {
        let (index, _) = split_key(key);
        // A row with references is not reused, even after it was closed.
        if let Some(local) = self.local(index) {
            if local.state.load(Ordering::Relaxed) & super::REFERENCES != 0 {
                drop(RegionRef { waiters: &self.waiters, local, section: None });
            }
        }
    }
}
