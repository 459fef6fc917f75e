//! The remote keys of an adapter, by which peers name its regions and windows: whose each of them is.
//!
//! Only calls that are given such a key look here, and reports that name one. The keys lie side by side and are searched, so that
//! a bind, which can no longer fail when its key is known, only has to write it down.

use host::lock::Mutex;
use host::memory::{NoMemory, Room};

use crate::slab::Handle;

/// The key of nothing.
const NONE: u32 = 0;

/// The remote keys of regions that peers may use, and of windows that are bound.
#[derive(Default)]
pub(crate) struct RmrTable {
    rows: Mutex<Rows>,
}

/// As many keys as owners.
#[derive(Default)]
struct Rows {
    keys: Vec<u32>,
    owners: Vec<Handle>,
    free: Vec<usize>,
}

/// A place in the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyRow(usize);

impl RmrTable {
    /// A place for the key of one owner.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn enter(&self) -> Result<KeyRow, NoMemory> {
        let mut rows = self.rows.lock();
        if let Some(at) = rows.free.pop() {
            return Ok(KeyRow(at));
        }
        let at = rows.keys.len();
        rows.keys.room(1)?;
        rows.owners.room(1)?;
        // Room for all that can be left, so that leaving needs no memory.
        rows.free.room(at + 1)?;
        rows.keys.push(NONE);
        rows.owners.push(Handle::NULL);
        Ok(KeyRow(at))
    }

    /// Replaces the key at a place; 0 is none.
    pub fn set(&self, KeyRow(at): KeyRow, key: u32, owner: Handle) {
        let mut rows = self.rows.lock();
        rows.keys[at] = key;
        rows.owners[at] = owner;
    }

    /// Gives a place back.
    pub fn leave(&self, row: KeyRow) {
        self.set(row, NONE, Handle::NULL);
        self.rows.lock().free.push(row.0);
    }

    /// The object that a key belongs to.
    pub fn owner(&self, key: u32) -> Option<Handle> {
        let rows = self.rows.lock();
        let at = rows.keys.iter().position(|&known| known == key && known != NONE)?;
        Some(rows.owners[at])
    }
}

#[cfg(test)]
mod tests;
