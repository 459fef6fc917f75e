//! What a fork leaves behind: the child finds every handle of its parent dead.

use std::cell::UnsafeCell;
use std::sync::MutexGuard;

use dat_core::transport::Transport;

use crate::Face;
use crate::registration::Registrations;

/// The lock on the registrations while a fork is going on.
pub(crate) struct Hold<F: Face>(UnsafeCell<Option<MutexGuard<'static, Registrations<F>>>>);

// SAFETY: only the handlers below touch the cell, and each of them holds the lock while it does:
// the first has just taken it, the others have not yet given it back.
unsafe impl<F: Face> Sync for Hold<F> {}

impl<F: Face> Hold<F> {
    pub(crate) const fn new() -> Self {
        Hold(UnsafeCell::new(None))
    }
}

/// Watches for forks from now on. To be called before the first adapter is registered.
pub fn watch<F: Face>() {
    F::domain().fork_watch.call_once(|| {
        // SAFETY: the three functions stay where they are: provider libraries are not unloaded.
        let failed = unsafe { libc::pthread_atfork(Some(prepare::<F>), Some(parent::<F>), Some(child::<F>)) };
        if failed != 0 {
            log::warn!("handles of the parent will not be refused in the child of a fork");
        }
    });
}

/// Holds the registrations still, so that the child does not get them half changed.
unsafe extern "C" fn prepare<F: Face>() {
    let held = F::domain().registrations();
    // SAFETY: see Hold.
    unsafe { *F::domain().fork.0.get() = Some(held) };
}

unsafe extern "C" fn parent<F: Face>() {
    // SAFETY: see Hold.
    drop(unsafe { (*F::domain().fork.0.get()).take() });
}

unsafe extern "C" fn child<F: Face>() {
    // SAFETY: see Hold; the child has one thread.
    if let Some(held) = unsafe { (*F::domain().fork.0.get()).take() } {
        F::domain().abandon(held.adapters());
    }
    F::Transport::after_fork_in_child();
}
