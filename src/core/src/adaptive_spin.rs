//! Decides whether a wait polls before it sleeps.
//!
//! Polling detects an event sooner than a sleep, and saves the peer a wake-up. But it takes the CPU from another
//! thread, which may be the one that generates the event. If another thread used the CPU during a poll, the wait
//! records this in the [`AdaptiveSpin`] of its EVD or CNO.
//!
//! After two such waits in a row, the next wait on the object sleeps immediately. After three, the next 3 waits do,
//! after four the next 7, and so on up to 255. The wait after these polls again.

use std::sync::atomic::{AtomicU32, Ordering};

/// At most 2^8 - 1 consecutive waits do not poll.
const MAX_SHIFT: u32 = 8;

const COUNT_SHIFT: u32 = 16;
const REMAINING_MASK: u32 = (1 << COUNT_SHIFT) - 1;

/// The low 16 bits count the next waits that must not poll, the high bits the preempted waits in a row. Threads update
/// the word without a lock, because a lost update costs only time.
#[derive(Debug, Default)]
pub(crate) struct AdaptiveSpin(AtomicU32);

impl AdaptiveSpin {
    /// Returns whether a new wait must poll before it sleeps. If not, counts the wait.
    pub fn spins(&self) -> bool {
        let known = self.0.load(Ordering::Relaxed);
        if known & REMAINING_MASK == 0 {
            return true;
        }
        self.0.store(known - 1, Ordering::Relaxed);
        false
    }

    /// Records that another thread used the CPU during a poll. Returns whether the wait must sleep now. After only one
    /// such poll it need not sleep, because a thread that runs periodically may have used the CPU.
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
