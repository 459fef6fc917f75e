//! The transfers of one side of a pair that are under way: copies between the memories of the two processes, by which
//! process which thread makes them.
//!
//! Each side has a [`Table`] in the shared memory. A thread that is going to copy enters a slot, looks whether it still
//! may, copies, and leaves the slot. The other side closes what is to be closed, then looks at the slots: a copy that
//! it finds none of comes to a look that fails (SYNC moving). The peer may write anything into the tables, its own and
//! this one; so what this side relies on itself, which slots are its own, is in [`Own`].
//!
//! What a thread looks at is the flag of the connection and the row of the region. Transfers between endpoints of one
//! process are entered as well.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering, fence};

use host::pause::Pause;
use rustix::thread::gettid;

/// Slots of a table. More threads than this wait for each other.
pub const SLOTS: usize = 63;

/// Words of a slot, a cache line.
const LINE: usize = 8;

/// The largest number that a thread can have.
const MAX_TID: u32 = 1 << 22;

/// One side's transfers in the shared memory. The first line has a bit for every slot that was ever used; the others
/// are the slots, each with one [`Occupant`].
pub type Table = [[AtomicU64; LINE]; SLOTS + 1];

/// Bytes of a table.
pub const TABLE: usize = size_of::<Table>();

/// Content of a slot: in the upper half how often it was entered, in the lower half the thread that is in it, as its
/// process numbers it, or 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupant(u64);

impl Occupant {
    /// The thread that is in the slot; 0 for none.
    pub fn tid(self) -> u32 {
        self.0 as u32
    }

    /// True if no thread can have that number.
    pub fn is_impossible(self) -> bool {
        self.tid() > MAX_TID
    }
}

/// The transfers of a side that began before, and have not ended.
pub fn under_way(table: &Table) -> impl Iterator<Item = (usize, Occupant)> + '_ {
    let [used, slots @ ..] = table;
    let mut used = used[0].load(Ordering::SeqCst);
    std::iter::from_fn(move || {
        while used != 0 {
            let slot = used.trailing_zeros() as usize;
            used &= used - 1;
            // A table that is not what it should be has a bit too many.
            // SYNC moving: SeqCst is an Acquire too; a slot that is found free was left behind the copy.
            let word = slots.get(slot).map_or(Occupant(u64::MAX), |line| Occupant(line[0].load(Ordering::SeqCst)));
            if word.tid() != 0 {
                return Some((slot, word));
            }
        }
        None
    })
}

/// True if the transfer that was found in `slot` has not ended.
pub fn is_under_way(table: &Table, slot: usize, word: Occupant) -> bool {
    match table.get(slot + 1) {
        // SYNC moving
        Some(line) => line[0].load(Ordering::SeqCst) == word.0,
        None => true,
    }
}

/// The slots of one table that threads of this process have entered.
pub struct Own([OwnSlot; SLOTS]);

/// The word of a slot, in a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct OwnSlot(AtomicU64);

impl Default for Own {
    fn default() -> Self {
        Own(std::array::from_fn(|_| OwnSlot::default()))
    }
}

thread_local! {
    /// The number of the thread, once it was asked for.
    static TID: Cell<u32> = const { Cell::new(0) };
}

/// The number of the calling thread.
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

/// Forgets the number of the calling thread, which in the child of a fork is another one.
pub fn after_fork_in_child() {
    TID.set(0);
}

impl Own {
    /// Enters a slot of this side's `table`; waits while all are taken. `tid` is the number of the calling thread, by
    /// which the peer finds it, or any other but 0 if there is no peer.
    #[inline]
    pub fn enter<'a>(&'a self, table: &'a Table, tid: u32) -> Entered<'a> {
        // A thread nearly always finds the slot free that it had last, and which it finds by the place of its stack.
        let stack = (&raw const tid).addr();
        let at = (stack >> 20) % (SLOTS + 1);
        self.try_enter(table, tid, at).unwrap_or_else(|| self.enter_another(table, tid, at))
    }

    /// Enters this slot, if there is such a one, and nobody is in it.
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
        // SYNC moving: the slot was entered before; flag and row are looked at behind this. Either this side finds that
        // it may not, or the other one finds the slot taken.
        fence(Ordering::SeqCst);
        Some(Entered { own, shared, word })
    }

    /// Enters the next free slot behind this one.
    #[cold]
    #[inline(never)]
    fn enter_another<'a>(&'a self, table: &'a Table, tid: u32, mut at: usize) -> Entered<'a> {
        let mut pause = Pause::new();
        loop {
            for _ in 0..SLOTS {
                at = (at + 1) % (SLOTS + 1);
                if let Some(entered) = self.try_enter(table, tid, at) {
                    return entered;
                }
            }
            pause.pass();
        }
    }
}

/// A slot that the calling thread is in, until this is dropped.
pub struct Entered<'a> {
    own: &'a AtomicU64,
    shared: &'a AtomicU64,
    word: u64,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        let free = self.word & !u64::from(u32::MAX);
        // SYNC moving: a thread that finds the slot free finds what was copied.
        self.shared.store(free, Ordering::Release);
        self.own.store(free, Ordering::Release);
    }
}

#[cfg(test)]
mod tests;
