//! The intervals of --interval, which end between two turns of the measuring thread.

use std::time::{Duration, Instant};

use anyhow::Result;
use dat_measure::perf::clock::{Measured, Usage, times};
use hdrhistogram::Histogram;

/// A function that receives the end of an interval, as the time since the first turn, its measured times and its usage.
pub type Show<'a> = &'a mut dyn FnMut(Duration, Measured, Usage) -> Result<()>;

pub struct Intervals<'a> {
    every: Duration,
    show: Show<'a>,
    began: Option<Instant>,
    /// The end of the current interval, counted from the first turn.
    end: Duration,
    /// Number of turns in the previous intervals. The next two fields are their times and usage.
    turns: usize,
    ticks: Histogram<u64>,
    usage: Usage,
}

impl<'a> Intervals<'a> {
    pub fn new(every: Duration, show: Show<'a>) -> Self {
        Self { every, show, began: None, end: every, turns: 0, ticks: times(), usage: Usage::default() }
    }

    /// Returns the remaining time of the current interval.
    pub fn left(&self, now: Instant) -> Duration {
        self.began.map_or(self.every, |began| (began + self.end).saturating_duration_since(now))
    }

    /// Shows the interval up to the last turn if its time has passed, or if the measurement ended.
    pub fn show(&mut self, measured: &Measured, usage: Usage, ended: bool) -> Result<()> {
        let (Some(first), Some(last)) = (measured.turns.first(), measured.turns[self.turns..].last()) else {
            return Ok(());
        };
        self.began = Some(first.0);
        let time = last.0 + last.1 - first.0;
        // If less than a hundredth of the interval is left, it ends now: so short a turn would cost more time than it
        // measures.
        if !ended && time + self.every / 100 < self.end {
            return Ok(());
        }
        let mut ticks = measured.ticks.clone();
        ticks.subtract(&self.ticks).expect("earlier times are a part of all times");
        let interval = Measured { turns: measured.turns[self.turns..].to_vec(), ticks, tick: measured.tick };
        (self.show)(time, interval, usage.since(self.usage))?;
        (self.turns, self.ticks, self.usage) = (measured.turns.len(), measured.ticks.clone(), usage);
        while self.end <= time + self.every / 100 {
            self.end += self.every;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
