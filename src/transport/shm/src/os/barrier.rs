//! A fence that one process makes for others as well, so that these need none where they pass often.
//!
//! `membarrier` makes a full fence in every thread that runs for a process which has registered for it, and a thread
//! that does not run passed one when it was switched. So where one side stores A and then loads B, often, and the other
//! one stores B, calls [`everywhere`], and then loads A, rarely, at least one of them sees what the other has stored,
//! although the first has only kept the compiler from changing the order.

use rustix::thread::{MembarrierCommand, MembarrierQuery, Timespec, membarrier, membarrier_query, nanosleep};

/// Registers this process, so that the fences of others are made in its threads as well; false if the system has no such
/// fences.
pub fn register() -> bool {
    membarrier_query().contains(MembarrierQuery::GLOBAL_EXPEDITED | MembarrierQuery::REGISTER_GLOBAL_EXPEDITED)
        && membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok()
}

/// Makes a full fence in all threads of processes that are registered.
#[cold]
pub fn everywhere() {
    if membarrier(MembarrierCommand::GlobalExpedited).is_err() {
        // The program has forbidden itself the call since. Stores stay in a processor for less than a microsecond by
        // themselves; the thread waits thousands of times as long.
        let _ = nanosleep(&Timespec { tv_sec: 0, tv_nsec: 10_000_000 });
    }
}
