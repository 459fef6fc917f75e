//! How many transfers come next: a measurement is made in turns, so that it can end by time without a look at a clock
//! within a turn.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::clock::KEPT;
use super::plan::Plan;

/// The longest turn, as far as the one before tells.
const SLICE: Duration = Duration::from_millis(250);
/// A turn has at most this many times the transfers of the one before, of which the first may say little.
const GROWTH: u64 = 16;
/// Warming up takes at most this part of the time that there is.
const WARMING: u32 = 10;

/// Transfers of each thread that are made without a break; none of them is the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    pub transfers: u64,
    /// They are measured, and not for warming up. One more comes before them, with which both sides begin.
    pub counts: bool,
}

impl Turn {
    /// All transfers of a thread in this turn.
    pub fn all(self) -> u64 {
        self.transfers + u64::from(self.counts && self.transfers > 0)
    }
}

/// What the client of a measurement wants, and what there is of it.
#[derive(Clone, Debug)]
pub struct Goal {
    /// Transfers to warm up, and to measure, which are still to be made.
    warmup: u64,
    transfers: u64,
    /// The time to measure for, if that is the end and not the number of transfers.
    duration: Option<Duration>,
    /// When it has to end.
    until: Instant,
    /// The longest time of warming up.
    warming: Duration,
    spent: Duration,
    /// Transfers of the turn before, and seconds of one, as the slower turns of the last ones have had it.
    last: u64,
    slow: f64,
}

impl Goal {
    /// Of a plan.
    ///
    /// # Parameters
    /// * `duration` - measure for this time, and not as many transfers as the plan says.
    /// * `until` - when the measurement has to end, with what there is.
    pub fn new(plan: &Plan, duration: Option<Duration>, until: Instant) -> Self {
        let longest = duration.unwrap_or(Duration::MAX).min(until.saturating_duration_since(Instant::now()));
        let transfers = if duration.is_some() { u64::MAX } else { plan.iterations };
        let (warmup, warming) = (plan.warmup, longest / WARMING);
        Self { warmup, transfers, duration, until, warming, spent: Duration::ZERO, last: 0, slow: 0.0 }
    }

    /// What comes next.
    pub fn next(&self, now: Instant) -> Turn {
        let left = self.until.saturating_duration_since(now);
        if self.warmup > 0 && !self.warming.is_zero() {
            return Turn { transfers: self.fitting(self.warmup, self.warming.min(left).min(SLICE)), counts: false };
        }
        let wanted = self.duration.map_or(Duration::MAX, |duration| duration.saturating_sub(self.spent));
        // What is measured for a time ends when a hundredth of it is left.
        let enough = self.duration.is_some_and(|duration| wanted <= duration / 100);
        // Something is measured in any case.
        let over = !self.spent.is_zero() && (enough || left.is_zero());
        let transfers = if over { 0 } else { self.fitting(self.transfers, wanted.min(left).min(SLICE)) };
        Turn { transfers, counts: true }
    }

    /// Transfers that take no longer than this, as far as the turn before tells; at least one if one is left.
    fn fitting(&self, left: u64, time: Duration) -> u64 {
        let in_time = (time.as_secs_f64() / self.slow.max(1e-9)) as u64;
        let most = in_time.min(self.last.saturating_mul(GROWTH)).min(KEPT as u64);
        most.max(1).min(left)
    }

    /// A turn was made within a time.
    pub fn made(&mut self, turn: Turn, took: Duration) {
        // On a busy host a turn may be a thousand times slower than the one before. The very first transfer says little.
        let before = if self.last <= 1 { 0.0 } else { self.slow / 2.0 };
        self.slow = before.max(took.as_secs_f64() / turn.transfers.max(1) as f64);
        self.last = turn.transfers;
        if turn.counts {
            self.transfers -= turn.transfers.min(self.transfers);
            self.spent += took.max(Duration::from_nanos(1));
        } else {
            self.warmup -= turn.transfers.min(self.warmup);
            self.warming = self.warming.saturating_sub(took);
        }
    }
}

#[cfg(test)]
mod tests;
