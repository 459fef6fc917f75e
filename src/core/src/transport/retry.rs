//! The times at which a connect is attempted again while no service point listens.

use std::time::{Duration, Instant};

/// Time for which a connect waits for a service point. Programs start a client and a server together, and rely on the time that
/// the C libraries take to resolve an address.
const LISTENER_TIMEOUT: Duration = Duration::from_millis(200);
/// Pause before the second attempt. Each further pause is twice as long.
const MIN_PAUSE: Duration = Duration::from_millis(1);
/// The longest pause.
const MAX_PAUSE: Duration = Duration::from_millis(16);

/// The attempts of one connect, for transports whose network does not wait for a service point itself.
#[derive(Debug)]
pub struct ConnectRetry {
    end: Instant,
    pause: Duration,
}

impl ConnectRetry {
    /// Begins at the first attempt.
    pub fn new(now: Instant) -> Self {
        ConnectRetry { end: now + LISTENER_TIMEOUT, pause: MIN_PAUSE }
    }

    /// Returns the time of the next attempt after one that found no service point, or `None` if that was the last one.
    pub fn next_attempt(&mut self, now: Instant) -> Option<Instant> {
        let next = (now + self.pause).min(self.end);
        self.pause = (self.pause * 2).min(MAX_PAUSE);
        (now < self.end).then_some(next)
    }
}

#[cfg(test)]
mod tests;
