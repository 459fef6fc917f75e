//! The table of registered memory that a process shows to its peers.
//!
//! A [`RegionTable`] lies in [`SharedMemory`] that peers map for reading, so that the side that starts an RDMA
//! operation checks it against the target's registered regions without asking the target. A row is named by a *key* of
//! 32 bits: 18 bits for the row, 14 for its generation. Generations are never 0, so no key is 0, and a key returns only
//! after very many registrations.
//!
//! The owner keeps the rows that it relies on itself in private memory. A thread that copies into or out of the
//! program's memory holds a [`Pin`] meanwhile, and [`RegionTable::remove`] waits for the last of them, so that memory is
//! never taken away during a copy. A pin is a note that the thread makes of the row's address
//! ([`dat_core::Note`]), which costs no locked instruction; where it has no place for one, it counts in the row. Copies of a
//! few bytes are made in a section instead ([`live_source`]), for which the end of a registration waits as well.
//!
//! Peers cannot pin. A free waits for peers that are in the middle of a transfer, see the adapter.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use dat_core::transport::Segment;
use dat_core::{Live, Note, Rights, is_noted};
use host::asymmetric;
use host::lock::{Condvar, Mutex};
use host::memory::{self, NoMemory, Room};

use crate::os::memory::{Access, Shared, SharedMemory, SharedView, ViewU32, ViewU64};
use crate::os::user::{Source, Target};

/// Rows of a table.
pub const ROWS: usize = 1 << INDEX_BITS;

/// Bytes of a full table.
const TABLE_SIZE: usize = ROWS * ROW_SIZE;

const INDEX_BITS: u32 = 18;
const GENERATIONS: u32 = 1 << (32 - INDEX_BITS);
/// Bytes of a row.
pub const ROW_SIZE: usize = 32;

/// Rows that stay unused after their removal before one of them is used again, as long
/// as there are rows that never were used.
const REST: usize = 1024;

/// Rows in a chunk. The table grows by the chunk, and private rows are made by the chunk.
const CHUNK: usize = 1024;
/// Bytes of a table without rows.
const FIRST: usize = CHUNK * ROW_SIZE;

/// The reason why a peer's operation on registered memory is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteFault {
    /// There is no such region, or not any more.
    Key,
    /// The region belongs to another protection zone.
    Zone,
    /// The region does not grant the operation.
    Rights,
    /// The range reaches beyond the region.
    Bounds,
}

/// A row as peers see it.
#[derive(Debug)]
#[repr(C)]
struct Row {
    /// 0 while the row is free.
    generation: AtomicU32,
    rights: AtomicU32,
    zone: AtomicU32,
    unused: AtomicU32,
    addr: AtomicU64,
    len: AtomicU64,
}

// SAFETY: atomic words with a fixed layout.
unsafe impl Shared for Row {}

/// A [`Row`] without the means to write.
#[derive(Debug)]
#[repr(C)]
struct RowView {
    generation: ViewU32,
    rights: ViewU32,
    zone: ViewU32,
    unused: ViewU32,
    addr: ViewU64,
    len: ViewU64,
}

// SAFETY: words that can only be loaded, with a fixed layout.
unsafe impl SharedView for RowView {}

const _: () = assert!(size_of::<Row>() == ROW_SIZE && size_of::<RowView>() == ROW_SIZE);

#[inline]
fn split_key(key: u32) -> (usize, u32) {
    ((key & (ROWS as u32 - 1)) as usize, key >> INDEX_BITS)
}

/// True if `len` bytes at `addr` are inside of the `size` bytes at `base`.
#[inline]
fn within(addr: u64, len: u64, base: u64, size: u64) -> bool {
    addr >= base && addr - base <= size && len <= size - (addr - base)
}

/// A row as its owner keeps it. Each has a cache line of its own, because pins of different regions must not slow each
/// other down.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Local {
    /// Generation, a bit for a waiting [`RegionTable::remove`], and the pins that are not notes.
    state: AtomicU64,
    addr: AtomicU64,
    len: AtomicU64,
    rights: AtomicU32,
    zone: AtomicU32,
}

impl Local {
    /// What a note of it says.
    #[inline]
    fn address(&self) -> usize {
        ptr::from_ref(self).addr()
    }
}

const PINS: u64 = (1 << 31) - 1;
const WAITER: u64 = 1 << 31;
const GENERATION_SHIFT: u32 = 32;

/// The rows that are free.
#[derive(Debug)]
struct Free {
    /// Rows from here on have never been used.
    fresh: u32,
    /// Removed rows, the longest unused first, with their next generations.
    removed: VecDeque<(u32, u32)>,
}

/// The owner's side of the table.
#[derive(Debug)]
pub struct RegionTable {
    memory: SharedMemory,
    chunks: Box<[OnceLock<Box<[Local; CHUNK]>>]>,
    free: Mutex<Free>,
    /// [`RegionTable::remove`] sleeps with this lock until pins are gone.
    sleepers: Mutex<()>,
    unpinned: Condvar,
}

impl RegionTable {
    /// Makes an empty table.
    ///
    /// # Errors
    /// As for [`SharedMemory::create`].
    pub fn new() -> io::Result<RegionTable> {
        Ok(RegionTable {
            memory: SharedMemory::create_growing("dat-shm-regions", FIRST, TABLE_SIZE, Access::ReadOnly)?,
            chunks: (0..ROWS / CHUNK).map(|_| OnceLock::new()).collect(),
            free: Mutex::new(Free { fresh: 0, removed: VecDeque::new() }),
            sleepers: Mutex::new(()),
            unpinned: Condvar::new(),
        })
    }

    /// The descriptor that peers map with [`PeerRegions::open`].
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.memory.fd()
    }

    /// Enters the `len` bytes at `addr`, a whole region or the part of one that a window shows, and
    /// returns the key. `None` if all rows are in use, or the range goes past the end of
    /// the address space.
    ///
    /// # Safety
    /// Until [`RegionTable::remove`] returns, the bytes can be read, and can be written if
    /// `rights` has a right to write. (A program promises that when it registers memory.)
    pub unsafe fn insert(&self, addr: u64, len: u64, rights: Rights, zone: u32) -> Option<u32> {
        addr.checked_add(len)?;
        let (index, generation) = self.allocate()?;
        let local = self.local(index as usize)?;
        let row: &Row = self.memory.at(index as usize * ROW_SIZE).ok()?;
        local.addr.store(addr, Ordering::Relaxed);
        local.len.store(len, Ordering::Relaxed);
        local.rights.store(rights.bits().into(), Ordering::Relaxed);
        local.zone.store(zone, Ordering::Relaxed);
        // Added, not stored: another thread may just be trying a key of the past and have the count up for a moment.
        // SYNC region-pin: hands the words above to a thread that finds the generation.
        local.state.fetch_add(u64::from(generation) << GENERATION_SHIFT, Ordering::Release);
        // SYNC region-reuse: a peer that finds any of the words below finds the row's old generation gone.
        fence(Ordering::Release);
        row.addr.store(addr, Ordering::Relaxed);
        row.len.store(len, Ordering::Relaxed);
        row.rights.store(rights.bits().into(), Ordering::Relaxed);
        row.zone.store(zone, Ordering::Relaxed);
        // SYNC region-row: hands the words above to a peer that finds the generation.
        row.generation.store(generation, Ordering::Release);
        Some(generation << INDEX_BITS | index)
    }

    fn allocate(&self) -> Option<(u32, u32)> {
        let mut free = self.free.lock();
        let fresh = free.fresh as usize;
        let end = (fresh / CHUNK + 1) * CHUNK * ROW_SIZE;
        if fresh < ROWS && free.removed.len() < REST && self.memory.grow(end).is_ok() && self.has_local(&mut free) {
            free.fresh += 1;
            return Some((free.fresh - 1, 1));
        }
        free.removed.pop_front()
    }

    /// Whether this process's side of the next fresh row is there, or could be made, and room for it among the rows that
    /// were removed.
    fn has_local(&self, free: &mut Free) -> bool {
        let index = free.fresh as usize;
        let Some(place) = self.chunks.get(index / CHUNK) else { return false };
        if place.get().is_some() {
            return true;
        }
        let more = (index / CHUNK + 1) * CHUNK - free.removed.len();
        if free.removed.room(more).is_err() {
            return false;
        }
        chunk().is_ok_and(|rows| place.set(rows).is_ok())
    }

    /// Whether no row is left; otherwise a region that is not entered lacks memory.
    pub fn is_full(&self) -> bool {
        self.free.lock().fresh as usize >= ROWS
    }

    /// Takes out the row that `key` names and waits until no thread has it pinned; false if it was not there. Not to be
    /// called with a pin of the same key in hand.
    pub fn remove(&self, key: u32) -> bool {
        let (index, generation) = split_key(key);
        let Some(local) = self.local(index) else { return false };
        let gone = |state: u64| {
            let alive = generation != 0 && (state >> GENERATION_SHIFT) as u32 == generation;
            alive.then_some(state & PINS | WAITER)
        };
        // SYNC region-pin: a pin that is counted before has to be waited for; one that
        // comes later finds the generation gone.
        if local.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, gone).is_err() {
            return false;
        }
        if let Ok(row) = self.memory.at::<Row>(index * ROW_SIZE) {
            row.generation.store(0, Ordering::Relaxed);
        }
        // SYNC region-note: a thread that makes a note finds the generation gone, or its note is found; one that drops it
        // finds the bit for us, or its note is found gone.
        asymmetric::heavy();
        let mut sleeper = self.sleepers.lock();
        // SYNC region-unpin: the copies of the threads that had it pinned are over.
        while local.state.load(Ordering::Acquire) & PINS != 0 || is_noted(local.address()) {
            self.unpinned.wait(&mut sleeper);
        }
        drop(sleeper);
        local.state.fetch_and(!WAITER, Ordering::Relaxed);
        let next = generation % (GENERATIONS - 1) + 1;
        self.free.lock().removed.push_back((index as u32, next));
        true
    }

    #[inline]
    fn local(&self, index: usize) -> Option<&Local> {
        self.chunks.get(index / CHUNK)?.get()?.get(index % CHUNK)
    }

    /// Holds on to the region that `key` names; `None` if there is none. Neither
    /// allocates nor waits.
    #[inline(always)]
    pub fn pin(&self, key: u32) -> Option<Pin<'_>> {
        let (index, generation) = split_key(key);
        let local = self.local(index)?;
        // The pin ends with this call if there is no such region.
        let pin = Pin { table: self, local, note: Note::new(local.address()) };
        // SYNC region-note: the note comes first, so that a thread that removes the row sees it or we see that the row is
        // gone.
        // SYNC region-pin: the same holds for the count; and the words that came with the generation are visible.
        let state = match pin.note {
            Some(_) => local.state.load(Ordering::Acquire),
            None => local.state.fetch_add(1, Ordering::AcqRel),
        };
        (generation != 0 && (state >> GENERATION_SHIFT) as u32 == generation).then_some(pin)
    }

    #[cold]
    fn wake(&self) {
        // With the lock taken, no remover is between its look and its sleep.
        let _sleepers = self.sleepers.lock();
        self.unpinned.notify_all();
    }
}

/// A chunk of empty rows, if there is memory.
fn chunk() -> Result<Box<[Local; CHUNK]>, NoMemory> {
    let mut rows = memory::vec(CHUNK)?;
    rows.extend((0..CHUNK).map(|_| Local::default()));
    rows.into_boxed_slice().try_into().map_err(|_| NoMemory)
}

/// Registered memory that cannot be deregistered as long as this lives.
#[derive(Debug)]
#[must_use]
pub struct Pin<'t> {
    table: &'t RegionTable,
    local: &'t Local,
    /// `None` if it is counted in the row.
    note: Option<Note>,
}

impl Pin<'_> {
    /// Checks that `wanted` is granted on the `len` bytes at `addr`.
    ///
    /// # Errors
    /// [`RemoteFault::Rights`], [`RemoteFault::Bounds`].
    #[inline]
    pub fn check(&self, addr: u64, len: u64, wanted: Rights) -> Result<(), RemoteFault> {
        if !self.rights().contains(wanted) {
            return Err(RemoteFault::Rights);
        }
        let (base, size) = (self.local.addr.load(Ordering::Relaxed), self.local.len.load(Ordering::Relaxed));
        if within(addr, len, base, size) { Ok(()) } else { Err(RemoteFault::Bounds) }
    }

    /// The protection zone of the region.
    #[inline]
    pub fn zone(&self) -> u32 {
        self.local.zone.load(Ordering::Relaxed)
    }

    /// The rights that the region grants.
    #[inline]
    pub fn rights(&self) -> Rights {
        Rights::from_bits_truncate(self.local.rights.load(Ordering::Relaxed) as u8)
    }

    /// Bytes to copy from, if `wanted` is granted; with [`Rights::NONE`] they need only be
    /// there.
    ///
    /// # Errors
    /// As for [`Pin::check`].
    #[inline]
    pub fn source(&self, addr: u64, len: u64, wanted: Rights) -> Result<Source<'_>, RemoteFault> {
        self.check(addr, len, wanted)?;
        // SAFETY: inside of what the contract of `insert` says can be read as long as the
        // row is not removed, for which its removal waits for us.
        Ok(unsafe { Source::new(addr, len as usize) })
    }

    /// Bytes to copy to, if `wanted` is granted, which has to have a right to write.
    ///
    /// # Errors
    /// As for [`Pin::check`]; [`RemoteFault::Rights`] if `wanted` has no right to write.
    #[inline]
    pub fn target(&self, addr: u64, len: u64, wanted: Rights) -> Result<Target<'_>, RemoteFault> {
        if !wanted.intersects(Rights::LOCAL_WRITE | Rights::REMOTE_WRITE) {
            return Err(RemoteFault::Rights);
        }
        self.check(addr, len, wanted)?;
        // SAFETY: inside of what the contract of `insert` says can be written, for the
        // region has a right to write, as long as the row is not removed.
        Ok(unsafe { Target::new(addr, len as usize) })
    }
}

impl Drop for Pin<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        let waiter = match self.note.take() {
            Some(note) => {
                // SYNC region-unpin: our copies are over. SYNC region-note: the note is gone before we look.
                drop(note);
                self.local.state.load(Ordering::Relaxed) & WAITER != 0
            }
            None => {
                // SYNC region-unpin
                let state = self.local.state.fetch_sub(1, Ordering::Release);
                state & WAITER != 0 && state & PINS == 1
            }
        };
        if waiter {
            self.table.wake();
        }
    }
}

/// The bytes of a segment that the core has checked.
///
/// # Safety
/// The core has found the segment registered in the section.
#[inline(always)]
pub unsafe fn live_source<'s>(_live: Live<'s>, segment: &Segment) -> Source<'s> {
    // SAFETY: they belong to a region that was entered by `insert`, whose contract is that they can be read until the
    // program has deregistered it, which waits for the section.
    unsafe { Source::new(segment.addr, segment.len as usize) }
}

/// The first `len` bytes, or all, of a segment that the core has checked for a receive, to be written.
///
/// # Safety
/// As for [`live_source`].
#[inline(always)]
pub unsafe fn live_target<'s>(_live: Live<'s>, segment: &Segment, len: usize) -> Target<'s> {
    // SAFETY: as for a source; and a receive needs a region with a right to write, so that they can be written.
    unsafe { Target::new(segment.addr, len.min(segment.len as usize)) }
}

/// A peer's table.
#[derive(Debug)]
pub struct PeerRegions {
    memory: SharedMemory,
}

impl PeerRegions {
    /// Maps the table behind [`RegionTable::fd`].
    ///
    /// # Errors
    /// As for [`SharedMemory::open`].
    pub fn open(fd: OwnedFd) -> io::Result<PeerRegions> {
        Ok(PeerRegions { memory: SharedMemory::open_growing(fd, FIRST, TABLE_SIZE, Access::ReadOnly)? })
    }

    #[inline]
    fn row(&self, index: usize) -> Option<&RowView> {
        let at = index * ROW_SIZE;
        // Keys above all that were seen so far may be in a part that is new.
        self.memory.view(at).ok().or_else(|| self.memory.has_grown(at + ROW_SIZE).then(|| self.memory.view(at).ok())?)
    }

    /// Checks that the peer's region or window `key` of the zone `zone` grants `wanted` on the `len` bytes at `addr`, as
    /// the peer counts. Takes no lock and makes no system call.
    ///
    /// # Errors
    /// The first of [`RemoteFault::Key`], [`RemoteFault::Zone`], [`RemoteFault::Rights`],
    /// [`RemoteFault::Bounds`] that applies.
    #[inline]
    pub fn check(&self, key: u32, addr: u64, len: u64, wanted: Rights, zone: u32) -> Result<(), RemoteFault> {
        let (index, generation) = split_key(key);
        let Some(row) = self.row(index) else { return Err(RemoteFault::Key) };
        let before = row.generation.load();
        // SYNC region-row: with the generation came the words.
        fence(Ordering::Acquire);
        let (row_zone, rights, base, size) = (row.zone.load(), row.rights.load(), row.addr.load(), row.len.load());
        // SYNC region-reuse: had a word been of a later generation, the next load
        // would not find this one.
        fence(Ordering::Acquire);
        if generation == 0 || before != generation || row.generation.load() != generation {
            return Err(RemoteFault::Key);
        }
        if row_zone != zone {
            return Err(RemoteFault::Zone);
        }
        if !Rights::from_bits_truncate(rights as u8).contains(wanted) {
            return Err(RemoteFault::Rights);
        }
        if within(addr, len, base, size) { Ok(()) } else { Err(RemoteFault::Bounds) }
    }
}

#[cfg(test)]
mod tests;
