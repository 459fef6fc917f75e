//! The table of registered memory that a process publishes, and its peers' tables.
//!
//! The rows of a [`RegionTable`] have a mirror in [`SharedMemory`] that peers map read-only: see
//! [`dat_software::regions`].

use std::io;
use std::sync::atomic::{AtomicU32, AtomicU64};

use dat_software::regions::{CHUNK, Mirror, ROW_SIZE, ROWS, RegionTable, Row};
use host::{limit, memory};

use crate::os::memory::{Access, Shared, SharedFile, SharedMemory, SharedView, View};

mod peer;

pub use peer::PeerRegions;

const TABLE_SIZE: usize = ROWS * ROW_SIZE;
const FIRST: usize = CHUNK * ROW_SIZE;

// SAFETY: the struct consists of atomic words, with a fixed layout.
unsafe impl Shared for Row {}

type RowView = Row<View<AtomicU32>, View<AtomicU64>>;

// SAFETY: the struct consists of words that can only be loaded, with a fixed layout.
unsafe impl SharedView for RowView {}

const _: () = assert!(size_of::<RowView>() == ROW_SIZE);

struct Published(SharedMemory);

impl Mirror for Published {
    #[inline]
    fn row(&self, index: usize) -> Option<&Row> {
        self.0.at(index * ROW_SIZE).ok()
    }
}

/// Creates an empty table, and the file that peers map. The file has all rows that the file size limit allows, at most
/// [`ROWS`], so that peers map it only once.
///
/// # Errors
/// The errors of [`SharedMemory::create`].
pub fn publish() -> io::Result<(SharedFile, RegionTable)> {
    let most = limit::file_size().ok().flatten().and_then(|most| usize::try_from(most).ok());
    let size = most.unwrap_or(TABLE_SIZE).clamp(FIRST, TABLE_SIZE) / FIRST * FIRST;
    let (file, memory) = SharedMemory::create("dat-shm-regions", size, Access::ReadOnly)?;
    let mirror = memory::boxed(Published(memory))?;
    Ok((file, RegionTable::new(Some(mirror), (size / ROW_SIZE) as u32)))
}

#[cfg(test)]
mod tests;
