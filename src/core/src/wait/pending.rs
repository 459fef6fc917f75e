//! The waits of a thread that sleep.

use std::any::Any;
use std::cell::RefCell;
use std::sync::Arc;

use host::per_thread::PerThread;

use crate::waker::Waker;

/// The state of the sleeping waits of a thread, each in a box that holds an `Option` of it.
#[derive(Default)]
struct Pending {
    /// There can be more than one, because an agent or a signal handler may wait too.
    waits: Vec<Box<dyn Any>>,
    /// The box of the last wait, for the next one.
    spare: Option<Box<dyn Any>>,
}

static PENDING: PerThread<RefCell<Pending>> = PerThread::new();

/// Keeps the state of a wait until the thread has slept. Returns it if there is no memory for that.
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

/// Takes off the last wait of the calling thread, which sleeps and will not be resumed.
pub fn abandon() {
    // The wait is dropped when the list is no longer borrowed.
    drop(PENDING.with(|pending| pending.borrow_mut().waits.pop()));
}

/// The waker for a wait that begins: that of the thread, unless the thread is in a wait already, which a signal handler has
/// interrupted.
pub fn waker() -> Option<Arc<Waker>> {
    let interrupted = PENDING.with(|pending| !pending.borrow().waits.is_empty());
    if interrupted == Some(true) { Waker::another() } else { Waker::current() }
}

/// Takes off the last wait of the calling thread, to continue it; `None` if there is none of this type.
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
