//! The longest time of a measurement. The loops that are measured look at no clock for that: another thread does, and acts.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::Context;

/// Acts when the time is up, unless it is dropped before.
#[derive(Debug)]
pub struct Limit(Option<(mpsc::Sender<()>, JoinHandle<bool>)>);

impl Limit {
    /// Has another thread call `act` when the time is up.
    pub fn new(until: Instant, act: impl FnOnce() + Send + 'static) -> anyhow::Result<Self> {
        let (disarm, disarmed) = mpsc::channel::<()>();
        let thread = std::thread::Builder::new().spawn(move || {
            let left = until.saturating_duration_since(Instant::now());
            let late = disarmed.recv_timeout(left) == Err(RecvTimeoutError::Timeout);
            if late {
                act();
            }
            late
        });
        Ok(Limit(Some((disarm, thread.context("there can be no more threads")?))))
    }

    /// Disarms it, and says whether the time was up before that.
    pub fn has_struck(mut self) -> bool {
        self.end()
    }

    fn end(&mut self) -> bool {
        self.0.take().is_some_and(|(disarm, thread)| {
            drop(disarm);
            // It acts without a panic.
            thread.join().unwrap_or(false)
        })
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        self.end();
    }
}
