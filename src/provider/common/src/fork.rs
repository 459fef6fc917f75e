//! The state after a fork: the child finds every handle of its parent dead.

use dat_core::transport::Hooks;
use host::{fork, memory};

use crate::Provider;

/// Watches for forks from now on. Must be called before the first adapter is registered.
pub fn watch<F: Provider>() {
    F::domain().fork_watch.call_once(|| {
        // SAFETY: the three functions are never unloaded, because provider libraries keep themselves loaded.
        let failed = unsafe { libc::pthread_atfork(Some(prepare::<F>), Some(parent::<F>), Some(child::<F>)) };
        if failed != 0 {
            log::warn!("handles of the parent will not be refused in the child of a fork");
        }
    });
}

/// Locks the registrations, so that the child does not get them half changed.
unsafe extern "C" fn prepare<F: Provider>() {
    let held = F::domain().registrations();
    // This comes after the lock, so that one fork at a time is here.
    fork::keep_out();
    // SAFETY: this is the handler before a fork, and the lock belongs to the registrations.
    unsafe { F::domain().fork.keep(held) };
}

unsafe extern "C" fn parent<F: Provider>() {
    fork::let_in();
    // SAFETY: this is the handler after a fork.
    drop(unsafe { F::domain().fork.fetch() });
}

unsafe extern "C" fn child<F: Provider>() {
    memory::after_fork_in_child();
    fork::let_in_child();
    // SAFETY: this is the handler after a fork, in the child.
    if let Some(mut held) = unsafe { F::domain().fork.fetch() } {
        F::domain().abandon(&mut held);
    }
    F::Transport::after_fork_in_child();
}
