//! The table of registered memory that a process shows to its peers, and those of the peers.
//!
//! The rows of a [`RegionTable`] have a mirror in [`SharedMemory`] that peers map for reading. See [`dat_memory::regions`]
//! for what a row says and who relies on it.

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64};

use dat_memory::regions::{self, CHUNK, Mirror, ROW_SIZE, ROWS, Row};
use host::limit;

use crate::os::memory::{Access, Shared, SharedFile, SharedMemory, SharedView, View};

mod peer;

pub use peer::PeerRegions;

/// The owner's side of a table that peers see.
pub type RegionTable = regions::RegionTable<Published>;

/// Bytes of a full table.
const TABLE_SIZE: usize = ROWS * ROW_SIZE;
/// Bytes of the smallest table.
const FIRST: usize = CHUNK * ROW_SIZE;

// SAFETY: atomic words with a fixed layout.
unsafe impl Shared for Row {}

/// A [`Row`] without the means to write.
type RowView = Row<View<AtomicU32>, View<AtomicU64>>;

// SAFETY: words that can only be loaded, with a fixed layout.
unsafe impl SharedView for RowView {}

const _: () = assert!(size_of::<RowView>() == ROW_SIZE);

/// The rows that peers see.
#[derive(Debug)]
pub struct Published {
    /// What peers map: see [`PeerRegions::open`].
    pub file: SharedFile,
    memory: SharedMemory,
}

impl Mirror for Published {
    #[inline]
    fn row(&self, index: usize) -> Option<&Row> {
        self.memory.at(index * ROW_SIZE).ok()
    }
}

/// Makes an empty table. It has all its rows from the beginning, as many as the limit for files allows, so that peers
/// need no descriptor to find new ones.
///
/// # Errors
/// As for [`SharedMemory::create`].
pub fn publish() -> io::Result<RegionTable> {
    let most = limit::file_size().ok().flatten().and_then(|most| usize::try_from(most).ok());
    let size = most.unwrap_or(TABLE_SIZE).clamp(FIRST, TABLE_SIZE) / FIRST * FIRST;
    let (file, memory) = SharedMemory::create("dat-shm-regions", size, Access::ReadOnly)?;
    Ok(RegionTable::new(Published { file, memory }, (size / ROW_SIZE) as u32))
}

#[cfg(test)]
mod tests;
