//! The sleeping waits of a thread.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

use host::per_thread::PerThread;

use crate::waker::Waker;

/// The waits of one thread. Each wait is an `Option` in a box; `spare` is the box of an earlier wait, for reuse.
#[derive(Default)]
struct Pending {
    /// Several if a signal handler that interrupts a sleeping wait also waits.
    waits: Vec<Box<dyn Any>>,
    spare: Option<Box<dyn Any>>,
}

static PENDING: PerThread<RefCell<Pending>> = PerThread::new();

/// Stores a wait while the calling thread sleeps. Returns the wait as an error if there is no memory for the thread's
/// list.
pub fn push<W: Any>(wait: W) -> std::result::Result<(), W> {
    let mut wait = Some(wait);
    #[expect(clippy::disallowed_methods, reason = "a thread has one of the reserve for good, or a few")]
    let kept = PENDING.with(|pending| {
        let mut pending = pending.borrow_mut();
        let mut place = pending.spare.take().unwrap_or_else(|| Box::new(None::<W>));
        match place.downcast_mut::<Option<W>>() {
            Some(place) => *place = wait.take(),
            None => place = Box::new(wait.take()),
        }
        pending.waits.push(place);
    });
    match (kept, wait) {
        (None, Some(wait)) => Err(wait),
        _ => Ok(()),
    }
}

/// Removes the calling thread's last wait, which will not be resumed.
pub fn abandon() {
    // The wait is dropped after the borrow of the list.
    drop(PENDING.with(|pending| pending.borrow_mut().waits.pop()));
}

/// Returns the waker for a new wait: the thread's own, or a new waker in a signal handler that interrupts a wait.
pub fn waker() -> Option<Arc<Waker>> {
    let interrupted = PENDING.with(|pending| !pending.borrow().waits.is_empty());
    if interrupted == Some(true) { Waker::another() } else { Waker::current() }
}

/// Removes the calling thread's last wait, to resume it. Returns `None` if there is no wait, or its type is not `W`.
pub fn pop<W: Any>() -> Option<W> {
    let last = PENDING.with(|pending| {
        let mut pending = pending.borrow_mut();
        let mut last = pending.waits.pop()?;
        let wait = last.downcast_mut::<Option<W>>().and_then(Option::take);
        pending.spare = Some(last);
        wait
    });
    last.flatten()
}
