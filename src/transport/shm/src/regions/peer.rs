use std::io;
use std::os::fd::OwnedFd;
use std::sync::atomic::{Ordering, fence};

use dat_core::Rights;
use dat_software::regions::{AccessContext, ROW_SIZE, RemoteFault, Users, split_key, within};

use super::{FIRST, RowView, TABLE_SIZE};
use crate::os::memory::{Access, SharedMemory};

#[derive(Debug)]
pub struct PeerRegions {
    memory: SharedMemory,
}

impl PeerRegions {
    pub fn open(fd: OwnedFd) -> io::Result<PeerRegions> {
        Ok(PeerRegions { memory: SharedMemory::open(fd, FIRST..=TABLE_SIZE, Access::ReadOnly)?.1 })
    }

    #[inline]
    fn row(&self, index: usize) -> Option<&RowView> {
        self.memory.view(index * ROW_SIZE).ok()
    }

    /// Returns the peer's virtual address of remote address `addr`, unchecked; `addr` if `key` is beyond the table.
    pub fn address(&self, key: u32, addr: u64) -> u64 {
        let (index, _) = split_key(key);
        // The peer may reuse the row between the two loads. [`PeerRegions::locate`] then rejects the key.
        self.row(index).map_or(addr, |row| row.addr.load().wrapping_add(addr.wrapping_sub(row.first.load())))
    }

    /// Returns whether the peer has a region or window with this key.
    pub fn exists(&self, key: u32) -> bool {
        let (index, generation) = split_key(key);
        generation != 0 && self.row(index).is_some_and(|row| row.generation.load() == generation)
    }

    /// Returns the peer's virtual address of `len` bytes at remote address `addr`. Region or window `key` must grant
    /// `wanted` to the connection, whose end at the peer is `theirs`. Takes no locks and makes no system calls.
    ///
    /// # Errors
    /// The first applicable [`RemoteFault`], in the order `Key`, `Users`, `Rights`, `Bounds`.
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
        // SYNC region-row: the loads below see the words that were published with the generation, or later words.
        fence(Ordering::Acquire);
        let (users, rights) = (Users(row.users.load()), row.rights.load());
        let (first, size, base) = (row.first.load(), row.len.load(), row.addr.load());
        // SYNC region-reuse: if any word is of a later generation, the next load does not return the old generation.
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
        // The peer has stored this address. A false address harms only the peer's own memory.
        Ok(base.wrapping_add(addr - first))
    }
}
