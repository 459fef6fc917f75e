//! The word of a mutex that costs its usual holder two plain stores.
//!
//! Most locks are taken by one thread again and again. After it has done so some times in a row it becomes the *owner*:
//! it gets a *seat*, a place that is its own, and locks by writing there that it holds the lock and then looking
//! whether its ownership still stands. All other threads take the *gate*, a plain lock. One that has the gate while there
//! is an owner revokes the ownership: it writes that this has ended, makes sure that the owner sees that or is seen (the
//! heavy half of an asymmetric fence), and waits until the owner does not hold the lock. From then on the gate is the
//! lock for all, until one thread has again taken it many times in a row, so that a lock that threads
//! really share is hardly ever owned.
//!
//! | who | writes | when |
//! |---|---|---|
//! | the owner | its seat | always |
//! | the thread that frees the lock | the first seat | to say that no thread there holds it |
//! | the thread that has the gate | everything else | |
//!
//! A former owner keeps its seat until it comes by and empties it itself: it may be about to write there, having looked
//! before the revocation. So another thread needs another seat. There are two; where both are kept by threads that do
//! not come by, the lock stays a plain one.
//!
//! A thread becomes the owner after 16 times in a row. That number doubles, up to 4,096, each time an ownership is
//! revoked less than 2 ms after the last revocation of any lock of the same library, and halves when more time has gone
//! by. A revocation costs one or two microseconds, so late ones cost a thousandth of the time and the others become
//! rare. The owner counts nothing. A lock that is freed by a thread that is not the owner is found to be so by the look
//! behind the store, which has then changed nothing that counts: the holder of the gate has ended the ownership before.
//!
//! An attempt at a lock that is owned and free revokes, so it does not fail without a holder; one at a lock that the
//! owner holds fails at once. An attempt does not fail because of another attempt that fails in the end: it waits, with
//! pauses, for the outcome of the other one. Threads that leave a message for the holder and then attempt the lock (the
//! mark again) rely on that. Where the kernel lacks membarrier, no mutex has an owner.
//!
//! A thread that frees the lock just when its ownership is revoked may put itself back into the seat; it leaves again
//! when it next comes by. A thread that ended cannot be about to write, so a thread that gets its address gets its seat
//! too. A fork changes nothing: the thread of the child has the address of its original, and with it the locks that it
//! owns.

use std::sync::atomic::Ordering;
#[cfg(not(loom))]
use std::{
    hint::spin_loop,
    sync::atomic::{AtomicU8, AtomicU32, AtomicU64, AtomicUsize as Seat},
};

#[cfg(not(loom))]
use rustix::time::{ClockId, Timespec, clock_gettime};

use super::SPINS;
use super::exclusive::{Attempt, Exclusive};
#[cfg(loom)]
use super::model::{AtomicU8, AtomicU32, Pause, Seat, available, is_rare, pointer, sleep_half, spin_loop, wake_half};
#[cfg(not(loom))]
use super::{sleep_half, wake_half};
use crate::asymmetric;
use crate::cold_path;
#[cfg(not(loom))]
use crate::{asymmetric::available, pause::Pause, thread::pointer};

/// The number of seats.
const SEATS: usize = 2;

/// A seat that no thread has. The others contain the [`crate::thread::pointer`] of their thread.
const EMPTY: usize = 0;

/// In a seat, added to the pointer: its thread holds the lock, or is about to see that it may not.
const HELD: usize = 1;

/// The number of locks in a row after which a thread becomes the owner.
const FIRST: u32 = if cfg!(loom) { 1 } else { 16 };

/// The number of times that the above doubles at most. A revocation takes a few microseconds, so then it costs a few
/// percent of the locks before it.
const MOST_DOUBLINGS: u8 = 8;

/// Microseconds since the last revocation of any lock of this library from which on a revocation is a rare one. That is a
/// thousand times what it costs, so all the rare ones together cost about a thousandth of the time.
#[cfg(not(loom))]
const RARE: u64 = 2_000;

/// The microsecond of the last revocation.
#[cfg(not(loom))]
static LAST: AtomicU64 = AtomicU64::new(0);

/// In `owned`: the ownership of a seat stands.
const fn stands(seat: usize) -> u8 {
    1 << seat
}

/// In `owned`: the ownership of a seat is revoked, and its thread may still hold the lock.
const fn leaves(seat: usize) -> u8 {
    1 << (SEATS + seat)
}

/// In `owned`, with the above: the thread that waits for that one may sleep.
const SLEEPS: u8 = 1 << (2 * SEATS);

/// The seat whose state is in `owned`.
fn seat_of(owned: u8) -> usize {
    owned.trailing_zeros() as usize % SEATS
}

/// The word of a [`super::Mutex`].
#[derive(Debug, Default)]
#[repr(C)]
pub struct Biased {
    /// Which threads have the seats, and whether they hold the lock.
    seats: [Seat; SEATS],
    /// The state of at most one seat; 0 if the gate alone is the lock.
    owned: AtomicU8,
    /// How often ownership was revoked soon after a revocation, of this lock or another one, less how often it was not, within
    /// limits.
    doublings: AtomicU8,
    gate: Exclusive,
    /// A part of the address of the thread that had the gate last. Two threads that are confused by it make each other
    /// an owner too early, which is harmless.
    last: AtomicU32,
    /// The number of locks in a row after which the thread that had the gate last becomes the owner.
    missing: AtomicU32,
}

impl Biased {
    /// A free lock without an owner.
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Biased {
            seats: [const { Seat::new(EMPTY) }; SEATS],
            owned: AtomicU8::new(0),
            doublings: AtomicU8::new(0),
            gate: Exclusive::new(),
            last: AtomicU32::new(0),
            missing: AtomicU32::new(FIRST),
        }
    }

    /// Takes the lock, after others if this thread `waits`; false if another thread has it and this one does not wait.
    #[inline(always)]
    pub(super) fn take(&self, waits: bool) -> bool {
        self.enter(0, pointer()) || self.lock_by_gate(waits)
    }

    /// Frees the lock, and then passes the light half of a fence. For the thread that took it.
    #[inline(always)]
    pub(super) fn release(&self) {
        // It need not be known yet whether this thread is the owner. If it is not, no thread in the first seat holds the lock. A
        // thread that was there before may be writing there as well, but only on its way to see that its ownership stands no
        // more: at worst it then keeps the seat until it comes by again.
        self.get_up(0);
        // A thread that holds the lock through the gate has ended the ownership before, and no other one was granted since.
        if self.owned.load(Ordering::Relaxed) & stands(0) == 0 {
            cold_path();
            self.release_otherwise();
        }
    }

    /// Whether a thread has the lock, perhaps one that tries only.
    #[inline]
    pub(super) fn is_taken(&self) -> bool {
        self.gate.is_locked() || self.seats.iter().any(|seat| seat.load(Ordering::Relaxed) & HELD != 0)
    }

    /// Takes the lock as its owner in `seat`; false if this thread is not.
    #[inline(always)]
    fn enter(&self, seat: usize, me: usize) -> bool {
        // A seat of this thread that says `HELD` is another value, so a thread that has the lock does not get it again.
        if self.seats[seat].load(Ordering::Relaxed) != me {
            cold_path();
            return false;
        }
        // SYNC owner: the owner stores that it holds the lock, passes the light half and loads `owned`; `revoke`
        // stores to `owned`, passes the heavy half and loads the seat. So the owner finds the revocation, or the
        // revoking thread finds that the lock is held.
        self.seats[seat].store(self.seats[seat].load(Ordering::Relaxed) + HELD, Ordering::Relaxed);
        asymmetric::light_if_available();
        // An ownership that stands needs no more order: no other thread has held the lock since this one last did.
        if self.owned.load(Ordering::Acquire) & stands(seat) != 0 {
            return true;
        }
        cold_path();
        self.vacate(seat);
        false
    }

    /// Writes in `seat` that its thread does not hold the lock. The caller has the lock, and reads `owned` next.
    #[inline(always)]
    fn get_up(&self, seat: usize) {
        // SYNC owner: a revoking thread loads this store with Acquire and then sees what happened under the lock.
        // As in `enter`, it finds the lock free, or this thread finds behind this that another one waits.
        self.seats[seat].store(self.seats[seat].load(Ordering::Relaxed) & !HELD, Ordering::Release);
        asymmetric::light_if_available();
    }

    /// Empties the seat of this thread, which does not hold the lock and may no longer take it there.
    #[cold]
    #[inline(never)]
    fn vacate(&self, seat: usize) {
        // The next thread in the seat comes after all that this thread wrote there: `grant` loads this with Acquire.
        self.seats[seat].store(EMPTY, Ordering::Release);
        // SYNC owner: the owner empties the seat, passes the light half and loads whether a thread sleeps;
        // `wait_for` stores that it sleeps, passes the heavy half, and the kernel compares the seat. So no wake-up is
        // lost.
        asymmetric::light_if_available();
        if self.owned.load(Ordering::Relaxed) & SLEEPS != 0 {
            wake_half(&self.seats[seat]);
        }
    }

    /// Takes the lock as a thread that is not the owner in the first seat.
    #[cold]
    #[inline(never)]
    fn lock_by_gate(&self, waits: bool) -> bool {
        let me = pointer();
        if self.enter(1, me) {
            return true;
        }
        if waits {
            if !self.gate.try_lock() {
                self.gate.wait();
            }
            if self.owned.load(Ordering::Relaxed) != 0 {
                self.take_over();
            }
        } else if !self.attempt() {
            return false;
        }
        // A thread that has the gate has no seat. This one has emptied its own, but a `release` of another one may have
        // undone that; and in the child of a fork, a thread may have the address of one of the parent that was about to
        // see its revocation.
        if self.seats.iter().any(|seat| seat.load(Ordering::Relaxed) & !HELD == me) {
            self.empty_seats(me);
        }
        true
    }

    /// Empties the seats that seem to be those of this thread, which has the gate.
    #[cold]
    #[inline(never)]
    fn empty_seats(&self, me: usize) {
        self.seats.iter().filter(|seat| seat.load(Ordering::Relaxed) & !HELD == me).for_each(|seat| {
            seat.store(EMPTY, Ordering::Relaxed);
        });
    }

    /// Takes the gate, and with it the lock, if no thread has the lock. Fails only if there was a thread, after this call
    /// began, that has the lock or waits for it; not because of one that attempts as well. So a thread that leaves a
    /// message for the holder before its attempt knows that it is found.
    fn attempt(&self) -> bool {
        let mut pause = Pause::new();
        let tried = loop {
            let owned = self.owned.load(Ordering::Relaxed);
            // An attempt at a lock that its owner holds does not disturb the owner.
            if owned != 0 && self.is_held(seat_of(owned)) {
                return false;
            }
            match self.gate.attempt(owned != 0) {
                Attempt::Taken => break owned != 0,
                Attempt::Refused => return false,
                // That thread may be one that this one keeps from the processor.
                Attempt::Open => pause.pass(),
            }
        };
        if self.owned.load(Ordering::Relaxed) != 0 {
            return self.take_from_owner();
        }
        if tried {
            self.gate.keep(true);
        }
        true
    }

    /// With the gate, in an attempt: takes the lock if its owner does not hold it, else frees the gate.
    #[cold]
    #[inline(never)]
    fn take_from_owner(&self) -> bool {
        self.gate.keep(false);
        let seat = seat_of(self.owned.load(Ordering::Relaxed));
        self.revoke(seat);
        let free = !self.is_held(seat);
        if free {
            self.end_ownership();
            self.gate.keep(true);
        } else {
            self.gate.unlock();
        }
        free
    }

    /// With the gate: waits until no owner holds the lock, and ends the ownership.
    #[cold]
    #[inline(never)]
    fn take_over(&self) {
        let owned = self.owned.load(Ordering::Relaxed);
        let seat = seat_of(owned);
        if owned == stands(seat) {
            self.revoke(seat);
        }
        self.wait_for(seat);
        self.end_ownership();
    }

    /// With the gate: whether the thread in `seat` has the lock.
    fn is_held(&self, seat: usize) -> bool {
        // SYNC owner
        self.seats[seat].load(Ordering::Acquire) & HELD != 0
    }

    /// With the gate: ends the ownership of the thread in `seat`, which may still hold the lock.
    fn revoke(&self, seat: usize) {
        // SYNC owner: the other side of `enter`.
        self.owned.store(leaves(seat), Ordering::Relaxed);
        asymmetric::heavy();
    }

    /// With the gate: notes that no owner holds the lock, and decides when there is another owner.
    fn end_ownership(&self) {
        self.owned.store(0, Ordering::Relaxed);
        let doublings = self.doublings.load(Ordering::Relaxed);
        let doublings = if is_rare() { doublings.saturating_sub(1) } else { (doublings + 1).min(MOST_DOUBLINGS) };
        self.doublings.store(doublings, Ordering::Relaxed);
        self.start_over();
    }

    /// With the gate: waits until the thread in `seat`, whose ownership is revoked, does not hold the lock.
    fn wait_for(&self, seat: usize) {
        let mut spins = SPINS;
        while self.is_held(seat) {
            if spins > 0 {
                spins -= 1;
                spin_loop();
                continue;
            }
            // That thread finds its ownership revoked when it frees the lock, and then wakes this one.
            if self.owned.load(Ordering::Relaxed) & SLEEPS == 0 {
                self.owned.store(leaves(seat) | SLEEPS, Ordering::Relaxed);
                // SYNC owner: the other side of `vacate`.
                asymmetric::heavy();
            }
            let now = self.seats[seat].load(Ordering::Relaxed);
            if now & HELD != 0 {
                sleep_half(&self.seats[seat], now);
            }
        }
    }

    /// Frees the lock as a thread that is not, or no longer, the owner in the first seat.
    #[cold]
    #[inline(never)]
    fn release_otherwise(&self) {
        let me = pointer();
        if self.seats[0].load(Ordering::Relaxed) == me {
            // It was the owner until another thread revoked that.
            return self.vacate(0);
        }
        if self.seats[1].load(Ordering::Relaxed) == me + HELD {
            self.get_up(1);
            if self.owned.load(Ordering::Relaxed) & stands(1) == 0 {
                self.vacate(1);
            }
            return;
        }
        // With the gate, all but the seats of others is this thread's.
        #[allow(clippy::cast_possible_truncation)] // said where the field is
        let mark = (me >> 6) as u32;
        let missing = self.missing.load(Ordering::Relaxed);
        if self.last.load(Ordering::Relaxed) != mark {
            self.last.store(mark, Ordering::Relaxed);
            self.start_over();
        } else if missing > 1 {
            self.missing.store(missing - 1, Ordering::Relaxed);
        } else {
            self.grant(me);
        }
        self.gate.unlock();
        asymmetric::light();
    }

    fn start_over(&self) {
        self.missing.store(FIRST << self.doublings.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// With the gate: makes this thread the owner, if it can be and no thread waits.
    #[cold]
    #[inline(never)]
    fn grant(&self, me: usize) {
        self.start_over();
        if self.gate.is_wanted() || !available() {
            return;
        }
        // This thread has no seat: it has looked at both on its way to the gate, and emptied what was its own.
        let empty = (0..SEATS).find(|&seat| self.seats[seat].load(Ordering::Acquire) == EMPTY);
        if let Some(seat) = empty {
            self.seats[seat].store(me, Ordering::Relaxed);
            // The next thread at the gate sees this; the owner needs no gate to see its own store.
            self.owned.store(stands(seat), Ordering::Relaxed);
        }
    }
}

/// Notes a revocation; true if it is a rare one.
#[cfg(not(loom))]
fn is_rare() -> bool {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    let now = tv_sec as u64 * 1_000_000 + tv_nsec as u64 / 1_000;
    now.saturating_sub(LAST.swap(now, Ordering::Relaxed)) >= RARE
}
