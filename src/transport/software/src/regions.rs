//! The table of registered memory of a process.
//!
//! A 32-bit *key* names a row: an index of 18 bits and a generation of 14, which is never 0. Keys are reused only after
//! many registrations.
//!
//! Peers may map a read-only [`Mirror`] of the rows, against which an RDMA initiator checks its requests. The owner
//! never reads the mirror.
//!
//! A thread that accesses the program's memory holds a [`RegionRef`], for which [`RegionTable::remove`] waits. For a
//! short copy, the reference is a [`host::epoch`] section, which needs no locked instruction but delays all removals.
//! For a long copy, or without a section, the reference is counted in the row. A [`CheckedSegment`] borrows its
//! caller's section. Peers hold no references, so a free must also wait for their copies.
//!
//! Remote addresses start at [`Row::first`], the virtual address or 0; local segments and rendezvous messages use
//! virtual addresses. A window of one endpoint admits the connection whose port qualifier is in the row.
//!
//! A thread that waits for sections must not hold a lock for which a thread in a section may wait.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use dat_core::{CheckedSegment, Rights, Writable};
use host::epoch::{self, EpochGuard, Memory};
use host::lock::{Condvar, Mutex};
use host::memory::{self, NoMemory, Room};

use crate::user::{Source, Target};

mod granted;
mod row;

pub use granted::Granted;
pub use row::{AccessContext, NewRow, RemoteFault, Row, Users, next_port, split_key, within};

/// Maximum number of rows.
pub const ROWS: usize = 1 << INDEX_BITS;

const INDEX_BITS: u32 = 18;
const GENERATIONS: u32 = 1 << (32 - INDEX_BITS);
/// Bytes of a row of the mirror.
pub const ROW_SIZE: usize = 64;

/// While an unused row can be allocated, a removed row is reused only if at least this many rows are removed.
const QUARANTINE: usize = 1024;

/// Rows per chunk, the unit of allocation.
pub const CHUNK: usize = 1024;

/// All rights to write.
pub const WRITES: Rights = Rights::LOCAL_WRITE.union(Rights::REMOTE_WRITE).union(Rights::REMOTE_ATOMIC);

/// A row of the owner, which peers cannot read. It has its own cache line to avoid contention.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Local {
    /// Generation, [`WAITER`], [`REVOKING`], and the number of counted references.
    state: AtomicU64,
    addr: AtomicU64,
    len: AtomicU64,
    first: AtomicU64,
    users: AtomicU64,
    rights: AtomicU32,
}

impl Local {
    fn is_referenced(&self) -> bool {
        // SYNC region-unpin: if the count is 0, all copies under earlier references have completed.
        self.state.load(Ordering::Acquire) & REFERENCES != 0
    }
}

/// Bit in [`Local::rights`] of a window.
const WINDOW: u32 = 1 << 8;

const REFERENCES: u64 = (1 << 30) - 1;
/// Set while a thread waits in [`RegionTable::invalidate`].
const REVOKING: u64 = 1 << 30;
const WAITER: u64 = 1 << 31;
const GENERATION_SHIFT: u32 = 32;
/// Bit of the generation: a peer has revoked the window, whose owner must still remove the row.
const REVOKED: u32 = 1 << 31;

#[derive(Debug)]
struct Free {
    /// Index of the first unused row.
    fresh: u32,
    /// Indices of removed rows with their next generations, oldest first.
    removed: VecDeque<(u32, u32)>,
}

/// The copies of a table's rows that peers can read.
pub trait Mirror: Send + Sync {
    /// Returns the mirror of row `index`; `None` if peers cannot read it.
    fn row(&self, index: usize) -> Option<&Row>;
}

/// The owner's side of the table.
#[repr(C)]
pub struct RegionTable {
    /// First, so that [`RegionRef`] gets its address without an addition.
    waiters: Waiters,
    /// `None` if peers cannot read the table.
    mirror: Option<Box<dyn Mirror>>,
    rows: u32,
    chunks: Box<[OnceLock<Box<[Local; CHUNK]>>]>,
    free: Mutex<Free>,
}

/// Threads that wait for counted references.
#[derive(Debug)]
struct Waiters {
    sleepers: Mutex<()>,
    released: Condvar,
}

impl RegionTable {
    /// Creates an empty table of `rows` rows, at most [`ROWS`].
    pub fn new(mirror: Option<Box<dyn Mirror>>, rows: u32) -> RegionTable {
        RegionTable {
            mirror,
            rows: rows.min(ROWS as u32),
            chunks: (0..ROWS / CHUNK).map(|_| OnceLock::new()).collect(),
            free: Mutex::new(Free { fresh: 0, removed: VecDeque::new() }),
            waiters: Waiters { sleepers: Mutex::new(()), released: Condvar::new() },
        }
    }

    /// Inserts a region or window, and returns its key; `None` if no row is free, if memory is exhausted, or if the
    /// addresses overflow.
    ///
    /// # Safety
    /// Until [`RegionTable::remove`] returns, the bytes must be readable, and writable if the rights include one of
    /// [`WRITES`].
    pub unsafe fn insert(&self, entry: &NewRow) -> Option<u32> {
        let NewRow { addr, len, first, rights, users, window } = *entry;
        addr.checked_add(len)?;
        first.checked_add(len)?;
        let (index, generation) = self.allocate()?;
        let local = self.local(index as usize)?;
        let rights = u32::from(rights.bits());
        local.addr.store(addr, Ordering::Relaxed);
        local.len.store(len, Ordering::Relaxed);
        local.first.store(first, Ordering::Relaxed);
        local.users.store(users.0, Ordering::Relaxed);
        local.rights.store(rights | if window { WINDOW } else { 0 }, Ordering::Relaxed);
        // An addition, because a thread with an old key may briefly have incremented the count.
        // SYNC region-pin: publishes the words above to a thread that loads the generation.
        local.state.fetch_add(u64::from(generation) << GENERATION_SHIFT, Ordering::Release);
        if let Some(row) = self.mirrored(index as usize) {
            // SYNC region-reuse: a peer that loads any word below sees that the old generation has ended.
            fence(Ordering::Release);
            row.rights.store(rights, Ordering::Relaxed);
            row.users.store(users.0, Ordering::Relaxed);
            row.first.store(first, Ordering::Relaxed);
            row.len.store(len, Ordering::Relaxed);
            row.addr.store(addr, Ordering::Relaxed);
            // SYNC region-row: publishes the words above to a peer that loads the generation.
            row.generation.store(generation, Ordering::Release);
        }
        Some(generation << INDEX_BITS | index)
    }

    fn allocate(&self) -> Option<(u32, u32)> {
        let mut free = self.free.lock();
        if free.fresh < self.rows && free.removed.len() < QUARANTINE && self.has_local(&mut free) {
            free.fresh += 1;
            return Some((free.fresh - 1, 1));
        }
        free.removed.pop_front()
    }

    /// Allocates the chunk of the next unused row, and room in `removed`, unless they exist. Returns whether they exist
    /// then.
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

    /// Returns whether `insert` failed for lack of rows rather than of memory.
    pub fn is_full(&self) -> bool {
        self.free.lock().fresh >= self.rows
    }

    /// Removes the row of `key`, even if a peer has revoked it, and waits until all references to it are dropped; the
    /// caller must hold none. Returns `false` if there is no such row.
    pub fn remove(&self, key: u32) -> bool {
        let (index, generation) = split_key(key);
        let gone = |state: u64| {
            let there = generation != 0 && (state >> GENERATION_SHIFT) as u32 & !REVOKED == generation;
            there.then_some(state & (REFERENCES | REVOKING) | WAITER)
        };
        let Some(local) = self.close(index, gone) else { return false };
        let mut sleeper = self.waiters.sleepers.lock();
        // A concurrent `invalidate` uses the row until it clears REVOKING.
        while local.is_referenced() || local.state.load(Ordering::Relaxed) & REVOKING != 0 {
            self.waiters.released.wait(&mut sleeper);
        }
        drop(sleeper);
        local.state.fetch_and(!WAITER, Ordering::Relaxed);
        let next = generation % (GENERATIONS - 1) + 1;
        self.free.lock().removed.push_back((index as u32, next));
        true
    }

    /// Replaces the state of the row at `index` by `gone(state)`, which prevents new references. Then waits for
    /// sections that may have older references. Returns `None`, without effect, if there is no such row or `gone`
    /// returns `None`.
    fn close(&self, index: usize, gone: impl Fn(u64) -> Option<u64>) -> Option<&Local> {
        let local = self.local(index)?;
        // SYNC region-pin: changes of one word are ordered: this thread waits for earlier counted references; later
        // ones see the end of the generation.
        local.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, gone).ok()?;
        if let Some(row) = self.mirrored(index) {
            row.generation.store(0, Ordering::Relaxed);
        }
        epoch::synchronize::<Memory>(None);
        Some(local)
    }

    fn mirrored(&self, index: usize) -> Option<&Row> {
        self.mirror.as_ref()?.row(index)
    }

    #[inline]
    fn local(&self, index: usize) -> Option<&Local> {
        self.chunks.get(index / CHUNK)?.get()?.get(index % CHUNK)
    }

    /// Returns a reference for a copy within this process; `None` if no region has `key`. Never allocates or waits.
    #[inline(always)]
    pub fn acquire(&self, key: u32) -> Option<RegionRef<'_>> {
        match EpochGuard::enter() {
            section @ Some(_) => self.acquire_with(key, section),
            None => self.acquire_counted(key),
        }
    }

    /// Does what [`RegionTable::acquire`] does, for a copy that may take long: counts the reference in the row.
    #[inline]
    pub fn acquire_counted(&self, key: u32) -> Option<RegionRef<'_>> {
        self.acquire_with(key, None)
    }

    #[inline(always)]
    fn acquire_with(&self, key: u32, section: Option<EpochGuard<Memory>>) -> Option<RegionRef<'_>> {
        let (index, generation) = split_key(key);
        let local = self.local(index)?;
        // SYNC region-pin: the words that were published with the generation are visible.
        let state = match section {
            Some(_) => local.state.load(Ordering::Acquire),
            None => local.state.fetch_add(1, Ordering::AcqRel),
        };
        // If the key is stale, dropping this decrements the count again.
        let region_ref = RegionRef { waiters: &self.waiters, local, section };
        (generation != 0 && (state >> GENERATION_SHIFT) as u32 == generation).then_some(region_ref)
    }
}

impl Waiters {
    #[cold]
    fn wake(&self) {
        // While this thread holds the lock, no other thread is between its check and its sleep, so none misses this
        // wakeup.
        let _sleepers = self.sleepers.lock();
        self.released.notify_all();
    }
}

fn chunk() -> Result<Box<[Local; CHUNK]>, NoMemory> {
    let mut rows = memory::vec(CHUNK)?;
    rows.extend((0..CHUNK).map(|_| Local::default()));
    rows.into_boxed_slice().try_into().map_err(|_| NoMemory)
}

/// A reference that keeps memory registered.
#[derive(Debug)]
#[must_use]
pub struct RegionRef<'t> {
    waiters: &'t Waiters,
    local: &'t Local,
    /// `None` if the reference is counted in the row.
    section: Option<EpochGuard<Memory>>,
}

impl RegionRef<'_> {
    /// Checks that the region grants `wanted` on `len` bytes at `addr`.
    #[inline]
    pub(crate) fn check(&self, addr: u64, len: u64, wanted: Rights) -> Result<(), RemoteFault> {
        if !self.rights().contains(wanted) {
            return Err(RemoteFault::Rights);
        }
        let (base, size) = (self.local.addr.load(Ordering::Relaxed), self.local.len.load(Ordering::Relaxed));
        if within(addr, len, base, size) { Ok(()) } else { Err(RemoteFault::Bounds) }
    }

    #[inline]
    fn users(&self) -> Users {
        Users(self.local.users.load(Ordering::Relaxed))
    }

    /// Returns the protection zone; `None` for a window of one connection.
    pub fn zone(&self) -> Option<u32> {
        self.users().zone()
    }

    /// Returns the remote address of the byte at the virtual address `addr`.
    pub fn number_of(&self, addr: u64) -> u64 {
        let (base, first) = (self.local.addr.load(Ordering::Relaxed), self.local.first.load(Ordering::Relaxed));
        addr.wrapping_sub(base).wrapping_add(first)
    }

    /// Returns the granted rights.
    #[inline]
    pub fn rights(&self) -> Rights {
        Rights::from_bits_truncate(self.local.rights.load(Ordering::Relaxed) as u8)
    }

    /// Returns bytes to read, for which the region needs no right.
    #[inline]
    pub fn source(&self, addr: u64, len: u64) -> Result<Source<'_>, RemoteFault> {
        self.check(addr, len, Rights::NONE)?;
        // SAFETY: the range is in the region, which is readable (`insert`) until its removal, which waits for `self`.
        Ok(unsafe { Source::new(addr, len as usize) })
    }

    /// Returns bytes to write, if [`Rights::LOCAL_WRITE`] is granted.
    #[inline]
    pub fn target(&self, addr: u64, len: u64) -> Result<Target<'_>, RemoteFault> {
        self.check(addr, len, Rights::LOCAL_WRITE)?;
        // SAFETY: the range is in the region, which has a right to write. So it is writable (`insert`) until its
        // removal, which waits for `self`.
        Ok(unsafe { Target::new(addr, len as usize) })
    }
}

impl Drop for RegionRef<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.section.is_some() {
            return;
        }
        // SYNC region-unpin: the copies of this thread have completed.
        let state = self.local.state.fetch_sub(1, Ordering::Release);
        if state & WAITER != 0 && state & REFERENCES == 1 {
            self.waiters.wake();
        }
    }
}

/// Returns the bytes of a checked segment.
#[inline(always)]
pub fn checked_source<'s>(segment: &CheckedSegment<'s>) -> Source<'s> {
    // SAFETY: a checked segment's region is readable (`insert`) until its removal, which waits for the section of `'s`.
    unsafe { Source::new(segment.addr, segment.len as usize) }
}

/// Returns the first bytes, up to `len`, of a segment that was checked for writing.
#[inline(always)]
pub fn checked_target<'s>(segment: &CheckedSegment<'s, Writable>, len: usize) -> Target<'s> {
    // SAFETY: the region has a right to write. So it is writable (`insert`) until its removal, which waits for the
    // section of `'s`.
    unsafe { Target::new(segment.addr, len.min(segment.len as usize)) }
}

#[cfg(test)]
mod tests;
