//! The table of a peer.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{Ordering, fence};

use dat_core::Rights;
use dat_memory::regions::{AccessContext, ROW_SIZE, RemoteFault, Users, split_key, within};

use super::{FIRST, RowView, TABLE_SIZE};
use crate::os::memory::{Access, SharedMemory};

/// A peer's table.
#[derive(Debug)]
pub struct PeerRegions {
    memory: SharedMemory,
}

impl PeerRegions {
    /// Maps the table behind [`Published::file`](super::Published::file).
    ///
    /// # Errors
    /// As for [`SharedMemory::open`].
    pub fn open(fd: OwnedFd) -> io::Result<PeerRegions> {
        Ok(PeerRegions { memory: SharedMemory::open(fd, FIRST..=TABLE_SIZE, Access::ReadOnly)?.1 })
    }

    #[inline]
    fn row(&self, index: usize) -> Option<&RowView> {
        self.memory.view(index * ROW_SIZE).ok()
    }

    /// The address of the byte that peers name `addr` in the region or window `key`, whether it is inside or not; `addr`
    /// if there is no such region.
    pub fn address(&self, key: u32, addr: u64) -> u64 {
        let (index, _) = split_key(key);
        // What is read of another generation, or of several, names an address that no check will give.
        self.row(index).map_or(addr, |row| row.addr.load().wrapping_add(addr.wrapping_sub(row.first.load())))
    }

    /// Checks that the peer's region or window `key` grants `wanted` on the `len` bytes that it names `addr`, over the
    /// connection whose end there is `theirs`. Gives the address of the first byte. Takes no lock and makes no system
    /// call.
    ///
    /// # Errors
    /// The first of [`RemoteFault::Key`], [`RemoteFault::Users`], [`RemoteFault::Rights`],
    /// [`RemoteFault::Bounds`] that applies.
    #[inline]
    pub fn locate(
        &self,
        key: u32,
        addr: u64,
        len: u64,
        wanted: Rights,
        theirs: &AccessContext,
    ) -> Result<u64, RemoteFault> {
        let (index, generation) = split_key(key);
        let Some(row) = self.row(index) else { return Err(RemoteFault::Key) };
        let before = row.generation.load();
        // SYNC region-row: with the generation came the words.
        fence(Ordering::Acquire);
        let (users, rights) = (Users(row.users.load()), row.rights.load());
        let (first, size, base) = (row.first.load(), row.len.load(), row.addr.load());
        // SYNC region-reuse: had a word been of a later generation, the next load
        // would not find this one.
        fence(Ordering::Acquire);
        if generation == 0 || before != generation || row.generation.load() != generation {
            return Err(RemoteFault::Key);
        }
        if !users.admit(theirs) {
            return Err(RemoteFault::Users);
        }
        if !Rights::from_bits_truncate(rights as u8).contains(wanted) {
            return Err(RemoteFault::Rights);
        }
        if !within(addr, len, first, size) {
            return Err(RemoteFault::Bounds);
        }
        // Where a peer says that its own memory is, is its own concern.
        Ok(base.wrapping_add(addr - first))
    }
}
