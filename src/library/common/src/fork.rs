//! The registry during a fork.
//!
//! If another thread held the registry's lock during a fork, the child's copy would stay locked. So the fork handlers
//! hold this lock. They first wait until no thread loads a provider.

use std::time::Duration;

use host::memory;

use crate::api::Api;

/// Maximum time that a fork waits for a dlopen of another thread, which may never return.
const LOADER_TIMEOUT: Duration = Duration::from_secs(2);

/// Registers the fork handlers. The dynamic linker calls this function when it loads the library.
pub extern "C" fn at_load<A: Api>() {
    // SAFETY: the library is never unloaded, so the functions stay valid. Without memory, forks run without handlers.
    unsafe { libc::pthread_atfork(Some(before::<A>), Some(in_parent::<A>), Some(in_child::<A>)) };
}

unsafe extern "C" fn before<A: Api>() {
    let held = A::statics().registry.hold_for_fork(LOADER_TIMEOUT);
    // SAFETY: this is the handler before a fork, and the lock is the registry's.
    unsafe { A::statics().hold.keep(held) };
}

unsafe extern "C" fn in_parent<A: Api>() {
    // SAFETY: this is the handler after a fork, in the parent.
    drop(unsafe { A::statics().hold.fetch() });
}

unsafe extern "C" fn in_child<A: Api>() {
    memory::after_fork_in_child();
    // SAFETY: this is the handler after a fork, in the child.
    if let Some(mut held) = unsafe { A::statics().hold.fetch() } {
        held.abandon_other_threads();
    }
}
