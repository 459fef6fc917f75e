//! Locks that allocate nothing: a few words each, and a futex for threads that wait.
//!
//! parking_lot ends the process if it cannot allocate its table of waiting threads, so this module supplies its own
//! words for the generic types of lock_api. A free lock costs one exchange, or plain stores if one thread takes a mutex
//! repeatedly.

mod biased;
mod exclusive;
#[cfg(loom)]
mod model;

#[cfg(not(loom))]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{self, PoisonError, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use crate::futex::{ALL, wake};
use parking_lot::lock_api;
#[cfg(not(loom))]
use parking_lot::lock_api::{GuardNoSend, RawMutex};

pub use biased::Biased;

/// A mutual-exclusion lock.
///
/// Unlocking includes [`asymmetric::light`](crate::asymmetric::light). So a thread can leave a message, call
/// [`asymmetric::heavy`](crate::asymmetric::heavy) and try to lock. If that fails, a holder that checks for messages
/// after unlocking finds this message.
pub type Mutex<T> = lock_api::Mutex<RawLock, T>;

/// Exclusive access to the data of a [`Mutex`].
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawLock, T>;

/// The word of a [`Mutex`].
#[cfg(not(loom))]
pub type RawLock = Biased;
/// The word of a [`Mutex`] in a loom build, outside models: loom's atomics, which [`Biased`] uses, work only in a
/// model.
#[cfg(loom)]
pub type RawLock = parking_lot::RawMutex;

/// Number of times that a thread polls a taken lock before it sleeps.
const SPINS: u32 = if cfg!(loom) { 0 } else { 100 };

/// Sleeps while `word` is `value`, for at most `limit`; `None` is no limit. May return early.
#[cold]
fn sleep(word: &AtomicU32, value: u32, limit: Option<Duration>) {
    crate::futex::sleep(word, value, false, limit);
}

/// Sleeps while the lower half of `word`, which the futex compares, equals the lower half of `value`. May return early.
#[cfg(not(loom))]
#[cold]
fn sleep_half(word: &AtomicUsize, value: usize) {
    #[allow(clippy::cast_possible_truncation)] // the lower half
    let value = value as u32;
    sleep(lower_half(word), value, None);
}

#[cfg(not(loom))]
#[cold]
fn wake_half(word: &AtomicUsize) {
    wake(lower_half(word), ALL);
}

#[cfg(not(loom))]
fn lower_half(word: &AtomicUsize) -> &AtomicU32 {
    let half = if cfg!(target_endian = "big") { size_of::<usize>() / size_of::<u32>() - 1 } else { 0 };
    // SAFETY: inside the word and aligned; only its address is used.
    unsafe { AtomicU32::from_ptr(word.as_ptr().cast::<u32>().wrapping_add(half)) }
}

#[cfg(not(loom))]
// SAFETY: at most one thread holds the word, and only that thread releases it.
unsafe impl RawMutex for Biased {
    #[allow(clippy::declare_interior_mutable_const)] // the interface asks for it
    const INIT: Self = Biased::new();

    type GuardMarker = GuardNoSend;

    #[inline]
    fn lock(&self) {
        self.take(true);
    }

    #[inline]
    fn try_lock(&self) -> bool {
        self.take(false)
    }

    #[inline]
    unsafe fn unlock(&self) {
        self.release();
    }

    #[inline]
    fn is_locked(&self) -> bool {
        self.is_taken()
    }
}

/// A reader-writer lock that a panic does not poison. A thread with a guard must not lock it again.
#[derive(Debug, Default)]
pub struct RwLock<T>(sync::RwLock<T>);

impl<T> RwLock<T> {
    /// Locks for reading.
    #[inline]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks for writing.
    #[inline]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A condition variable for a [`Mutex`]. Waits may return without a notification.
#[derive(Debug, Default)]
pub struct Condvar {
    changes: AtomicU32,
    waiters: AtomicU32,
}

impl Condvar {
    /// Creates a condition variable.
    pub const fn new() -> Self {
        Condvar { changes: AtomicU32::new(0), waiters: AtomicU32::new(0) }
    }

    /// Releases the lock, waits for a notification, and takes the lock again.
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.sleep(guard, None);
    }

    /// Like [`Condvar::wait`], but waits at most until `end`.
    pub fn wait_until<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, end: Instant) {
        self.sleep(guard, Some(end));
    }

    fn sleep<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, end: Option<Instant>) {
        // The increment and the load are under the lock. So a thread that changes the data later sees the waiter, and
        // its notification changes the number.
        self.waiters.fetch_add(1, Ordering::SeqCst);
        let before = self.changes.load(Ordering::SeqCst);
        MutexGuard::unlocked(guard, || {
            let left = end.map(|end| end.saturating_duration_since(Instant::now()));
            if left.is_none_or(|left| !left.is_zero()) {
                sleep(&self.changes, before, left);
            }
        });
        self.waiters.fetch_sub(1, Ordering::SeqCst);
    }

    /// Wakes all waiting threads.
    pub fn notify_all(&self) {
        if self.waiters.load(Ordering::SeqCst) > 0 {
            self.changes.fetch_add(1, Ordering::SeqCst);
            wake(&self.changes, ALL);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
