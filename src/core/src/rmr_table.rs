//! The remote keys of an adapter, with the regions and windows that they identify.
//!
//! The table is searched only for a key from the program or from a message that revokes a window. Each region or window
//! reserves a row at its creation, because a bind cannot fail after the transport has chosen the key.

use host::lock::Mutex;
use host::memory::{NoMemory, Room};

use crate::arena::Handle;

/// The remote keys of regions with remote rights and of bound windows.
#[derive(Default)]
pub(crate) struct RmrTable {
    table: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    /// The key of each row, and the region or window that owns the row. Key 0 means that the row has no key.
    rows: Vec<(u32, Handle)>,
    free: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KeyRow(usize);

impl RmrTable {
    pub fn enter(&self) -> Result<KeyRow, NoMemory> {
        let Rows { rows, free } = &mut *self.table.lock();
        if let Some(at) = free.pop() {
            return Ok(KeyRow(at));
        }
        let at = rows.len();
        rows.room(1)?;
        // Reserves a place for every row in `free`, so that `leave` needs no memory.
        free.room(at + 1)?;
        rows.push((0, Handle::NULL));
        Ok(KeyRow(at))
    }

    /// Replaces the key and the owner in a row. The key 0 means that the row has no key.
    pub fn set(&self, KeyRow(at): KeyRow, key: u32, owner: Handle) {
        self.table.lock().rows[at] = (key, owner);
    }

    pub fn leave(&self, row: KeyRow) {
        self.set(row, 0, Handle::NULL);
        self.table.lock().free.push(row.0);
    }

    pub fn owner(&self, key: u32) -> Option<Handle> {
        self.table.lock().rows.iter().find(|&&(known, _)| known == key && known != 0).map(|&(_, owner)| owner)
    }
}

#[cfg(test)]
mod tests;
