//! How calls enter an object, and how it is dropped when its handle was freed and the last call has left.
//!
//! A thread enters by a *slot* of its own: it stores the cell's address there and then looks whether the cell is alive. It
//! leaves by storing 0, and then looks whether the cell has died meanwhile. Both are plain stores. A thread that frees
//! makes the cell dead, has all threads pass a fence ([`host::asymmetric`]), and then looks through the slots of all
//! threads. So of a thread that enters or leaves and one that frees, at least one sees the other:
//!
//! * A thread that enters either finds the cell dead, or its slot is found.
//! * A thread that leaves either finds the cell dead, or its slot is found empty.
//!
//! If no slot has the cell, the thread that frees drops the object. Otherwise the cell is [`ENTERED`], and each thread
//! that leaves it, and finds it dead, looks through the slots again. All looks happen under one lock, so the last of them
//! finds nobody: the slot of everyone whom an earlier look had found is empty by then, or its owner looks later.
//!
//! A thread without a slot enters by adding one to the state's *pins*, and leaves by taking it off. The slots together
//! have one pin from the free until nobody is inside by a slot. Whoever takes the last pin off a dead cell drops the
//! object.

use std::sync::atomic::{AtomicU64, Ordering};

use host::asymmetric::light_if_available;

use super::Kind;

/// An atomic word; a model of the memory has its own.
pub(super) trait Word {
    fn load(&self, order: Ordering) -> u64;
    fn store(&self, value: u64, order: Ordering);
    fn exchange(&self, old: u64, new: u64, success: Ordering) -> Result<u64, u64>;
    fn add(&self, value: u64, order: Ordering) -> u64;
}

impl Word for AtomicU64 {
    #[inline(always)]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }

    #[inline(always)]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }

    #[inline(always)]
    fn exchange(&self, old: u64, new: u64, success: Ordering) -> Result<u64, u64> {
        self.compare_exchange(old, new, success, Ordering::Relaxed)
    }

    #[inline(always)]
    fn add(&self, value: u64, order: Ordering) -> u64 {
        self.fetch_add(value, order)
    }
}

const ALIVE: u64 = 1 << 63;
/// Dead, and threads are inside by their slots, which have one of the pins together.
const ENTERED: u64 = 1 << 62;
const KIND_SHIFT: u32 = 56;
const KIND_MASK: u64 = 0x3f << KIND_SHIFT;
const GENERATION_ONE: u64 = 1 << 32;
const GENERATION_MASK: u64 = 0x00ff_ffff << 32;
const PINS_MASK: u64 = 0xffff_ffff;

fn wanted(kind: Kind) -> u64 {
    ALIVE | ((kind as u64) << KIND_SHIFT)
}

/// A place where one thread notes which cell it is inside of; 0 for none.
#[derive(Debug)]
pub(super) struct Slot<W>(W);

impl<W: Word> Slot<W> {
    pub const fn new(word: W) -> Self {
        Slot(word)
    }

    /// Whether its thread, which is the caller, can enter by it.
    #[inline(always)]
    pub fn is_free(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 0
    }

    /// The address that it has. Only its thread calls this.
    #[inline(always)]
    pub fn address(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Stores an address, or 0, and passes the half of a fence. Only its thread calls this.
    #[inline(always)]
    pub fn note(&self, address: u64) {
        // SYNC left: a release even when it is not 0, because the store of another cell's address may hide that of a 0.
        self.0.store(address, Ordering::Release);
        // SYNC dead: a call stores its address and then loads the state; a free makes the cell dead, calls the heavy
        // half, and then looks at the slots. The call finds the cell dead, or the free finds the slot. A call that
        // leaves stores 0 first: the free finds the slot empty, or the call finds the cell dead and looks itself, under
        // the lock that the free takes too.
        light_if_available();
    }

    /// Whether its thread is inside the cell at this address.
    pub fn has(&self, address: u64) -> bool {
        // SYNC left: a thread that finds the slot empty drops the object behind all that the call did inside.
        self.0.load(Ordering::Acquire) == address
    }

    /// Frees the slot of a thread that exists no more.
    pub fn clear(&self) {
        self.0.store(0, Ordering::Relaxed);
    }
}

/// The state of a cell: whether it is alive, the kind of the object, how often the cell was used, and the pins. The kind
/// stays until the object is dropped.
#[derive(Debug)]
pub(super) struct State<W>(W);

impl<W: Word> State<W> {
    /// The state of a cell that was never used.
    pub const fn new(word: W) -> Self {
        State(word)
    }

    /// Makes the cell alive, after the object was put in place.
    pub fn bear(&self, kind: Kind) {
        // A stray pin of a stale handle may be in flight, so this adds instead of storing.
        let mut old = self.0.load(Ordering::Relaxed);
        loop {
            let generation = (old + GENERATION_ONE) & GENERATION_MASK;
            // SYNC born: the object is in place before the cell is alive.
            match self.0.exchange(old, wanted(kind) | generation | (old & PINS_MASK), Ordering::Release) {
                Ok(_) => return,
                Err(now) => old = now,
            }
        }
    }

    /// The number of the kind of the object, if the cell is alive.
    #[inline]
    pub fn kind(&self) -> Option<usize> {
        let state = self.0.load(Ordering::Acquire);
        (state & ALIVE != 0).then_some(((state & KIND_MASK) >> KIND_SHIFT) as usize)
    }

    /// Enters by a free slot of the calling thread. If the answer is false, there is no such object, and the thread must
    /// leave again.
    #[inline(always)]
    pub fn enter_by(&self, slot: &Slot<W>, address: u64, kind: Kind) -> bool {
        // SYNC dead: the light half lies between this store and the load of the state.
        slot.note(address);
        // The byte of the kind: a cell that is alive is not `ENTERED`.
        // SYNC born
        self.0.load(Ordering::Acquire) >> KIND_SHIFT == wanted(kind) >> KIND_SHIFT
    }

    /// Leaves by the slot by which the calling thread has entered. If the answer is true, the cell was freed, and the
    /// thread must look whether it was the last: [`State::is_last`].
    #[inline(always)]
    #[must_use]
    pub fn leave_by(&self, slot: &Slot<W>) -> bool {
        slot.note(0);
        self.0.load(Ordering::Relaxed) & ALIVE == 0
    }

    /// Enters without a slot, by a pin. If the answer is false, there is no such object, and the thread must leave again.
    pub fn enter(&self, kind: Kind) -> bool {
        // SYNC born
        self.0.add(1, Ordering::Acquire) & (ALIVE | KIND_MASK) == wanted(kind)
    }

    /// Takes off a pin. If there is an answer, the caller drops the object, which `object` has read in the cell.
    #[must_use]
    pub fn unpin<R>(&self, object: impl FnOnce() -> R) -> Option<R> {
        let state = self.0.add(1_u64.wrapping_neg(), Ordering::AcqRel) - 1;
        if state & (ALIVE | PINS_MASK) != 0 || state & KIND_MASK == 0 {
            return None;
        }
        // Without its kind the cell may be used again at once, so the object is read before. If the cell was used again
        // before that, it has another generation.
        let object = object();
        // Only the one that clears the kind may drop the object.
        self.0.exchange(state, state & !KIND_MASK, Ordering::AcqRel).is_ok().then_some(object)
    }

    /// Makes the cell dead, if it is alive and of this kind: true for exactly one caller, who then has a pin, has all
    /// threads pass a fence, and calls [`State::settle`].
    pub fn kill(&self, kind: Kind) -> bool {
        let mut old = self.0.load(Ordering::Relaxed);
        while old & (ALIVE | KIND_MASK) == wanted(kind) {
            match self.0.exchange(old, (old & !ALIVE) + 1, Ordering::AcqRel) {
                Ok(_) => return true,
                Err(now) => old = now,
            }
        }
        false
    }

    /// Decides about the pin of the thread that frees, which has the lock. If the answer is true, the caller takes it off
    /// after giving the lock back; otherwise the slots have it.
    ///
    /// # Parameters
    /// * `inside` - whether a slot of any thread has the cell.
    #[must_use]
    pub fn settle(&self, inside: bool) -> bool {
        if inside {
            self.0.add(ENTERED, Ordering::Relaxed);
        }
        !inside
    }

    /// Whether a thread that left a dead cell has to look if it was the last. If the object was dropped already, it was
    /// not.
    pub fn has_object(&self) -> bool {
        self.0.load(Ordering::Relaxed) & KIND_MASK != 0
    }

    /// Whether the calling thread, which has left the dead cell and has the lock, was the last one that was inside by a
    /// slot. It then takes off the pin of the slots after giving the lock back.
    ///
    /// # Parameters
    /// * `inside` - whether a slot of any thread has the cell.
    #[must_use]
    pub fn is_last(&self, inside: impl FnOnce() -> bool) -> bool {
        // Before the thread that frees has looked, it answers for the object.
        if self.0.load(Ordering::Relaxed) & ENTERED == 0 || inside() {
            return false;
        }
        self.0.add(ENTERED.wrapping_neg(), Ordering::Relaxed);
        true
    }

    /// Whether the cell can be used again.
    pub fn is_vacant(&self) -> bool {
        self.0.load(Ordering::Acquire) & (KIND_MASK | PINS_MASK) == 0
    }

    /// Makes the cell dead and forgets the object.
    pub fn abandon(&self) {
        let kept = self.0.load(Ordering::Relaxed) & GENERATION_MASK;
        self.0.store(kept, Ordering::Relaxed);
    }
}
