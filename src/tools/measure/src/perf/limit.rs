//! The early end of a measurement: the time limit, an interrupt, or the failure of a thread.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use parking_lot::Mutex;

use crate::interrupt::Interrupt;

/// The error after the connection to the peer has ended.
pub const GONE: &str = "the peer has gone away";

/// The error of a thread that ends because another thread has failed.
#[derive(Debug)]
pub struct OtherFailed;

impl fmt::Display for OtherFailed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("another thread has failed")
    }
}

impl std::error::Error for OtherFailed {}

/// The limits of a measurement, which clones share.
#[derive(Clone, Debug)]
pub struct Limit {
    /// The request to end the tool.
    pub interrupt: Interrupt,
    /// Maximum time of a measurement; at the server, of one turn, or between two measurements.
    timeout: Duration,
    until: Arc<Mutex<Instant>>,
    failed: Arc<AtomicBool>,
}

impl Limit {
    /// Creates the limits of a measurement that begins now.
    pub fn new(interrupt: &Interrupt, timeout: Duration) -> Self {
        let until = Arc::new(Mutex::new(Instant::now() + timeout));
        Self { interrupt: interrupt.clone(), timeout, until, failed: Arc::default() }
    }

    /// Restarts the time limit, and clears the failure of a thread.
    pub fn begin(&self) {
        *self.until.lock() = Instant::now() + self.timeout;
        self.failed.store(false, Ordering::Relaxed);
    }

    /// Reports that a thread has failed, so that the other threads end.
    pub fn fail(&self) {
        self.failed.store(true, Ordering::Relaxed);
    }

    /// Returns the end of the time limit.
    pub fn deadline(&self) -> Instant {
        *self.until.lock()
    }

    /// Returns the remaining time.
    pub fn left(&self) -> Duration {
        self.deadline().saturating_duration_since(Instant::now())
    }

    /// Fails if the measurement must end. Threads call this periodically.
    pub fn check(&self) -> Result<()> {
        ensure!(!self.interrupt.is_set(), "interrupted");
        ensure!(!self.failed.load(Ordering::Relaxed), OtherFailed);
        ensure!(!self.left().is_zero(), "it takes longer than {} s (--limit)", self.timeout.as_secs());
        Ok(())
    }
}
