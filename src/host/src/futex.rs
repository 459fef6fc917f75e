//! Sleeping on a word of memory until another thread, of this process or another one, changes it and wakes the sleeper.
//!
//! The sleep itself is in the face, because it must be a place where a thread can be cancelled. A word that is shared
//! with other processes is named by its place in the shared memory, so each process uses its own mapping of it.

#![forbid(unsafe_code)]

use std::sync::atomic::AtomicU32;
use std::time::Duration;

use rustix::thread::Timespec;
use rustix::thread::futex::{self, Flags};

/// All threads that sleep on a word.
const ALL: u32 = i32::MAX as u32;

/// Sleeps while `word` has the value, until it is woken, a signal comes or the time is up. No place where a thread can be
/// cancelled: faces sleep in another way.
///
/// # Parameters
/// * `shared` - other processes wake the sleeper, by [`wake_shared`].
pub fn sleep(word: &AtomicU32, value: u32, shared: bool, limit: Option<Duration>) {
    let flags = if shared { Flags::empty() } else { Flags::PRIVATE };
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    let _ = futex::wait(word, flags, value, limit.as_ref());
}

/// Wakes the one thread that sleeps on a word of this process. The word was changed before.
#[cold]
pub fn wake(word: &AtomicU32) {
    let _ = futex::wake(word, Flags::PRIVATE, 1);
}

/// Wakes all threads, of any process, that sleep on a word of shared memory. The word was changed before.
///
/// They are woken all, because a process to which the memory is open can put threads to sleep there which would
/// otherwise take the one wake-up. True if there were any.
#[cold]
pub fn wake_shared(word: &AtomicU32) -> bool {
    futex::wake(word, Flags::empty(), ALL).is_ok_and(|woken| woken > 0)
}

#[cfg(test)]
mod tests;
