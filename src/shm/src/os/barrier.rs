//! A fence that one process makes for others as well, so that these need none where they pass often.
//!
//! `membarrier` makes a full fence in every thread that runs for a process which has registered for it, and a thread
//! that does not run passed one when it was switched. So where one side stores A and then loads B, often, and the other
//! one stores B, calls [`everywhere`], and then loads A, rarely, at least one of them sees what the other has stored,
//! although the first has only kept the compiler from changing the order.

use rustix::thread::{MembarrierCommand, MembarrierQuery, membarrier, membarrier_query};

/// Registers this process, so that the fences of others are made in its threads as well; false if the system has no such
/// fences.
pub fn register() -> bool {
    membarrier_query().contains(MembarrierQuery::GLOBAL_EXPEDITED | MembarrierQuery::REGISTER_GLOBAL_EXPEDITED)
        && membarrier(MembarrierCommand::RegisterGlobalExpedited).is_ok()
}

/// Makes a full fence in all threads of processes that are registered; false if the system refuses it.
#[cold]
pub fn everywhere() -> bool {
    membarrier(MembarrierCommand::GlobalExpedited).is_ok()
}
