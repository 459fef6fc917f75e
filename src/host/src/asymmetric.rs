//! A fence of two halves: one that costs nothing, for the side that passes often, and one that pays for both, for the
//! side that passes rarely.
//!
//! Two threads that each write one place and then read the other's place need a full fence between the two steps, so
//! that at least one of them sees what the other wrote. One that calls [`light`] there may rely on one that calls
//! [`heavy`]: of the store before a `light` and a `heavy` that another thread calls, either the store is seen by the
//! loads after the `heavy`, or the loads after the `light` see what was stored before the `heavy`. Two calls of `light`
//! order nothing between them; two calls of `heavy` do.
//!
//! The kernel makes the difference: membarrier(2) has every processor that runs a thread of this process pass a full
//! fence. Where it cannot, both halves are full fences, which is right and costs time.
//!
//! The first call of a process that enters an object asks the kernel. The places that rely on the fence carry marks of
//! memory order, which docs/dev/memory-order.md describes.

use std::sync::atomic::{AtomicU8, Ordering};

// In a model, the fences are those of the model.
#[cfg(loom)]
use loom::sync::atomic::fence;
#[cfg(not(loom))]
use std::sync::atomic::{compiler_fence, fence};

use rustix::thread::{MembarrierCommand, MembarrierQuery, Timespec, membarrier, membarrier_query, nanosleep};

/// The kernel was not asked yet.
const UNKNOWN: u8 = 0;
/// The kernel does it, and the process is registered for it.
const ASYMMETRIC: u8 = 1;
/// Both halves are full fences.
const SYMMETRIC: u8 = 2;

/// What this process does. It changes once: a thread that acted on `ASYMMETRIC` relies on all others to do so.
static WAY: AtomicU8 = AtomicU8::new(UNKNOWN);

/// Whether [`light`] costs nothing here. The first call of a process asks the kernel, which can take some milliseconds
/// when other threads run; so a library calls it once before anything is in a hurry.
#[inline]
pub fn available() -> bool {
    match WAY.load(Ordering::Relaxed) {
        ASYMMETRIC => true,
        SYMMETRIC => false,
        _ => choose(),
    }
}

#[cold]
#[inline(never)]
fn choose() -> bool {
    let wanted = MembarrierQuery::PRIVATE_EXPEDITED | MembarrierQuery::REGISTER_PRIVATE_EXPEDITED;
    // Miri and loom run no other program's system calls.
    let able = !cfg!(any(miri, loom)) && membarrier_query().contains(wanted) && register();
    let way = if able { ASYMMETRIC } else { SYMMETRIC };
    let chosen = WAY.compare_exchange(UNKNOWN, way, Ordering::Relaxed, Ordering::Relaxed);
    chosen.map_or_else(|earlier| earlier, |_| way) == ASYMMETRIC
}

fn register() -> bool {
    membarrier(MembarrierCommand::RegisterPrivateExpedited).is_ok()
}

/// The half for the side that passes often: nothing but a bound for the compiler where [`available`] is true.
#[inline]
pub fn light() {
    if WAY.load(Ordering::Relaxed) == ASYMMETRIC {
        light_if_available();
    } else {
        light_first();
    }
}

/// A first call asks the kernel, so that those after it cost nothing.
#[cold]
#[inline(never)]
fn light_first() {
    available();
    fence(Ordering::SeqCst);
}

/// Does what [`light`] does, for a caller that knows that [`available`] is true because it would not be here otherwise.
#[inline]
pub fn light_if_available() {
    #[cfg(not(loom))]
    compiler_fence(Ordering::SeqCst);
    // A model has no fence that another thread passes for this one, so each thread passes its own.
    #[cfg(loom)]
    fence(Ordering::SeqCst);
}

/// The half for the side that passes rarely: a full fence for this thread and, where [`available`] is true, for every
/// other thread of the process. Takes a microsecond or a few. Changes no errno and is no place where a thread may be
/// cancelled.
#[cold]
#[inline(never)]
pub fn heavy() {
    fence(Ordering::SeqCst);
    if available() {
        everywhere();
        fence(Ordering::SeqCst);
    }
}

/// Has every running thread of this process pass a full fence.
fn everywhere() {
    let expedited = || membarrier(MembarrierCommand::PrivateExpedited).is_ok();
    // A process that is not registered, as the child of a fork may be, registers, which lasts.
    if expedited() || register() && expedited() || membarrier(MembarrierCommand::Global).is_ok() {
        return;
    }
    // The program has forbidden itself the call since. Stores stay in a processor for less than a microsecond by
    // themselves; the thread waits thousands of times as long.
    let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 });
}

#[cfg(all(test, not(loom)))]
mod tests;
