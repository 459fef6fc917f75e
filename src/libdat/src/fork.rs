//! The registry across fork.
//!
//! The child gets a copy of one thread and of all memory. Were another thread changing the registry
//! at that moment, the child would inherit a lock that nobody opens. So the registry is held still
//! for the time of the fork, and threads that are loading a provider finish that first.

use std::cell::UnsafeCell;
use std::time::Duration;

use dat_registry::Held;

use crate::provider::{Provider12, REGISTRY};

/// The lock while a fork is going on.
struct Fork(UnsafeCell<Option<Held<'static, Provider12>>>);

// SAFETY: only the handlers touch the cell, and each of them holds the registry's lock while it
// does: the first has just taken it, the others have not yet given it back.
unsafe impl Sync for Fork {}

static FORK: Fork = Fork(UnsafeCell::new(None));

/// How long a fork waits for another thread's dlopen: longer than a library takes to load, short enough
/// for whoever waits in vain.
const PATIENCE: Duration = Duration::from_secs(2);

/// Called by the dynamic linker when the library comes in, so that no fork is missed.
#[used]
#[unsafe(link_section = ".init_array")]
static AT_LOAD: extern "C" fn() = at_load;

extern "C" fn at_load() {
    // SAFETY: the three functions stay where they are, as the library is never unloaded. Should there
    // be no memory for the registration, a fork works as it does without one.
    unsafe { libc::pthread_atfork(Some(before), Some(in_parent), Some(in_child)) };
}

unsafe extern "C" fn before() {
    let held = REGISTRY.hold_for_fork(PATIENCE);
    // SAFETY: see Fork.
    unsafe { *FORK.0.get() = Some(held) };
}

unsafe extern "C" fn in_parent() {
    // SAFETY: see Fork.
    drop(unsafe { (*FORK.0.get()).take() });
}

unsafe extern "C" fn in_child() {
    // SAFETY: see Fork; the child has one thread.
    if let Some(mut held) = unsafe { (*FORK.0.get()).take() } {
        held.abandon_other_threads();
    }
}
