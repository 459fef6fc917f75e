//! Locks that need no memory: a few words each, and a futex for threads that wait.
//!
//! A lock that keeps its waiters in a table of its own, or in thread-local data, needs memory when two threads meet at
//! it for the first time, and ends the process when there is none; parking_lot's own words are such. So these are other
//! words for its types, of which everything else is used. A free lock costs one exchange, and a mutex that one thread
//! takes again and again costs that thread plain stores.

mod biased;
mod exclusive;
#[cfg(loom)]
mod model;

#[cfg(not(loom))]
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{self, PoisonError, RwLockReadGuard, RwLockWriteGuard};
use std::time::{Duration, Instant};

use parking_lot::lock_api;
#[cfg(not(loom))]
use parking_lot::lock_api::{GuardNoSend, RawMutex};
use rustix::thread::futex::{self, Flags};

pub use biased::Biased;

/// A lock for one thread at a time.
///
/// Freeing it is an [`asymmetric::light`](crate::asymmetric::light) behind the store that frees it. So of a thread that
/// frees it and then looks for messages of others, and another thread that leaves a message, calls
/// [`asymmetric::heavy`](crate::asymmetric::heavy) and then attempts the lock in vain, the first one finds the message.
pub type Mutex<T> = lock_api::Mutex<RawLock, T>;

/// The right to what a [`Mutex`] guards.
pub type MutexGuard<'a, T> = lock_api::MutexGuard<'a, RawLock, T>;

/// The word of a [`Mutex`]. The atomics of a model can only be used inside of it, so that there the mutexes of everything
/// else have a word of another make.
#[cfg(not(loom))]
pub type RawLock = Biased;
/// The word of a [`Mutex`] outside of the model.
#[cfg(loom)]
pub type RawLock = parking_lot::RawMutex;

/// How often a thread tries again before it sleeps.
const SPINS: u32 = if cfg!(loom) { 0 } else { 100 };

/// Sleeps while `word` is `value`, at most for `limit`. May return early.
#[cold]
fn sleep(word: &AtomicU32, value: u32, limit: Option<Duration>) {
    crate::futex::sleep(word, value, false, limit);
}

/// Wakes at most `count` threads that sleep on `word`.
#[cold]
fn wake(word: &AtomicU32, count: u32) {
    let _ = futex::wake(word, Flags::PRIVATE, count);
}

/// Sleeps while the lower half of `word` is that of `value`. May return early.
#[cfg(not(loom))]
#[cold]
fn sleep_half(word: &AtomicUsize, value: usize) {
    #[allow(clippy::cast_possible_truncation)] // the lower half
    let value = value as u32;
    sleep(lower_half(word), value, None);
}

/// Wakes all threads that sleep on the lower half of `word`.
#[cfg(not(loom))]
#[cold]
fn wake_half(word: &AtomicUsize) {
    wake(lower_half(word), ALL);
}

/// The lower half of a word, for the kernel to look at.
#[cfg(not(loom))]
fn lower_half(word: &AtomicUsize) -> &AtomicU32 {
    let half = if cfg!(target_endian = "big") { size_of::<usize>() / size_of::<u32>() - 1 } else { 0 };
    // SAFETY: the half lies inside of the word, is aligned, and is not accessed by this process: only its address counts.
    unsafe { AtomicU32::from_ptr(word.as_ptr().cast::<u32>().add(half)) }
}

/// All threads that sleep on a word.
const ALL: u32 = i32::MAX as u32;

#[cfg(not(loom))]
// SAFETY: one thread at a time holds the word, as its module explains, and only that thread frees it.
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

/// A lock for one thread that writes or several that read. One that reads must not lock it again. The standard library's
/// needs no memory either; a panic of one that writes does not keep others out.
#[derive(Debug, Default)]
pub struct RwLock<T>(sync::RwLock<T>);

impl<T> RwLock<T> {
    /// Locks it for reading.
    #[inline]
    pub fn read(&self) -> RwLockReadGuard<'_, T> {
        self.0.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Locks it for writing.
    #[inline]
    pub fn write(&self) -> RwLockWriteGuard<'_, T> {
        self.0.write().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A place where threads wait for a change of what a [`Mutex`] guards. A wait may end without a change.
#[derive(Debug, Default)]
pub struct Condvar {
    /// The number of notifications.
    changes: AtomicU32,
    waiters: AtomicU32,
}

impl Condvar {
    /// No thread waits.
    pub const fn new() -> Self {
        Condvar { changes: AtomicU32::new(0), waiters: AtomicU32::new(0) }
    }

    /// Waits for a notification. The lock is free meanwhile.
    pub fn wait<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>) {
        self.sleep(guard, None);
    }

    /// Waits for a notification, at most until `end`.
    pub fn wait_until<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, end: Instant) {
        self.sleep(guard, Some(end));
    }

    fn sleep<T: ?Sized>(&self, guard: &mut MutexGuard<'_, T>, end: Option<Instant>) {
        // Both happen under the lock: a notification after a change that this thread has not seen finds a waiter and
        // another number.
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

    /// Wakes all threads that wait.
    pub fn notify_all(&self) {
        if self.waiters.load(Ordering::SeqCst) > 0 {
            self.changes.fetch_add(1, Ordering::SeqCst);
            wake(&self.changes, ALL);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
