//! The remote keys of an adapter, with the regions and windows that they identify.
//!
//! The table is searched only for a key from the program or from a message that revokes a window. Each region or window
//! reserves a row at its creation, because a bind cannot fail after the transport has chosen the key.

use host::lock::Mutex;
use host::memory::{NoMemory, Room};

use crate::slab::Handle;

const NONE: u32 = 0;

/// The remote keys of regions with remote rights and of bound windows.
#[derive(Default)]
pub(crate) struct RmrTable {
    rows: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    keys: Vec<u32>,
    owners: Vec<Handle>,
    free: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyRow(usize);

impl RmrTable {
    pub fn enter(&self) -> Result<KeyRow, NoMemory> {
        let mut rows = self.rows.lock();
        if let Some(at) = rows.free.pop() {
            return Ok(KeyRow(at));
        }
        let at = rows.keys.len();
        rows.keys.room(1)?;
        rows.owners.room(1)?;
        // Reserve memory for all rows, so that `leave` needs none.
        rows.free.room(at + 1)?;
        rows.keys.push(NONE);
        rows.owners.push(Handle::NULL);
        Ok(KeyRow(at))
    }

    /// Replaces the key in a row. The key 0 means that there is none.
    pub fn set(&self, KeyRow(at): KeyRow, key: u32, owner: Handle) {
        let mut rows = self.rows.lock();
        rows.keys[at] = key;
        rows.owners[at] = owner;
    }

    pub fn leave(&self, row: KeyRow) {
        self.set(row, NONE, Handle::NULL);
        self.rows.lock().free.push(row.0);
    }

    pub fn owner(&self, key: u32) -> Option<Handle> {
        let rows = self.rows.lock();
        let at = rows.keys.iter().position(|&known| known == key && known != NONE)?;
        Some(rows.owners[at])
    }
}

#[cfg(test)]
mod tests;
