//! The transfers in progress of one side, and the threads that execute them.
//!
//! Each side has a [`Table`] in shared memory. A thread enters a slot. It checks the connection's flag (whether the
//! other side has closed) and the region's row (the rights), copies, and leaves the slot. To revoke access, the other
//! side changes flag or row, and then scans the slots. If a thread enters its slot after the scan, its check fails
//! (SYNC moving). The peer can write anything into the tables, so [`Own`] contains the state on which this side relies.
//! Transfers within a process use slots of a table that only this process changes.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use host::cold_path;
use host::pause::Pause;
use rustix::thread::gettid;

/// Number of slots of a table. Further threads wait for a free slot.
pub const SLOTS: usize = 63;

const LINE: usize = 8;

const MAX_TID: u32 = 1 << 22;

/// One side's transfers in shared memory. The first cache line has a bit for each slot that was ever used. Each slot is
/// a cache line, whose first word is an [`Occupant`].
pub type Table = [[AtomicU64; LINE]; SLOTS + 1];

pub const TABLE: usize = size_of::<Table>();

/// Upper half: number of entries into the slot. Lower half: id of the thread in the slot; 0 if it is free.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupant(u64);

impl Occupant {
    pub fn tid(self) -> u32 {
        self.0 as u32
    }

    pub fn is_impossible(self) -> bool {
        self.tid() > MAX_TID
    }
}

pub fn under_way(table: &Table) -> impl Iterator<Item = (usize, Occupant)> + '_ {
    let [used, slots @ ..] = table;
    let used = used[0].load(Ordering::SeqCst);
    let occupied = (0..u64::BITS as usize).filter(move |slot| used >> slot & 1 != 0).map(|slot| {
        // A peer can set bits for which there is no slot.
        // SYNC moving: SeqCst includes Acquire: if the slot is free, the copy of its last thread has ended.
        (slot, slots.get(slot).map_or(Occupant(u64::MAX), |line| Occupant(line[0].load(Ordering::SeqCst))))
    });
    occupied.filter(|(_, word)| word.tid() != 0)
}

pub fn is_under_way(table: &Table, slot: usize, word: Occupant) -> bool {
    match table.get(slot + 1) {
        // SYNC moving
        Some(line) => line[0].load(Ordering::SeqCst) == word.0,
        None => true,
    }
}

pub struct Own([OwnSlot; SLOTS]);

#[derive(Default)]
#[repr(align(64))]
struct OwnSlot(AtomicU64);

impl Default for Own {
    fn default() -> Self {
        Own(std::array::from_fn(|_| OwnSlot::default()))
    }
}

thread_local! {
    static TID: Cell<u32> = const { Cell::new(0) };
}

#[inline]
pub fn own_tid() -> u32 {
    TID.with(|tid| match tid.get() {
        0 => {
            let number = gettid().as_raw_nonzero().get() as u32;
            tid.set(number);
            number
        }
        number => number,
    })
}

/// Clears the cached id of the calling thread, which differs in the child of a fork.
pub fn after_fork_in_child() {
    TID.set(0);
}

impl Own {
    /// Enters a slot of this side's `table`; waits if all are taken. `tid` is the calling thread's id.
    #[inline]
    pub fn enter<'a>(&'a self, table: &'a Table, tid: u32) -> Entered<'a> {
        let at = first_slot();
        self.try_enter(table, tid, at).unwrap_or_else(|| another_slot(|at| self.try_enter(table, tid, at), at))
    }

    #[inline(always)]
    fn try_enter<'a>(&'a self, table: &'a Table, tid: u32, at: usize) -> Option<Entered<'a>> {
        let (OwnSlot(own), [shared, ..]) = (self.0.get(at)?, table.get(at + 1)?);
        let before = own.load(Ordering::Relaxed);
        let word = (before & !u64::from(u32::MAX)).wrapping_add(1 << 32) | u64::from(tid);
        let free = before as u32 == 0;
        if !free || own.compare_exchange(before, word, Ordering::Acquire, Ordering::Relaxed).is_err() {
            return None;
        }
        if before == 0 {
            table[0][0].fetch_or(1 << at, Ordering::Relaxed);
        }
        shared.store(word, Ordering::Relaxed);
        // SYNC moving: the slot is entered before this fence; flag and row are checked after it. So this side sees the
        // revocation, or the other side's scan finds the slot taken.
        fence(Ordering::SeqCst);
        Some(Entered { own, shared, word })
    }
}

/// Enters a slot of a table that only this process changes; waits if all are taken.
#[inline(always)]
pub fn enter_local(table: &Table) -> EnteredLocal<'_> {
    let at = first_slot();
    try_local(table, at).unwrap_or_else(|| another_slot(|at| try_local(table, at), at))
}

#[inline(always)]
fn try_local(table: &Table, at: usize) -> Option<EnteredLocal<'_>> {
    let [slot, ..] = table.get(at + 1)?;
    let before = slot.load(Ordering::Relaxed);
    let word = before.wrapping_add(1 << 32) | 1;
    // SYNC moving: the slot is entered before the flag is checked; both are SeqCst. A region's row needs no order with
    // the slot, because a free also waits for the epoch guard of the copying thread.
    if before as u32 != 0 || slot.compare_exchange(before, word, Ordering::SeqCst, Ordering::Relaxed).is_err() {
        return None;
    }
    if before == 0 {
        cold_path();
        table[0][0].fetch_or(1 << at, Ordering::SeqCst);
    }
    Some(EnteredLocal { slot, word })
}

/// Returns the slot to try first. It depends only on the address of the thread's stack, so a thread usually gets its
/// previous slot.
#[inline(always)]
fn first_slot() -> usize {
    let stack = 0_u8;
    ((&raw const stack).addr() >> 20) % (SLOTS + 1)
}

/// Calls `try_enter` for the slots after `at` until it returns a value.
#[cold]
#[inline(never)]
fn another_slot<T>(try_enter: impl Fn(usize) -> Option<T>, mut at: usize) -> T {
    let mut pause = Pause::new();
    loop {
        for _ in 0..SLOTS {
            at = (at + 1) % (SLOTS + 1);
            if let Some(entered) = try_enter(at) {
                return entered;
            }
        }
        pause.pass();
    }
}

pub struct Entered<'a> {
    own: &'a AtomicU64,
    shared: &'a AtomicU64,
    word: u64,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let free = self.word & !u64::from(u32::MAX);
        // SYNC moving: a thread that sees the free slot sees the copied bytes.
        self.shared.store(free, Ordering::Release);
        self.own.store(free, Ordering::Release);
    }
}

/// A transfer within this process.
pub struct EnteredLocal<'a> {
    slot: &'a AtomicU64,
    word: u64,
}

impl Drop for EnteredLocal<'_> {
    #[inline]
    fn drop(&mut self) {
        // SYNC moving: as for [`Entered`].
        self.slot.store(self.word & !u64::from(u32::MAX), Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
