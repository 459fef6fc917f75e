//! The registry across fork.
//!
//! The child of a fork has one thread and a copy of all memory. If another thread were changing the registry at that moment,
//! the child would inherit a lock that nobody unlocks. So the registry is locked during the fork, after threads that are
//! loading a provider have finished.

use std::time::Duration;

use host::memory;

use crate::api::Api;

/// The longest time for which a fork waits for another thread's dlopen: longer than loading a library takes, but short
/// enough if that thread never finishes.
const PATIENCE: Duration = Duration::from_secs(2);

/// Sets up the handlers. The dynamic linker calls this when it loads the library, so that no fork is missed.
pub extern "C" fn at_load<A: Api>() {
    // SAFETY: the three functions stay in place, because the library is never unloaded. If there is no memory for the
    // registration, a fork works as it does without one.
    unsafe { libc::pthread_atfork(Some(before::<A>), Some(in_parent::<A>), Some(in_child::<A>)) };
}

unsafe extern "C" fn before<A: Api>() {
    let held = A::statics().registry.hold_for_fork(PATIENCE);
    // SAFETY: this is the handler before a fork, and the lock is the registry's.
    unsafe { A::statics().hold.keep(held) };
}

unsafe extern "C" fn in_parent<A: Api>() {
    // SAFETY: this is the handler after a fork.
    drop(unsafe { A::statics().hold.fetch() });
}

unsafe extern "C" fn in_child<A: Api>() {
    memory::after_fork_in_child();
    // SAFETY: this is the handler after a fork, in the child.
    if let Some(mut held) = unsafe { A::statics().hold.fetch() } {
        held.abandon_other_threads();
    }
}
