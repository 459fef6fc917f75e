//! Decides whether a wait polls before it sleeps.
//!
//! Polling detects an event sooner than a sleep, and saves the peer a wake-up. But another thread may need the CPU,
//! maybe the awaited one. A polling wait records this in its object.
//!
//! After two such waits in a row, later waits on the object sleep immediately; at least every 256th polls again.

use std::sync::atomic::{AtomicU32, Ordering};

/// Logarithm of 1 + the maximum number of consecutive waits without polling.
const MAX_SHIFT: u32 = 8;

const COUNT_SHIFT: u32 = 16;
const REMAINING_MASK: u32 = (1 << COUNT_SHIFT) - 1;

/// The low bits count remaining waits without polling, the others consecutive preempted waits. Lost updates cost only
/// time.
#[derive(Debug, Default)]
pub(crate) struct AdaptiveSpin(AtomicU32);

impl AdaptiveSpin {
    /// Returns whether a new wait polls.
    pub fn spins(&self) -> bool {
        let known = self.0.load(Ordering::Relaxed);
        if known & REMAINING_MASK == 0 {
            return true;
        }
        self.0.store(known - 1, Ordering::Relaxed);
        false
    }

    /// Records that another thread used the CPU during a poll. Returns whether the wait must sleep: not the first time,
    /// because a periodic thread may have run.
    pub fn note_preempted(&self) -> bool {
        let times = (self.0.load(Ordering::Relaxed) >> COUNT_SHIFT).min(MAX_SHIFT) + 1;
        let left = if times > 1 { (1 << (times - 1)) - 1 } else { 0 };
        self.0.store(times << COUNT_SHIFT | left, Ordering::Relaxed);
        times > 1
    }

    /// Records a poll during which no other thread used the CPU.
    pub fn note_free(&self) {
        if self.0.load(Ordering::Relaxed) != 0 {
            self.0.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
