//! The result of a measurement, of all threads and both processes.

use std::time::Duration;

use serde::Serialize;

use super::clock::{Measured, Usage};
use super::plan::Plan;

/// The result of a measurement. Times are those of one way, of a read those until it has ended; of many transfers at a
/// time those between two posts. Of a long measurement they are those of the last transfers. The manual page says what each
/// field is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measurement {
    pub adapter: String,
    pub test: super::plan::Test,
    pub size: u64,
    pub iterations: u64,
    pub outstanding: u32,
    pub connections: u32,
    pub active: u32,
    pub threads: u32,
    pub srq: bool,
    pub wait: bool,
    pub min_ns: f64,
    pub median_ns: f64,
    pub mean_ns: f64,
    pub p99_ns: f64,
    pub max_ns: f64,
    pub rate_per_s: f64,
    pub bandwidth_mb_per_s: f64,
    pub seconds: f64,
    pub cpu_seconds: f64,
    pub cpu_percent: f64,
    pub server_cpu_seconds: f64,
    pub server_cpu_percent: f64,
}

impl Measurement {
    /// Adds up what the threads have measured.
    ///
    /// # Parameters
    /// * `own`, `server` - what either process has used during the measurement.
    pub fn new(adapter: &str, plan: &Plan, threads: &[Measured], own: Usage, server: Usage) -> Self {
        let ways = f64::from(plan.test.ways());
        // Both processes rest in a round, one after the other.
        let rest = ways * f64::from(plan.pause) * 1e3;
        let one_way = |round: f64| (round - rest).max(0.0) / ways;
        let mut times: Vec<f64> = threads.iter().flat_map(|thread| &thread.nanoseconds).map(|&t| one_way(t)).collect();
        times.sort_by(f64::total_cmp);
        let iterations = threads.iter().map(|thread| thread.steps).sum::<u64>();
        let seconds = whole_time(threads).as_secs_f64();
        let rate = if seconds > 0.0 { iterations as f64 / seconds } else { 0.0 };
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
            min_ns: quantile(&times, 0.0),
            median_ns: quantile(&times, 0.5),
            mean_ns: mean(&times),
            p99_ns: quantile(&times, 0.99),
            max_ns: quantile(&times, 1.0),
            rate_per_s: rate,
            bandwidth_mb_per_s: rate * plan.size as f64 / 1e6,
            seconds,
            cpu_seconds: own.processor.as_secs_f64(),
            cpu_percent: own.percent(),
            server_cpu_seconds: server.processor.as_secs_f64(),
            server_cpu_percent: server.percent(),
        }
    }
}

/// From the start of the first thread to the end of the last one.
fn whole_time(threads: &[Measured]) -> Duration {
    let first = threads.iter().map(|thread| thread.began).min();
    let last = threads.iter().map(|thread| thread.began + thread.elapsed).max();
    first.zip(last).map_or(Duration::ZERO, |(first, last)| last - first)
}

/// The mean of sorted values, which no rounding takes outside of them; 0 if there are none.
fn mean(sorted: &[f64]) -> f64 {
    match sorted {
        [] => 0.0,
        [least, ..] => (sorted.iter().sum::<f64>() / sorted.len() as f64).clamp(*least, sorted[sorted.len() - 1]),
    }
}

/// The value below which this part of the sorted values lies; 0 if there are none.
fn quantile(sorted: &[f64], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    sorted.get((part * last as f64).round() as usize).copied().unwrap_or(0.0)
}

#[cfg(test)]
mod tests;
