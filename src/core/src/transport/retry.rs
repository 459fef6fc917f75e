//! Retry times of a connect while no service point listens.

use std::time::{Duration, Instant};

/// Time during which a connect is repeated, for clients and servers that start together. With the uDAPL libraries in C,
/// such clients succeed, because the resolution of an address takes as long.
const LISTENER_TIMEOUT: Duration = Duration::from_millis(200);
/// First pause between attempts, doubled with each attempt.
const MIN_PAUSE: Duration = Duration::from_millis(1);
const MAX_PAUSE: Duration = Duration::from_millis(16);

/// The times of a connect's attempts, for networks on which an attempt fails if no service point listens.
#[derive(Debug)]
pub struct ConnectRetry {
    end: Instant,
    pause: Duration,
}

impl ConnectRetry {
    /// Creates the times for a connect whose first attempt is at `now`.
    pub fn new(now: Instant) -> Self {
        ConnectRetry { end: now + LISTENER_TIMEOUT, pause: MIN_PAUSE }
    }

    /// Returns the time of the next attempt, or `None` if the time limit has passed.
    pub fn next_attempt(&mut self, now: Instant) -> Option<Instant> {
        let next = self.again(now).min(self.end);
        (now < self.end).then_some(next)
    }

    /// Returns the time of the next attempt, which the peer has requested. The time limit does not apply.
    pub fn again(&mut self, now: Instant) -> Instant {
        let next = now + self.pause;
        self.pause = (self.pause * 2).min(MAX_PAUSE);
        next
    }
}

#[cfg(test)]
mod tests;
