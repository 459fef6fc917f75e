//! Statistics of measured times.

use std::time::Duration;

use hdrhistogram::Histogram;
use serde::Serialize;

/// Significant digits of a stored time.
const DIGITS: u8 = 3;
/// Maximum stored time in nanoseconds: an hour.
const MAX_NANOSECONDS: u64 = 3_600_000_000_000;

/// Statistics of measured times, in memory that does not grow with the number of times.
#[derive(Clone, Debug)]
pub struct Times {
    /// The times in nanoseconds, with [`DIGITS`] significant digits, for the median and deviation.
    all: Histogram<u64>,
    sum: f64,
    minimum: Duration,
    maximum: Duration,
}

/// Minimum, median, mean, maximum and standard deviation in microseconds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    pub minimum_us: f64,
    pub median_us: f64,
    pub mean_us: f64,
    pub maximum_us: f64,
    pub deviation_us: f64,
}

impl Default for Times {
    fn default() -> Self {
        let all = Histogram::new_with_bounds(1, MAX_NANOSECONDS, DIGITS).expect("the bounds are in order");
        Self { all, sum: 0.0, minimum: Duration::MAX, maximum: Duration::ZERO }
    }
}

impl Times {
    pub fn add(&mut self, time: Duration) {
        self.all.saturating_record(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
        self.sum += microseconds(time);
        (self.minimum, self.maximum) = (self.minimum.min(time), self.maximum.max(time));
    }

    /// Returns the statistics of all times, or `None` if no time was added.
    pub fn spread(&self) -> Option<Spread> {
        let (minimum, maximum) = (microseconds(self.minimum), microseconds(self.maximum));
        (!self.all.is_empty()).then(|| Spread {
            minimum_us: rounded(minimum, 3),
            median_us: rounded((self.all.value_at_quantile(0.5) as f64 / 1e3).clamp(minimum, maximum), 3),
            mean_us: rounded(self.sum / self.all.len() as f64, 3),
            maximum_us: rounded(maximum, 3),
            deviation_us: rounded(self.all.stdev() / 1e3, 3),
        })
    }
}

pub fn microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

/// Rounds a number to `digits` after the decimal point.
pub fn rounded(number: f64, digits: i32) -> f64 {
    let factor = 10f64.powi(digits);
    (number * factor).round() / factor
}

#[cfg(test)]
mod tests;
