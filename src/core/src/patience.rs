//! Whether a wait looks for work before it sleeps.
//!
//! Looking finds the work sooner than a sleep does, and saves the other side the wake-up. But if other threads need the
//! very processor, it keeps them from their work, and one of them may be the one that is waited for. A wait that looks
//! finds that out ([`crate::wait`]), and the object that it waits on remembers it for the next ones.
//!
//! If another thread took the processor in two waits in a row, waits on this object sleep at once; only now and then,
//! in every 256th at last, one polls again.

use std::sync::atomic::{AtomicU32, Ordering};

/// The number of waits that do not look, at most, before one tries it again: 2 to this power, less 1.
const MOST: u32 = 8;

/// Shift of the number of waits in a row that have looked and kept others from work.
const TIMES: u32 = 16;
/// The waits left that are not to look.
const LEFT: u32 = (1 << TIMES) - 1;

/// What an object remembers of its last waits. Updates of several waiters at a time may be lost, which costs time only.
#[derive(Debug, Default)]
pub(crate) struct Patience(AtomicU32);

impl Patience {
    /// True if a wait that begins now is to look.
    pub fn looks(&self) -> bool {
        let known = self.0.load(Ordering::Relaxed);
        if known & LEFT == 0 {
            return true;
        }
        self.0.store(known - 1, Ordering::Relaxed);
        false
    }

    /// Takes note of a wait that has looked while other threads needed the processor; true if it is to sleep for that. Once
    /// means nothing: it may have been a thread that runs now and then, such as one of the transport's.
    pub fn note_kept(&self) -> bool {
        let times = (self.0.load(Ordering::Relaxed) >> TIMES).min(MOST) + 1;
        let left = if times > 1 { (1 << (times - 1)) - 1 } else { 0 };
        self.0.store(times << TIMES | left, Ordering::Relaxed);
        times > 1
    }

    /// Takes note of a wait that has looked and kept nobody from work.
    pub fn note_free(&self) {
        if self.0.load(Ordering::Relaxed) != 0 {
            self.0.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests;
