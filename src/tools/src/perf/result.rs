//! The result of a measurement, of all threads and both processes.

use std::time::Duration;

use dat_measure::perf::clock::{Measured, Usage, times};
use dat_measure::perf::plan::{Plan, Test};
use serde::Serialize;

use crate::statistics::rounded;

/// The result of a measurement. The manual page describes the fields.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    pub adapter: String,
    pub test: Test,
    pub size: u64,
    pub iterations: u64,
    pub outstanding: u32,
    pub connections: u32,
    pub active: u32,
    pub threads: u32,
    pub srq: bool,
    pub wait: bool,
    pub both: bool,
    pub reverse: bool,
    pub min_ns: f64,
    pub median_ns: f64,
    pub mean_ns: f64,
    pub p90_ns: f64,
    pub p99_ns: f64,
    pub p99_9_ns: f64,
    pub p99_99_ns: f64,
    pub max_ns: f64,
    pub deviation_ns: f64,
    pub rate_per_s: f64,
    pub bandwidth_mb_per_s: f64,
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub cpu_percent: f64,
    pub server_cpu_seconds: f64,
    pub server_cpu_percent: f64,
    pub processors: usize,
    pub load: f64,
    /// `false` if --limit ended the measurement.
    pub complete: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub histogram: Option<Vec<Class>>,
}

/// A class of the histogram: times from `from_ns` to below `to_ns`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Class {
    pub from_ns: f64,
    pub to_ns: f64,
    pub count: u64,
}

impl Measurement {
    /// Creates the result from the threads' measurements, and the usage of the client (`own`) and the server.
    pub fn new(adapter: &str, plan: &Plan, threads: &[Measured], own: Usage, server: Usage) -> Self {
        let mut all = times();
        for thread in threads {
            all.add(&thread.ticks).expect("their bounds are the same");
        }
        let time = |ticks: f64| rounded(of_one_transfer(plan, threads, ticks), 1);
        let quantile = |part: f64| time(all.value_at_quantile(part) as f64);
        let iterations = all.len();
        let seconds = whole_time(threads).as_secs_f64();
        let directions = if plan.both { 2.0 } else { 1.0 };
        let rate = if seconds > 0.0 { directions * iterations as f64 / seconds } else { 0.0 };
        // Constant pauses do not affect the deviation.
        let tick = threads.first().map_or(1.0, |thread| thread.tick);
        let deviation = all.stdev() * tick / f64::from(plan.test.ways());
        Measurement {
            adapter: adapter.to_owned(),
            test: plan.test,
            size: plan.size,
            iterations,
            outstanding: plan.outstanding,
            connections: plan.connections,
            active: plan.active,
            threads: plan.threads,
            srq: plan.srq,
            wait: plan.wait,
            both: plan.both,
            reverse: plan.reverse,
            min_ns: time(all.min() as f64),
            median_ns: quantile(0.5),
            mean_ns: time(all.mean()),
            p90_ns: quantile(0.9),
            p99_ns: quantile(0.99),
            p99_9_ns: quantile(0.999),
            p99_99_ns: quantile(0.9999),
            max_ns: time(all.max() as f64),
            deviation_ns: rounded(deviation, 1),
            rate_per_s: rounded(rate, 1),
            bandwidth_mb_per_s: rounded(rate * plan.size as f64 / 1e6, 6),
            seconds: rounded(seconds, 9),
            cpu_seconds: rounded(own.processor.as_secs_f64(), 6),
            cpu_percent: rounded(own.percent(), 1),
            server_cpu_seconds: rounded(server.processor.as_secs_f64(), 6),
            server_cpu_percent: rounded(server.percent(), 1),
            processors: 0,
            load: 0.0,
            complete: true,
            histogram: Some(classes(all.iter_recorded().map(|value| {
                (of_one_transfer(plan, threads, value.value_iterated_to() as f64), value.count_at_value())
            }))),
        }
    }
}

fn of_one_transfer(plan: &Plan, threads: &[Measured], ticks: f64) -> f64 {
    let (ways, tick) = (f64::from(plan.test.ways()), threads.first().map_or(1.0, |thread| thread.tick));
    // Both processes pause in a round, once each.
    let pauses = ways * f64::from(plan.pause) * 1e3;
    (ticks * tick - pauses).max(0.0) / ways
}

/// Returns the total duration of all turns. A turn lasts from the start of its first thread to the end of its last
/// thread.
fn whole_time(threads: &[Measured]) -> Duration {
    let turns = threads.iter().map(|thread| thread.turns.len()).max().unwrap_or(0);
    let turn = |at: usize| {
        let all = || threads.iter().filter_map(|thread| thread.turns.get(at));
        let (first, last) = (all().map(|turn| turn.0).min(), all().map(|turn| turn.0 + turn.1).max());
        first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first)
    };
    (0..turns).map(turn).sum()
}

/// Lower bounds of the classes in each power of ten.
const BOUNDS: [f64; 10] = [1.0, 1.2, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 8.0];

/// Returns the nonempty classes of `times`, which are pairs of a time and its count, in ascending order.
fn classes(times: impl IntoIterator<Item = (f64, u64)>) -> Vec<Class> {
    let mut classes: Vec<Class> = Vec::new();
    for (time, count) in times {
        match classes.last_mut() {
            Some(last) if time < last.to_ns => last.count += count,
            _ => {
                let (from_ns, to_ns) = bounds(time);
                classes.push(Class { from_ns, to_ns, count });
            }
        }
    }
    classes
}

fn bounds(time: f64) -> (f64, f64) {
    if time < 1.0 {
        return (0.0, 1.0);
    }
    // The time is at least 1, and powers of ten from 1 are exact.
    let power = 10f64.powi(time.log10().floor() as i32);
    let all = || BOUNDS.iter().flat_map(|bound| [bound * power]).chain([10.0 * power, 12.0 * power]);
    let from = all().filter(|&bound| bound <= time).fold(power, f64::max);
    let to = all().find(|&bound| bound > from).unwrap_or(time * 2.0);
    (rounded(from, 1), rounded(to, 1))
}

#[cfg(test)]
mod tests;
