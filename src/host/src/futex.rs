//! Sleeping on a word of memory (futex(2)).
//!
//! Waits of programs sleep in src/provider/src/wait.rs, because that sleep must be a cancellation point.

#![forbid(unsafe_code)]

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::thread::Timespec;
use rustix::thread::futex::{self, Flags};

/// The count for [`wake`] that wakes all threads.
pub const ALL: u32 = i32::MAX as u32;

/// Sleeps while `word` has the value, until a wake-up, a signal or the time `limit`. Not a cancellation point.
///
/// # Parameters
/// * `shared` - other processes wake the thread, by [`wake_shared`].
pub fn sleep(word: &AtomicU32, value: u32, shared: bool, limit: Option<Duration>) {
    let flags = if shared { Flags::empty() } else { Flags::PRIVATE };
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    let _ = futex::wait(word, flags, value, limit.as_ref());
}

/// Wakes up to `count` threads that sleep on a word of this process. The caller must have changed the word.
#[cold]
pub fn wake(word: &AtomicU32, count: u32) {
    let _ = futex::wake(word, Flags::PRIVATE, count);
}

/// Wakes all threads of all processes that sleep on a word of shared memory, and returns whether there were any. The
/// caller must have changed the word.
///
/// Waking one thread would not suffice: another process with this memory could let its threads absorb the wake-up.
#[cold]
pub fn wake_shared(word: &AtomicU32) -> bool {
    futex::wake(word, Flags::empty(), ALL).is_ok_and(|woken| woken > 0)
}

#[cfg(test)]
mod tests;
