//! A plain lock: the gate of a biased mutex.

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
/// Taken, and threads may sleep on the word.
const WANTED: u32 = 2;
/// Taken by an attempt that is undecided, and may release it immediately.
const TRIED: u32 = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Attempt {
    /// The calling thread has the word.
    Taken,
    /// Another thread has the word, and keeps it or passes it to a waiting thread.
    Refused,
    /// Another thread has the word, but may release it immediately.
    Open,
}

#[derive(Debug, Default)]
pub(super) struct Exclusive(AtomicU32);

impl Exclusive {
    #[cfg(not(loom))]
    pub(super) const fn new() -> Self {
        Exclusive(AtomicU32::new(FREE))
    }

    #[inline]
    pub(super) fn try_lock(&self) -> bool {
        self.0.compare_exchange(FREE, TAKEN, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Tries to take the word.
    ///
    /// # Parameters
    /// * `tried` - attempts of other threads must not fail because of this attempt, which may release the word: see
    ///   [`Exclusive::keep`].
    #[inline]
    pub(super) fn attempt(&self, tried: bool) -> Attempt {
        let value = if tried { TRIED } else { TAKEN };
        match self.0.compare_exchange(FREE, value, Ordering::Acquire, Ordering::Relaxed) {
            Ok(_) => Attempt::Taken,
            Err(TRIED) => Attempt::Open,
            Err(_) => Attempt::Refused,
        }
    }

    /// Sets whether the holder surely keeps the word. Only for the holder. If another thread waits, the word stays
    /// `WANTED`, because that thread will get it.
    pub(super) fn keep(&self, sure: bool) {
        let (from, to) = if sure { (TRIED, TAKEN) } else { (TAKEN, TRIED) };
        let _ = self.0.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed);
    }

    /// Waits for the word and takes it.
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
        // Takes the word as `WANTED`, because other threads may sleep on it, too.
        while self.0.swap(WANTED, Ordering::Acquire) != FREE {
            sleep(&self.0, WANTED, None);
        }
    }

    /// Releases the word. Only for its holder.
    #[inline]
    pub(super) fn unlock(&self) {
        if self.0.swap(FREE, Ordering::Release) == WANTED {
            wake(&self.0, 1);
        }
    }

    #[inline]
    pub(super) fn is_locked(&self) -> bool {
        self.0.load(Ordering::Relaxed) != FREE
    }

    /// Returns whether threads may sleep on the word. Only for its holder.
    #[inline]
    pub(super) fn is_wanted(&self) -> bool {
        self.0.load(Ordering::Relaxed) == WANTED
    }
}
