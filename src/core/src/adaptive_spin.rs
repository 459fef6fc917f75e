//! Whether a wait polls before it sleeps.
//!
//! Polling finds work sooner than a sleep does, and saves the other side the wake-up. But if other threads need the same
//! processor, it keeps them from their work, and one of them may be the one that is waited for. A wait that polls finds
//! that out ([`crate::wait`]), and the object that it waits on remembers it for the next ones.
//!
//! If another thread took the processor in two waits in a row, waits on this object sleep at once; only now and then,
//! in every 256th at last, one polls again.

use std::sync::atomic::{AtomicU32, Ordering};

/// At most 2 to this power, less 1, waits in a row do not poll.
const MOST: u32 = 8;

/// Shift of the number of waits in a row that polled and kept others from work.
const TIMES: u32 = 16;
/// The waits left that will not poll.
const LEFT: u32 = (1 << TIMES) - 1;

/// What an object remembers of its last waits. Updates of several waiters at a time may be lost, which costs time only.
#[derive(Debug, Default)]
pub(crate) struct AdaptiveSpin(AtomicU32);

impl AdaptiveSpin {
    /// True if a wait that begins now polls.
    pub fn looks(&self) -> bool {
        let known = self.0.load(Ordering::Relaxed);
        if known & LEFT == 0 {
            return true;
        }
        self.0.store(known - 1, Ordering::Relaxed);
        false
    }

    /// Records a wait that has polled while other threads needed the processor; true if it goes to sleep for that. Once means
    /// nothing: it may have been a thread that runs now and then, such as one of the transport's.
    pub fn note_kept(&self) -> bool {
        let times = (self.0.load(Ordering::Relaxed) >> TIMES).min(MOST) + 1;
        let left = if times > 1 { (1 << (times - 1)) - 1 } else { 0 };
        self.0.store(times << TIMES | left, Ordering::Relaxed);
        times > 1
    }

    /// Records a wait that has polled and kept no other thread from work.
    pub fn note_free(&self) {
        if self.0.load(Ordering::Relaxed) != 0 {
            self.0.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
