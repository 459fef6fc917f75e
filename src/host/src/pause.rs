//! Back-off of a thread that polls for a change by another thread and has no word to sleep on.
//!
//! A wait spins 64 times, yields 64 times, and then sleeps between polls, for up to 1.28 ms. The sleep is for real-time
//! threads: their yields do not let threads of lower priority run, and they may wait for one of these.

#![forbid(unsafe_code)]

use std::hint::spin_loop;
use std::time::{Duration, Instant};

use rustix::thread::{Timespec, nanosleep, sched_yield};

/// Number of spins; pauses from number `YIELDS` on are sleeps.
const SPINS: u32 = 64;
const YIELDS: u32 = 2 * SPINS;
/// Duration of the first sleep in nanoseconds.
const FIRST_SLEEP: i64 = 20_000;
/// Maximum number of doublings of this duration.
const MAX_DOUBLINGS: u32 = 6;

/// The pauses between the polls of one wait.
#[derive(Debug, Default)]
pub struct Pause {
    turns: u32,
}

impl Pause {
    /// Starts a wait.
    pub const fn new() -> Self {
        Pause { turns: 0 }
    }

    /// Returns whether the next pause is a spin, and so shorter than a read of the clock.
    pub fn is_short(&self) -> bool {
        self.turns < SPINS
    }

    /// Pauses before the next poll: spins, yields or sleeps. Not a cancellation point. Not inlined, as waits are rare.
    #[cold]
    #[inline(never)]
    pub fn pass(&mut self) {
        match self.turns {
            0..SPINS => spin_loop(),
            SPINS..YIELDS => sched_yield(),
            slept => {
                let nanos = FIRST_SLEEP << (slept - YIELDS).min(MAX_DOUBLINGS);
                let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: nanos });
            }
        }
        self.turns = self.turns.saturating_add(1);
    }
}

/// Calls `work`, with pauses, until `left` returns 0. Gives up after `max`, or `max_idle` after the last result that
/// was less than all before.
pub fn drain(max_idle: Duration, max: Duration, left: impl Fn() -> usize, work: impl Fn()) {
    let begun = Instant::now();
    let (mut least, mut since, mut pause) = (usize::MAX, begun, Pause::new());
    loop {
        let left = left();
        if left < least {
            (least, since) = (left, Instant::now());
        }
        if left == 0 || since.elapsed() >= max_idle || begun.elapsed() >= max {
            return;
        }
        work();
        pause.pass();
    }
}

#[cfg(test)]
mod tests;
