//! Minimum, mean and maximum of times.

use std::time::Duration;

use serde::Serialize;

/// Times that were measured, without the times themselves.
#[derive(Clone, Copy, Debug, Default)]
pub struct Times {
    count: u64,
    sum: f64,
    minimum: f64,
    maximum: f64,
}

/// The smallest, the mean and the greatest of some times, in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    pub minimum_us: f64,
    pub mean_us: f64,
    pub maximum_us: f64,
}

impl Times {
    /// Takes one more into account.
    pub fn add(&mut self, time: Duration) {
        let time = microseconds(time);
        self.minimum = if self.count == 0 { time } else { self.minimum.min(time) };
        self.maximum = self.maximum.max(time);
        self.sum += time;
        self.count += 1;
    }

    /// Their spread; none if there were none.
    pub fn spread(&self) -> Option<Spread> {
        (self.count > 0).then(|| Spread {
            minimum_us: self.minimum,
            mean_us: self.sum / self.count as f64,
            maximum_us: self.maximum,
        })
    }
}

/// A time in microseconds, to the nanosecond.
pub fn microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

#[cfg(test)]
mod tests;
