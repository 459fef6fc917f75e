//! Handlers for fork(2). In the child, all handles of its parent are invalid.

use std::process;
use std::sync::atomic::Ordering;

use dat_core::transport::Transport;
use host::{epoch, fork, memory};

use crate::{Domain, Provider};

/// Installs the handlers of a library, which has one domain. The dynamic linker calls this function when it loads the
/// library.
pub extern "C" fn at_load<F: Provider>() {
    // SAFETY: glibc removes the handlers with the library. Without memory, forks run without handlers.
    unsafe { libc::pthread_atfork(Some(prepare::<F>), Some(parent::<F>), Some(child::<F>)) };
}

/// Locks the registrations, so that the child finds them consistent.
unsafe extern "C" fn prepare<F: Provider>() {
    let held = F::domain().registrations();
    // The lock above excludes other threads, as `keep_out` requires.
    fork::keep_out();
    F::domain().forker.store(process::id(), Ordering::Relaxed);
    // SAFETY: this handler runs before the fork, and holds the lock on the registrations.
    unsafe { F::domain().fork.keep(held) };
}

unsafe extern "C" fn parent<F: Provider>() {
    fork::let_in();
    F::domain().forker.store(0, Ordering::Relaxed);
    // SAFETY: this handler runs after the fork, in the parent.
    drop(unsafe { F::domain().fork.fetch() });
}

extern "C" fn child<F: Provider>() {
    clean_up(F::domain());
}

/// Invalidates all objects of the parent in the child of a fork. Does nothing if an earlier call did this.
fn clean_up<T: Transport>(domain: &'static Domain<T>) {
    // SAFETY: the caller is the child of a fork.
    let Some(held) = (unsafe { domain.fork.fetch() }) else { return };
    domain.forker.store(0, Ordering::Relaxed);
    memory::after_fork_in_child();
    fork::let_in_child();
    epoch::in_child();
    domain.arena.abandon();
    T::after_fork_in_child();
    drop(held);
}

/// Runs the child's handler early, if a fork handler of the program enters the library before libc calls `child`.
#[inline]
pub(crate) fn finish<T: Transport>(domain: &'static Domain<T>) {
    let forker = domain.forker.load(Ordering::Relaxed);
    if forker != 0 && forker != process::id() {
        clean_up(domain);
    }
}
