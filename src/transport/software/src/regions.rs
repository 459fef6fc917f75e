//! The table of registered memory of a process.
//!
//! A [`RegionTable`] may have a [`Mirror`] of its rows that peers map for reading, so that the side that starts an RDMA
//! operation checks it against the target's registered regions without asking the target. A row is named by a *key* of
//! 32 bits: 18 bits for the row, 14 for its generation. Generations are never 0, so no key is 0, and a key returns only
//! after very many registrations.
//!
//! The owner relies on rows in private memory and never on the mirror. A thread that copies into or out of the
//! program's memory holds a [`RegionRef`] meanwhile, and [`RegionTable::remove`] waits for the last of them, so that memory
//! is never taken away during a copy. A pin is a section of [`host::epoch`], which costs no locked instruction but makes all
//! removals wait. A thread that copies to or from the memory of another process, or that cannot enter a section, counts in the
//! row instead. A [`CheckedSegment`] needs no pin.
//!
//! Peers cannot pin. Where they copy by themselves, a free has to wait for those that are in the middle of a transfer.
//!
//! A row of the mirror is one cache line: key, users, rights, bounds, the address of the first byte, and the number by
//! which peers name that byte, the address or 0. Segments of the process's own, and the places of announced messages,
//! are always addresses. A window of one endpoint is open to the connection whose end has the port qualifier in the
//! row. A thread that waits for sections holds no lock that a thread in a section may wait for.

use std::collections::VecDeque;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering, fence};

use dat_core::{CheckedSegment, Rights};
use host::epoch::{self, EpochGuard, Memory};
use host::lock::{Condvar, Mutex};
use host::memory::{self, NoMemory, Room};

use crate::user::{Source, Target};

mod granted;
mod held;
mod row;

pub use granted::Granted;
pub use row::{AccessContext, NewRow, RemoteFault, Row, Users, split_key, within};

/// Rows of a full table.
pub const ROWS: usize = 1 << INDEX_BITS;

const INDEX_BITS: u32 = 18;
const GENERATIONS: u32 = 1 << (32 - INDEX_BITS);
/// Bytes of a row that peers see.
pub const ROW_SIZE: usize = 64;

/// Rows that stay unused after their removal before one of them is used again, as long
/// as there are rows that never were used.
const REST: usize = 1024;

/// Rows in a chunk. Private rows are made by the chunk.
pub const CHUNK: usize = 1024;

/// The rights of which each is one to write.
pub const WRITES: Rights = Rights::LOCAL_WRITE.union(Rights::REMOTE_WRITE).union(Rights::REMOTE_ATOMIC);

/// A row as its owner keeps it. Each has a cache line of its own, because pins of different regions must not slow each
/// other down.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Local {
    /// Generation, the bits [`WAITER`] and [`REVOKING`], and the pins that are counted.
    state: AtomicU64,
    addr: AtomicU64,
    len: AtomicU64,
    first: AtomicU64,
    users: AtomicU64,
    /// The bits of the rights, and [`WINDOW`].
    rights: AtomicU32,
}

impl Local {
    /// Whether a thread has counted a pin, after the row was closed.
    fn is_referenced(&self) -> bool {
        // SYNC region-unpin: where no pin is found, the copies of the threads that had it pinned are over.
        self.state.load(Ordering::Acquire) & REFERENCES != 0
    }
}

/// Among the rights of a row as its owner keeps it: it belongs to a window.
const WINDOW: u32 = 1 << 8;

const REFERENCES: u64 = (1 << 30) - 1;
/// Set while a thread waits in [`RegionTable::invalidate`].
const REVOKING: u64 = 1 << 30;
const WAITER: u64 = 1 << 31;
const GENERATION_SHIFT: u32 = 32;
/// In the generation: a peer has revoked the window. The row is its owner's still, until that removes it.
const REVOKED: u32 = 1 << 31;

/// The rows that are free.
#[derive(Debug)]
struct Free {
    /// Rows from here on have never been used.
    fresh: u32,
    /// Removed rows, the longest unused first, with their next generations.
    removed: VecDeque<(u32, u32)>,
}

/// Where peers see the rows of a table, if they do.
pub trait Mirror {
    /// The row that peers see as the one with this number; none if they see none.
    fn row(&self, index: usize) -> Option<&Row>;
}

/// That of a table that no peer sees.
impl Mirror for () {
    #[inline]
    fn row(&self, _index: usize) -> Option<&Row> {
        None
    }
}

/// The owner's side of the table.
#[derive(Debug)]
#[repr(C)]
pub struct RegionTable<M = ()> {
    /// The first, so that a pin, which refers to it, finds it without an instruction.
    waiters: Waiters,
    /// What peers see.
    pub mirror: M,
    /// Rows that there are.
    rows: u32,
    chunks: Box<[OnceLock<Box<[Local; CHUNK]>>]>,
    free: Mutex<Free>,
}

/// The threads that wait until pins are gone.
#[derive(Debug)]
struct Waiters {
    /// [`RegionTable::remove`] sleeps with this lock.
    sleepers: Mutex<()>,
    released: Condvar,
}

impl<M: Mirror> RegionTable<M> {
    /// Makes an empty table of `rows` rows, at most [`ROWS`], of which peers see those that `mirror` has.
    pub fn new(mirror: M, rows: u32) -> RegionTable<M> {
        RegionTable {
            mirror,
            rows: rows.min(ROWS as u32),
            chunks: (0..ROWS / CHUNK).map(|_| OnceLock::new()).collect(),
            free: Mutex::new(Free { fresh: 0, removed: VecDeque::new() }),
            waiters: Waiters { sleepers: Mutex::new(()), released: Condvar::new() },
        }
    }

    /// Enters a whole region, or the part of one that a window shows, and returns the key. `None` if all rows are in use,
    /// or the range goes past the end of the address space, or of the numbers of peers.
    ///
    /// # Safety
    /// Until [`RegionTable::remove`] returns, the bytes can be read, and can be written if the rights have one to write.
    /// (A program promises that when it registers memory.)
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
        // Added, not stored: another thread may just be trying a key of the past and have the count up for a moment.
        // SYNC region-pin: hands the words above to a thread that finds the generation.
        local.state.fetch_add(u64::from(generation) << GENERATION_SHIFT, Ordering::Release);
        if let Some(row) = self.mirror.row(index as usize) {
            // SYNC region-reuse: a peer that finds any of the words below finds the row's old generation gone.
            fence(Ordering::Release);
            row.rights.store(rights, Ordering::Relaxed);
            row.users.store(users.0, Ordering::Relaxed);
            row.first.store(first, Ordering::Relaxed);
            row.len.store(len, Ordering::Relaxed);
            row.addr.store(addr, Ordering::Relaxed);
            // SYNC region-row: hands the words above to a peer that finds the generation.
            row.generation.store(generation, Ordering::Release);
        }
        Some(generation << INDEX_BITS | index)
    }

    fn allocate(&self) -> Option<(u32, u32)> {
        let mut free = self.free.lock();
        if free.fresh < self.rows && free.removed.len() < REST && self.has_local(&mut free) {
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
        self.free.lock().fresh >= self.rows
    }

    /// Takes out the row that `key` names, revoked or not, and waits until no thread has it pinned; false if it was not
    /// there. Not to be called with a pin of the same key in hand.
    pub fn remove(&self, key: u32) -> bool {
        self.remove_with(key, || {})
    }

    /// As [`RegionTable::remove`]. Calls `closed` once nobody can hold the row any more, before it waits.
    pub fn remove_with(&self, key: u32, closed: impl FnOnce()) -> bool {
        let (index, generation) = split_key(key);
        let gone = |state: u64| {
            let there = generation != 0 && (state >> GENERATION_SHIFT) as u32 & !REVOKED == generation;
            there.then_some(state & (REFERENCES | REVOKING) | WAITER)
        };
        let Some(local) = self.close(index, gone) else { return false };
        closed();
        let mut sleeper = self.waiters.sleepers.lock();
        // Whoever revokes it waits for the same, and is the last but one to touch the row.
        while local.is_referenced() || local.state.load(Ordering::Relaxed) & REVOKING != 0 {
            self.waiters.released.wait(&mut sleeper);
        }
        drop(sleeper);
        local.state.fetch_and(!WAITER, Ordering::Relaxed);
        let next = generation % (GENERATIONS - 1) + 1;
        self.free.lock().removed.push_back((index as u32, next));
        true
    }

    /// Closes a row to those that come from now on, and waits for the sections of those that came before: `gone` makes its
    /// state that of a closed row. `None` if it does not.
    fn close(&self, index: usize, gone: impl Fn(u64) -> Option<u64>) -> Option<&Local> {
        let local = self.local(index)?;
        // SYNC region-pin: of two changes of one word one is first: a pin that is counted before is waited for, one
        // that comes later finds the generation gone.
        local.state.fetch_update(Ordering::AcqRel, Ordering::Relaxed, gone).ok()?;
        if let Some(row) = self.mirror.row(index) {
            row.generation.store(0, Ordering::Relaxed);
        }
        epoch::synchronize::<Memory>(None);
        Some(local)
    }

    #[inline]
    fn local(&self, index: usize) -> Option<&Local> {
        self.chunks.get(index / CHUNK)?.get()?.get(index % CHUNK)
    }

    /// Holds on to the region that `key` names, for a copy within this process; `None` if there is none. Neither
    /// allocates nor waits.
    #[inline(always)]
    pub fn acquire(&self, key: u32) -> Option<RegionRef<'_>> {
        match EpochGuard::enter() {
            section @ Some(_) => self.acquire_with(key, section),
            None => self.acquire_counted(key),
        }
    }

    /// Does what [`RegionTable::acquire`] does, for a copy that may take long.
    pub fn acquire_counted(&self, key: u32) -> Option<RegionRef<'_>> {
        self.acquire_with(key, None)
    }

    #[inline(always)]
    fn acquire_with(&self, key: u32, section: Option<EpochGuard<Memory>>) -> Option<RegionRef<'_>> {
        let (index, generation) = split_key(key);
        let local = self.local(index)?;
        // SYNC region-pin: the words that came with the generation are visible.
        let state = match section {
            Some(_) => local.state.load(Ordering::Acquire),
            None => local.state.fetch_add(1, Ordering::AcqRel),
        };
        // The pin ends with this call if there is no such region.
        let region_ref = RegionRef { waiters: &self.waiters, local, section };
        (generation != 0 && (state >> GENERATION_SHIFT) as u32 == generation).then_some(region_ref)
    }
}

impl Waiters {
    #[cold]
    fn wake(&self) {
        // With the lock taken, no remover is between its look and its sleep.
        let _sleepers = self.sleepers.lock();
        self.released.notify_all();
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
pub struct RegionRef<'t> {
    waiters: &'t Waiters,
    local: &'t Local,
    /// `None` if it is counted in the row.
    section: Option<EpochGuard<Memory>>,
}

impl RegionRef<'_> {
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

    /// Who may use the region.
    #[inline]
    fn users(&self) -> Users {
        Users(self.local.users.load(Ordering::Relaxed))
    }

    /// The protection zone of a whole region; `None` for a window of one connection.
    pub fn zone(&self) -> Option<u32> {
        self.users().zone()
    }

    /// The number by which peers name the byte at the address `addr` of the region.
    pub fn number_of(&self, addr: u64) -> u64 {
        let (base, first) = (self.local.addr.load(Ordering::Relaxed), self.local.first.load(Ordering::Relaxed));
        addr.wrapping_sub(base).wrapping_add(first)
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
    /// As for [`RegionRef::check`].
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
    /// As for [`RegionRef::check`]; [`RemoteFault::Rights`] if `wanted` has no right to write.
    #[inline]
    pub fn target(&self, addr: u64, len: u64, wanted: Rights) -> Result<Target<'_>, RemoteFault> {
        if !wanted.intersects(WRITES) {
            return Err(RemoteFault::Rights);
        }
        self.check(addr, len, wanted)?;
        // SAFETY: inside of what the contract of `insert` says can be written, for the
        // region has a right to write, as long as the row is not removed.
        Ok(unsafe { Target::new(addr, len as usize) })
    }
}

impl Drop for RegionRef<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        if self.section.is_some() {
            return;
        }
        // SYNC region-unpin: the copies of this thread are over.
        let state = self.local.state.fetch_sub(1, Ordering::Release);
        if state & WAITER != 0 && state & REFERENCES == 1 {
            self.waiters.wake();
        }
    }
}

/// The bytes of a segment that the core has checked.
#[inline(always)]
pub fn checked_source<'s>(segment: &CheckedSegment<'s>) -> Source<'s> {
    // SAFETY: they belong to a region that was entered by `insert`, whose contract is that they can be read until the
    // program has deregistered it, which waits for the section.
    unsafe { Source::new(segment.addr, segment.len as usize) }
}

/// The first `len` bytes, or all, of a segment that the core has checked for a receive, to be written.
#[inline(always)]
pub fn checked_target<'s>(segment: &CheckedSegment<'s>, len: usize) -> Target<'s> {
    // SAFETY: as for a source; and a receive needs a region with a right to write, so that they can be written.
    unsafe { Target::new(segment.addr, len.min(segment.len as usize)) }
}

#[cfg(test)]
mod tests;
