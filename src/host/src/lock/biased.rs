//! A biased mutex: its usual holder takes it with plain stores.
//!
//! A thread that takes the lock several times becomes the *owner* and gets a *seat*, a word in the lock. It locks by
//! storing `HELD` there, and then loading whether it is still the owner. Other threads take the *gate*, a plain lock:
//!
//! ```text
//!            one thread takes the gate n times in a row
//!   no owner -----------------------------------------> granted: the owner locks by its seat
//!      ^                                                   |
//!      |  the seat does not contain HELD                   | another thread takes the gate
//!      +----------------------------- revoked <------------+
//! ```
//!
//! The thread with the gate stores the revocation, executes the heavy half of an asymmetric fence, and waits until the
//! seat does not contain `HELD`. So the owner sees the revocation, or the other thread sees `HELD`.
//! Without an owner, the gate is the lock.
//!
//! A thread writes only its own seat, but every unlock clears `HELD` in seat 0. Only the thread with the gate assigns
//! seats and writes the other fields.
//!
//! # Seats
//! A former owner may have loaded its seat before the revocation and store to it later. So the former owner keeps the
//! seat until it next takes the lock. An unlock by any thread rewrites seat 0, so it can restore a seat that its thread
//! has just emptied. That thread then also keeps the seat until it next takes the lock. While former owners keep both
//! seats, the lock gets no owner.
//!
//! A new thread with the [`pointer()`] of an ended thread inherits its seat, as does the thread of a forked child.
//!
//! # When a thread becomes the owner
//! A thread becomes the owner after 16 locks in a row at first. A revocation doubles this number, up to 4,096, within 2
//! ms of the previous revocation of any lock of the library, and halves it otherwise. A revocation takes 1 to 2 µs, so
//! rare ones cost a thousandth of the time, and frequent ones become rare. Without membarrier(2), no mutex has an
//! owner.
//!
//! # Attempts
//! An attempt (`try_lock`) fails immediately if another thread holds the lock, or has the gate to wait for the owner.
//! Otherwise it takes the gate and revokes the ownership, if any, and then fails only if the owner has just locked. An
//! attempt first waits for an undecided attempt of another thread that has the gate, so attempts cannot all fail
//! without a holder. Threads that leave a message for the holder and then try to lock rely on this (SYNC again).

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

const SEATS: usize = 2;

/// Content of an empty seat. Any other seat contains the [`crate::thread::pointer`] of its thread.
const EMPTY: usize = 0;

/// Added to the pointer in a seat: the thread holds the lock, or is about to check whether it does.
const HELD: usize = 1;

/// Initial number of consecutive locks that make a thread the owner.
const FIRST_GRANT: u32 = if cfg!(loom) { 1 } else { 16 };

/// Maximum number of doublings of [`FIRST_GRANT`]. A revocation then costs a few percent of the time of the locks.
const MAX_DOUBLINGS: u8 = 8;

/// A revocation is rare if it follows the previous one by at least this time in microseconds.
#[cfg(not(loom))]
const RARE_INTERVAL: u64 = 2_000;

/// Time of the last revocation of any lock of this library, in microseconds.
#[cfg(not(loom))]
static LAST_REVOCATION: AtomicU64 = AtomicU64::new(0);

/// Returns the value of `owned` while the thread in this seat is the owner.
const fn granted(seat: usize) -> u8 {
    1 << seat
}

/// Returns the value of `owned` after the ownership of this seat was revoked. Its thread may still hold the lock.
const fn revoked(seat: usize) -> u8 {
    1 << (SEATS + seat)
}

/// Bit of `owned`, in addition to [`revoked`]: the thread with the gate may sleep until the former owner unlocks.
const WAITER_SLEEPS: u8 = 1 << (2 * SEATS);

fn seat_of(owned: u8) -> usize {
    owned.trailing_zeros() as usize % SEATS
}

/// The word of a [`super::Mutex`].
#[derive(Debug, Default)]
#[repr(C)]
pub struct Biased {
    seats: [Seat; SEATS],
    /// The value [`granted`] or [`revoked`] of one seat, perhaps with [`WAITER_SLEEPS`]; 0 without an owner.
    owned: AtomicU8,
    doublings: AtomicU8,
    gate: Exclusive,
    /// A part of the [`pointer()`] of the last thread with the gate. If two threads have the same part, their locks
    /// count as locks of one thread, so one may become the owner early.
    last: AtomicU32,
    /// Number of further locks by the gate until the thread in `last` becomes the owner.
    remaining: AtomicU32,
}

impl Biased {
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Biased {
            seats: [const { Seat::new(EMPTY) }; SEATS],
            owned: AtomicU8::new(0),
            doublings: AtomicU8::new(0),
            gate: Exclusive::new(),
            last: AtomicU32::new(0),
            remaining: AtomicU32::new(FIRST_GRANT),
        }
    }

    /// Takes the lock. Returns `false` if another thread has it and `waits` is `false`.
    #[inline(always)]
    pub(super) fn take(&self, waits: bool) -> bool {
        self.lock_as_owner(0, pointer()) || self.lock_by_gate(waits)
    }

    /// Releases the lock, then executes the light half of the fence.
    #[inline(always)]
    pub(super) fn release(&self) {
        // If this thread is not the owner, no thread in seat 0 holds the lock. A former owner may store to the seat
        // concurrently, before it sees the revocation: at worst, it keeps the seat for longer.
        self.clear_held(0);
        // Only the owner in seat 0 finds this bit: a thread that holds the lock by the gate has ended the ownership.
        if self.owned.load(Ordering::Relaxed) & granted(0) == 0 {
            cold_path();
            self.release_slowly();
        }
    }

    /// Returns whether a thread has the lock, or is trying to take it.
    #[inline]
    pub(super) fn is_taken(&self) -> bool {
        self.gate.is_locked() || self.seats.iter().any(|seat| seat.load(Ordering::Relaxed) & HELD != 0)
    }

    /// Takes the lock as the owner in `seat`. Returns whether the calling thread is the owner.
    #[inline(always)]
    fn lock_as_owner(&self, seat: usize, me: usize) -> bool {
        // A seat with `HELD` differs: the lock is not recursive.
        if self.seats[seat].load(Ordering::Relaxed) != me {
            cold_path();
            return false;
        }
        // SYNC owner: the owner stores `HELD`, executes the light half and loads `owned`. `revoke` stores to `owned`
        // and executes the heavy half; its caller then loads the seat. So one of the threads sees the other's store.
        self.seats[seat].store(self.seats[seat].load(Ordering::Relaxed) + HELD, Ordering::Relaxed);
        asymmetric::light_available();
        // An owner needs no more ordering: no other thread has held the lock since its last unlock.
        if self.owned.load(Ordering::Acquire) & granted(seat) != 0 {
            return true;
        }
        cold_path();
        self.vacate(seat);
        false
    }

    /// Clears `HELD` in `seat`. The caller holds the lock, and loads `owned` next.
    #[inline(always)]
    fn clear_held(&self, seat: usize) {
        // SYNC owner: `is_held` loads this store with Acquire, and so sees the accesses under the lock. If it loads
        // `HELD` instead, this thread's next load of `owned` sees the revocation.
        self.seats[seat].store(self.seats[seat].load(Ordering::Relaxed) & !HELD, Ordering::Release);
        asymmetric::light_available();
    }

    /// Empties the seat of the calling thread, a former owner without the lock.
    #[cold]
    #[inline(never)]
    fn vacate(&self, seat: usize) {
        // `grant` loads this with Acquire, so the next owner's stores follow this thread's.
        self.seats[seat].store(EMPTY, Ordering::Release);
        // SYNC owner: this thread empties the seat, executes the light half and loads whether a thread sleeps.
        // `wait_for` stores that it sleeps, executes the heavy half and sleeps on the seat. So no wake-up is lost.
        asymmetric::light_available();
        if self.owned.load(Ordering::Relaxed) & WAITER_SLEEPS != 0 {
            wake_half(&self.seats[seat]);
        }
    }

    /// Takes the lock by the gate, or as the owner in seat 1. Without `waits`, returns `false` if another thread has
    /// the lock.
    #[cold]
    #[inline(never)]
    fn lock_by_gate(&self, waits: bool) -> bool {
        let me = pointer();
        if self.lock_as_owner(1, me) {
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
        // A thread with the gate must have no seat, because `release` would treat it as a former owner. A `release` of
        // another thread may have restored the seat. In a forked child, this thread may have the address of a former
        // owner.
        if self.seats.iter().any(|seat| seat.load(Ordering::Relaxed) & !HELD == me) {
            self.empty_seats(me);
        }
        true
    }

    #[cold]
    #[inline(never)]
    fn empty_seats(&self, me: usize) {
        self.seats.iter().filter(|seat| seat.load(Ordering::Relaxed) & !HELD == me).for_each(|seat| {
            seat.store(EMPTY, Ordering::Relaxed);
        });
    }

    /// Takes the gate, and so the lock, if no thread has the lock. Fails only if a thread has had the lock or waited
    /// for it since this call began. So that thread sees a message that the caller left before.
    fn attempt(&self) -> bool {
        let mut pause = Pause::new();
        let tried = loop {
            let owned = self.owned.load(Ordering::Relaxed);
            if owned != 0 && self.is_held(seat_of(owned)) {
                return false;
            }
            match self.gate.attempt(owned != 0) {
                Attempt::Taken => break owned != 0,
                Attempt::Refused => return false,
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

    /// Takes the lock and returns `true` if the owner does not hold it; otherwise releases the gate. Requires the gate.
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

    /// Revokes the ownership, waits until the owner does not hold the lock, and ends the ownership. Requires the gate.
    #[cold]
    #[inline(never)]
    fn take_over(&self) {
        let owned = self.owned.load(Ordering::Relaxed);
        let seat = seat_of(owned);
        if owned == granted(seat) {
            self.revoke(seat);
        }
        self.wait_for(seat);
        self.end_ownership();
    }

    /// Returns whether the thread in `seat` holds the lock. Without the gate, the result may be outdated.
    fn is_held(&self, seat: usize) -> bool {
        // SYNC owner
        self.seats[seat].load(Ordering::Acquire) & HELD != 0
    }

    /// Revokes the ownership of `seat`, whose thread may still hold the lock. Requires the gate.
    fn revoke(&self, seat: usize) {
        // SYNC owner: the other side of `lock_as_owner`.
        self.owned.store(revoked(seat), Ordering::Relaxed);
        asymmetric::heavy();
    }

    /// Ends a revoked ownership, and adapts how many locks make the next owner. Requires the gate.
    fn end_ownership(&self) {
        self.owned.store(0, Ordering::Relaxed);
        let doublings = self.doublings.load(Ordering::Relaxed);
        let doublings = if is_rare() { doublings.saturating_sub(1) } else { (doublings + 1).min(MAX_DOUBLINGS) };
        self.doublings.store(doublings, Ordering::Relaxed);
        self.reset_remaining();
    }

    /// Waits until the thread in `seat`, a former owner, does not hold the lock. Requires the gate.
    fn wait_for(&self, seat: usize) {
        let mut spins = SPINS;
        while self.is_held(seat) {
            if spins > 0 {
                spins -= 1;
                spin_loop();
                continue;
            }
            // The former owner sees the revocation when it unlocks, and wakes this thread.
            if self.owned.load(Ordering::Relaxed) & WAITER_SLEEPS == 0 {
                self.owned.store(revoked(seat) | WAITER_SLEEPS, Ordering::Relaxed);
                // SYNC owner: the other side of `vacate`.
                asymmetric::heavy();
            }
            let now = self.seats[seat].load(Ordering::Relaxed);
            if now & HELD != 0 {
                sleep_half(&self.seats[seat], now);
            }
        }
    }

    /// Completes the release by a former owner in seat 0, by the thread in seat 1, or by a thread with the gate.
    #[cold]
    #[inline(never)]
    fn release_slowly(&self) {
        let me = pointer();
        if self.seats[0].load(Ordering::Relaxed) == me {
            return self.vacate(0);
        }
        if self.seats[1].load(Ordering::Relaxed) == me + HELD {
            self.clear_held(1);
            if self.owned.load(Ordering::Relaxed) & granted(1) == 0 {
                self.vacate(1);
            }
            return;
        }
        #[allow(clippy::cast_possible_truncation)] // a part is enough
        let mark = (me >> 6) as u32;
        let remaining = self.remaining.load(Ordering::Relaxed);
        if self.last.load(Ordering::Relaxed) != mark {
            self.last.store(mark, Ordering::Relaxed);
            self.reset_remaining();
        } else if remaining > 1 {
            self.remaining.store(remaining - 1, Ordering::Relaxed);
        } else {
            self.grant(me);
        }
        self.gate.unlock();
        asymmetric::light();
    }

    fn reset_remaining(&self) {
        self.remaining.store(FIRST_GRANT << self.doublings.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Grants the ownership to the calling thread, if no thread waits and a seat is empty. Requires the gate.
    #[cold]
    #[inline(never)]
    fn grant(&self, me: usize) {
        self.reset_remaining();
        if self.gate.is_wanted() || !available() {
            return;
        }
        // This thread has no other seat, because `lock_by_gate` has emptied it.
        let empty = (0..SEATS).find(|&seat| self.seats[seat].load(Ordering::Acquire) == EMPTY);
        if let Some(seat) = empty {
            self.seats[seat].store(me, Ordering::Relaxed);
            self.owned.store(granted(seat), Ordering::Relaxed);
        }
    }
}

/// Records a revocation now, and returns whether it is rare: [`RARE_INTERVAL`] or more after the previous one.
#[cfg(not(loom))]
fn is_rare() -> bool {
    let Timespec { tv_sec, tv_nsec } = clock_gettime(ClockId::Monotonic);
    let now = tv_sec as u64 * 1_000_000 + tv_nsec as u64 / 1_000;
    now.saturating_sub(LAST_REVOCATION.swap(now, Ordering::Relaxed)) >= RARE_INTERVAL
}
