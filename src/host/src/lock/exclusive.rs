//! The plain word of a lock for one thread at a time.

use std::sync::atomic::Ordering;

#[cfg(not(loom))]
use std::{hint::spin_loop, sync::atomic::AtomicU32};

use super::SPINS;
#[cfg(loom)]
use super::model::{AtomicU32, sleep, spin_loop, wake};
#[cfg(not(loom))]
use super::{sleep, wake};

const FREE: u32 = 0;
const TAKEN: u32 = 1;
/// Taken, and a thread may sleep.
const WANTED: u32 = 2;
/// Taken for a moment by a thread that may not keep it.
const TRIED: u32 = 3;

/// How an attempt to take a word ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// This thread has the word.
    Taken,
    /// Another thread has it, or will have it before it is free again.
    Refused,
    /// Another thread will soon know whether it keeps it.
    Open,
}

/// A word that goes from free to taken by one exchange of one thread, and that only the holder frees.
#[derive(Debug, Default)]
pub(super) struct Exclusive(AtomicU32);

impl Exclusive {
    /// A free word.
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Exclusive(AtomicU32::new(FREE))
    }

    /// Takes the word if it is free.
    #[inline]
    pub(super) fn try_lock(&self) -> bool {
        self.0.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Attempts to take the word, for a thread that may have to give it back at once.
    ///
    /// # Parameters
    /// * `tried` - it may, so that others shall not take it for one that has the word; [`Exclusive::keep`] is the end of
    ///   that.
    #[inline]
    pub(super) fn attempt(&self, tried: bool) -> Attempt {
        let value = if tried { TRIED } else { TAKEN };
        match self.0.compare_exchange(FREE, value, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Attempt::Taken,
            Err(TRIED) => Attempt::Open,
            Err(_) => Attempt::Refused,
        }
    }

    /// For the holder: it may have to give the word back, or keeps it after all. A word that is wanted stays so, since who
    /// wants it will have it.
    pub(super) fn keep(&self, sure: bool) {
        let (from, to) = if sure { (TRIED, TAKEN) } else { (TAKEN, TRIED) };
        let _ = self.0.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Takes the word after another thread.
    #[cold]
    pub(super) fn wait(&self) {
        let mut spins = SPINS;
        loop {
            let now = self.0.load(Ordering::Relaxed);
            if now == FREE && self.try_lock() {
                return;
            }
            if now == WANTED || spins == 0 {
                break;
            }
            spins -= 1;
            spin_loop();
        }
        // From here on the word is taken as wanted, because others may sleep that this thread does not know.
        while self.0.swap(WANTED, Ordering::Acquire) != FREE {
            sleep(&self.0, WANTED, None);
        }
    }

    /// Frees the word. For its holder.
    #[inline]
    pub(super) fn unlock(&self) {
        if self.0.swap(FREE, Ordering::Release) == WANTED {
            wake(&self.0, 1);
        }
    }

    /// Whether a thread has the word.
    #[inline]
    pub(super) fn is_locked(&self) -> bool {
        self.0.load(Ordering::Relaxed) != FREE
    }

    /// Whether a thread may sleep until the word is free. For its holder.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WANTED
    }
}
