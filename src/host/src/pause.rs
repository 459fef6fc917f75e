//! Waiting for another thread that will soon be done, where there is no word to sleep on.
//!
//! Such a wait begins with looking again and again, and ends in sleeps. The other thread may need the very processor,
//! and a thread of a real-time class gives that to one of a lower priority by sleeping alone, however often it yields.
//!
//! Some looks come at once, some offer the processor, and from then on each is a sleep of up to a millisecond. These
//! wait so: an attempt at a gate that another attempt has, rounds of progress, slots of the table of transfers,
//! transfers of peers, sections, spare records of sections, and the reserve of memory. All other looks
//! have a bound that depends on no other thread.

#![forbid(unsafe_code)]

use std::hint::spin_loop;

use rustix::thread::{Timespec, nanosleep, sched_yield};

/// How often the thread looks at once, and by when it has offered its processor to others as often.
const SPINS: u32 = 64;
const YIELDS: u32 = 2 * SPINS;
/// Nanoseconds of the first sleep; each further one is twice as long, until it has doubled so often.
const FIRST: i64 = 20_000;
const DOUBLINGS: u32 = 6;

/// The pauses between the looks of one wait.
#[derive(Debug, Default)]
pub struct Pause {
    turns: u32,
}

impl Pause {
    /// The wait begins.
    pub const fn new() -> Self {
        Pause { turns: 0 }
    }

    /// True while the pauses are too short for a look at the clock.
    pub fn is_short(&self) -> bool {
        self.turns < SPINS
    }

    /// Lets some time pass before the next look: nothing but a moment at first, a millisecond in the end. No place where a
    /// thread can be cancelled.
    // Out of line, because the callers that hardly ever wait are fast paths.
    #[cold]
    #[inline(never)]
    pub fn pass(&mut self) {
        match self.turns {
            0..SPINS => spin_loop(),
            SPINS..YIELDS => sched_yield(),
            slept => {
                let nanos = FIRST << (slept - YIELDS).min(DOUBLINGS);
                let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: nanos });
            }
        }
        self.turns = self.turns.saturating_add(1);
    }
}

#[cfg(test)]
mod tests;
