//! The registry across fork.
//!
//! The child gets a copy of one thread and of all memory. If another thread were changing the registry at that moment,
//! the child would inherit a lock that nobody unlocks. So the registry is locked during the fork, and threads that are
//! loading a provider finish that first.

use std::time::Duration;

use dat_registry::Held;
use host::fork::Hold;
use host::memory;

use crate::provider::{REGISTRY, Udat12Backend};

/// The registry's lock while a fork is going on.
static HOLD: Hold<Held<'static, Udat12Backend>> = Hold::new();

/// The longest time for which a fork waits for another thread's dlopen: longer than a library takes to load, but short
/// enough for a thread that waits in vain.
const PATIENCE: Duration = Duration::from_secs(2);

/// The dynamic linker calls this when it loads the library, so that no fork is missed.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    // SAFETY: the three functions stay in place, because the library is never unloaded. If there is no memory for the
    // registration, a fork works as it does without one.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

unsafe extern "C" fn before() {
    let held = REGISTRY.hold_for_fork(PATIENCE);
    // SAFETY: this is the handler before a fork, and the lock is the registry's.
    unsafe { HOLD.keep(held) };
}

unsafe extern "C" fn in_parent() {
    // SAFETY: this is the handler after a fork.
    drop(unsafe { HOLD.fetch() });
}

unsafe extern "C" fn in_child() {
    memory::after_fork_in_child();
    // SAFETY: this is the handler after a fork, in the child.
    if let Some(mut held) = unsafe { HOLD.fetch() } {
        held.abandon_other_threads();
    }
}
