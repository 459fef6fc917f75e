//! The turns of a measurement. Between turns the client reads the clock and chooses the number of transfers, so that
//! the measured loops end by time without reading a clock.

use std::time::{Duration, Instant};

use dat_measure::perf::clock::MAX_STEPS;
use dat_measure::perf::plan::Plan;
use serde::{Deserialize, Serialize};

/// Target duration of a turn.
const TURN: Duration = Duration::from_millis(250);
/// Maximum factor by which the transfers grow from turn to turn, because the time of one turn may be unusually short.
const MAX_GROWTH: u64 = 16;
/// The warm-up takes at most the total time divided by this.
const WARMUP_SHARE: u32 = 10;

/// A number of transfers of each thread; 0 ends the measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub transfers: u64,
    /// Set if the transfers are measured. One unmeasured transfer, with which both sides start, precedes them.
    pub counts: bool,
}

impl Turn {
    /// Returns the number of transfers, including the unmeasured transfer.
    pub fn all(self) -> u64 {
        self.transfers + u64::from(self.counts && self.transfers > 0)
    }
}

#[derive(Clone, Debug)]
pub struct Goal {
    warmup: u64,
    transfers: u64,
    /// Duration of the measurement, with --duration. `None` if the number of transfers determines the end.
    duration: Option<Duration>,
    /// Latest end.
    until: Instant,
    warmup_time: Duration,
    spent: Duration,
    last: u64,
    /// Seconds of a transfer in the slowest recent turn; each turn halves older times.
    slow: f64,
}

impl Goal {
    /// Creates the goal of a plan. A `duration` replaces the plan's number of transfers; `until` is the latest end.
    pub fn new(plan: &Plan, duration: Option<Duration>, until: Instant) -> Self {
        let time = duration.unwrap_or(Duration::MAX).min(until.saturating_duration_since(Instant::now()));
        let transfers = if duration.is_some() { u64::MAX } else { plan.iterations };
        let (warmup, warmup_time, spent) = (plan.warmup, time / WARMUP_SHARE, Duration::ZERO);
        Self { warmup, transfers, duration, until, warmup_time, spent, last: 0, slow: 0.0 }
    }

    /// Returns the next turn, which takes at most about `max`.
    pub fn next(&self, now: Instant, max: Duration) -> Turn {
        let left = self.until.saturating_duration_since(now);
        if self.warmup > 0 && !self.warmup_time.is_zero() {
            return Turn { transfers: self.fitting(self.warmup, self.warmup_time.min(left)), counts: false };
        }
        let wanted = self.duration.map_or(Duration::MAX, |duration| duration.saturating_sub(self.spent));
        let enough = self.duration.is_some_and(|duration| wanted <= duration / 100);
        // Measure at least one turn.
        let over = !self.spent.is_zero() && (enough || left.is_zero());
        Turn { transfers: if over { 0 } else { self.fitting(self.transfers, wanted.min(left).min(max)) }, counts: true }
    }

    /// Returns the number of transfers of a turn that takes at most about `time`: at least one, at most `left`.
    fn fitting(&self, left: u64, time: Duration) -> u64 {
        let in_time = (time.min(TURN).as_secs_f64() / self.slow.max(1e-9)) as u64;
        let max = in_time.min(self.last.saturating_mul(MAX_GROWTH)).min(MAX_STEPS as u64);
        max.max(1).min(left)
    }

    pub fn made(&mut self, turn: Turn, took: Duration) {
        // On a busy host, one turn may be a thousand times slower than the next, so older times count too. A turn of a
        // single transfer is not typical, so its time counts only for the next turn.
        let before = if self.last <= 1 { 0.0 } else { self.slow / 2.0 };
        self.slow = before.max(took.as_secs_f64() / turn.transfers.max(1) as f64);
        self.last = turn.transfers;
        if turn.counts {
            self.transfers -= turn.transfers.min(self.transfers);
            self.spent += took.max(Duration::from_nanos(1));
        } else {
            self.warmup -= turn.transfers.min(self.warmup);
            self.warmup_time = self.warmup_time.saturating_sub(took);
        }
    }
}

#[cfg(test)]
mod tests;
