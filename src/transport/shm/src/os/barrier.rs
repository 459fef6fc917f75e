//! A fence that one process executes for others, so that frequent paths need none.
//!
//! membarrier(2) executes a full fence on each CPU that runs a thread of a registered process; other threads executed a
//! full fence at their context switch. Suppose one side frequently stores A, executes a compiler fence, and loads B.
//! The other side rarely stores B, calls [`everywhere`], and loads A. Then at least one side sees the other's store.

use rustix::thread::{MembarrierCommand, MembarrierQuery, Timespec, membarrier, membarrier_query, nanosleep};

/// Registers this process for fences of others. Returns `false` if unsupported.
pub fn register() -> bool {
    membarrier_query().contains(MembarrierQuery::GLOBAL_EXPEDITED | MembarrierQuery::REGISTER_GLOBAL_EXPEDITED)
        && membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok()
}

/// Executes a full fence in all threads of registered processes.
#[cold]
pub fn everywhere() {
    if membarrier(MembarrierCommand::GlobalExpedited).is_err() {
        // The program has since forbidden the call. Store buffers drain within a microsecond, so a sleep suffices
        // instead.
        let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 });
    }
}
