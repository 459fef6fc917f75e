//! A fence in two halves: a *light* half for frequent callers, and a *heavy* half for rare ones.
//!
//! Thread A stores X, calls [`light`] and loads Y. Thread B stores Y, calls [`heavy`] and loads X. Then at least one
//! load sees the other thread's store. Two calls of `heavy` have the same effect, two calls of `light` have none.
//!
//! [`heavy`] calls membarrier(2), by which every running thread of the process executes a full fence, so [`light`] only
//! restricts the compiler. Without membarrier, both halves are full fences.

use std::sync::atomic::{AtomicU8, Ordering};

#[cfg(loom)]
use loom::sync::atomic::fence;
#[cfg(not(loom))]
use std::sync::atomic::{compiler_fence, fence};

use rustix::thread::{MembarrierCommand, MembarrierQuery, Timespec, membarrier, membarrier_query, nanosleep};

const UNKNOWN: u8 = 0;
/// The process is registered for membarrier(2).
const ASYMMETRIC: u8 = 1;
/// membarrier(2) is unavailable.
const SYMMETRIC: u8 = 2;

/// Changes only once, because `ASYMMETRIC` is correct only if all threads use it.
static MODE: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Returns whether [`light`] costs nothing. The first call in a process can take milliseconds if other threads run.
#[inline]
pub fn available() -> bool {
    match MODE.load(Ordering::Relaxed) {
        ASYMMETRIC => true,
        SYMMETRIC => false,
        _ => choose(),
    }
}

#[cold]
#[inline(never)]
fn choose() -> bool {
    let wanted = MembarrierQuery::PRIVATE_EXPEDITED | MembarrierQuery::REGISTER_PRIVATE_EXPEDITED;
    // Miri and loom cannot execute these system calls.
    let able = !cfg!(any(miri, loom)) && membarrier_query().contains(wanted) && register();
    let mode = if able { ASYMMETRIC } else { SYMMETRIC };
    let chosen = MODE.compare_exchange(UNKNOWN, mode, Ordering::Relaxed, Ordering::Relaxed);
    chosen.map_or_else(|earlier| earlier, |_| mode) == ASYMMETRIC
}

fn register() -> bool {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// Executes the light half: only a compiler fence if [`available`] returns `true`.
#[inline]
pub fn light() {
    if MODE.load(Ordering::Relaxed) == ASYMMETRIC {
        light_available();
    } else {
        light_first();
    }
}

#[cold]
#[inline(never)]
fn light_first() {
    available();
    fence(Ordering::SeqCst);
}

/// Executes the light half. The caller must know that [`available`] returns `true`.
#[inline]
pub fn light_available() {
    #[cfg(not(loom))]
    compiler_fence(Ordering::SeqCst);
    // In loom, each thread executes its own fence.
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// Executes the heavy half, in a few microseconds: a full fence for this thread and, if [`available`] returns `true`,
/// for every other thread of the process. Leaves errno unchanged. Not a cancellation point.
#[cold]
#[inline(never)]
pub fn heavy() {
    fence(Ordering::SeqCst);
    if available() {
        everywhere();
        fence(Ordering::SeqCst);
    }
}

fn everywhere() {
    let expedited = || membarrier(MembarrierCommand::PrivateExpedited).is_ok();
    // The child of a fork may have to register again.
    if expedited() || register() && expedited() || membarrier(MembarrierCommand::Global).is_ok() {
        return;
    }
    // The program has since forbidden the call, as by seccomp(2). A sleep suffices, because stores leave a CPU within a
    // microsecond.
    let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 });
}

#[cfg(all(test, not(loom)))]
mod tests;
