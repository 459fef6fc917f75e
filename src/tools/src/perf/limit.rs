//! The longest time of a measurement. The loops that are measured look at no clock for that: another thread does, and acts.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use parking_lot::Mutex;

/// When something has to be over, which may be put off.
#[derive(Clone, Debug)]
pub struct Deadline(Arc<Mutex<Instant>>);

impl Deadline {
    /// From now on.
    pub fn after(time: Duration) -> Self {
        Self(Arc::new(Mutex::new(Instant::now() + time)))
    }

    /// Puts it off, or brings it forward.
    pub fn set_after(&self, time: Duration) {
        *self.0.lock() = Instant::now() + time;
    }

    /// The moment, as it is now.
    pub fn moment(&self) -> Instant {
        *self.0.lock()
    }

    /// What is left.
    pub fn left(&self) -> Duration {
        self.moment().saturating_duration_since(Instant::now())
    }
}

/// Does work; if the time is up before that, another thread calls `act`.
pub fn within<T>(
    until: Deadline,
    act: impl FnOnce() + Send,
    work: impl FnOnce() -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let watch = thread::Builder::new().spawn_scoped(scope, move || {
            while ended.recv_timeout(until.left()) == Err(RecvTimeoutError::Timeout) {
                // It may have been put off meanwhile.
                if until.left().is_zero() {
                    return act();
                }
            }
        });
        watch.context("there can be no more threads")?;
        let result = work();
        drop(end);
        result
    })
}
