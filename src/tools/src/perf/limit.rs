//! The longest time of a measurement, at the server. The loops that are measured look at no clock for that: another thread
//! ends their connections.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::JoinHandle;
use std::time::Instant;

use anyhow::Context;
use dat_udat12::DAT_CLOSE_ABRUPT_FLAG;

use super::worker::Worker;
use crate::dat::{Ep, Evds};

/// Ends the connections of all threads when the time is up, unless it is dropped before.
#[derive(Debug)]
pub struct Limit {
    disarm: mpsc::Sender<()>,
    /// Says whether the time was up.
    thread: JoinHandle<bool>,
}

impl Limit {
    /// For the threads of a measurement.
    ///
    /// # Errors
    /// There can be no more threads.
    pub fn new(until: Instant, workers: &[Worker]) -> anyhow::Result<Self> {
        let (disarm, disarmed) = mpsc::channel::<()>();
        let all: Vec<(Arc<[Ep]>, Evds)> = workers.iter().map(|w| (Arc::clone(&w.eps), w.evds.clone())).collect();
        let thread = std::thread::Builder::new().spawn(move || {
            let left = until.saturating_duration_since(Instant::now());
            let late = disarmed.recv_timeout(left) == Err(RecvTimeoutError::Timeout);
            if late {
                all.iter().for_each(|(eps, evds)| end(eps, evds));
            }
            late
        });
        Ok(Limit { disarm, thread: thread.context("there can be no more threads")? })
    }

    /// Disarms it, and says whether the time was up before that.
    #[must_use]
    pub fn has_struck(self) -> bool {
        drop(self.disarm);
        self.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// Ends connections. A thread that polls finds its transfers flushed, or the connection gone; one that waits is woken.
fn end(eps: &[Ep], evds: &Evds) {
    // What has ended already is no error here.
    for ep in eps {
        let _ = ep.disconnect(DAT_CLOSE_ABRUPT_FLAG);
    }
    for evd in [&evds.recv, &evds.request] {
        let _ = evd.set_unwaitable();
    }
}
