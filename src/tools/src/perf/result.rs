//! The result of a measurement, of all threads and both processes.

use std::time::Duration;

use serde::Serialize;

use super::clock::{Measured, Usage};
use super::plan::Plan;

/// The result of a measurement. Times are those of one way, of a read those until it has ended; of many transfers at a
/// time those between two posts. Of a long measurement they are those of the last transfers. The manual page says what each
/// field is.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
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

impl Row {
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
        Row {
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
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::perf::plan::{self, Test};

    const PLAN: Plan = Plan { test: Test::SendLat, size: 1_000, pause: 0, ..plan::tests::PLAN };

    fn used(seconds: u64) -> Usage {
        Usage { elapsed: Duration::from_secs(4), processor: Duration::from_secs(seconds) }
    }

    fn measured(began: Instant, micros: u64, nanoseconds: &[f64]) -> Measured {
        Measured {
            began,
            elapsed: Duration::from_micros(micros),
            steps: nanoseconds.len() as u64,
            nanoseconds: nanoseconds.to_vec(),
        }
    }

    #[test]
    fn times_there_and_back_are_halved() {
        let thread = measured(Instant::now(), 8, &[4_000.0, 1_000.0, 2_000.0, 800.0, 200.0]);
        let row = Row::new("shm", &PLAN, &[thread], used(1), used(2));
        assert_eq!((row.min_ns, row.median_ns, row.p99_ns, row.max_ns), (100.0, 500.0, 2_000.0, 2_000.0));
        assert_eq!(row.mean_ns, 800.0);
        assert_eq!((row.cpu_seconds, row.server_cpu_seconds), (1.0, 2.0));
        assert_eq!((row.cpu_percent, row.server_cpu_percent), (25.0, 50.0));
    }

    #[test]
    fn rests_of_both_sides_are_taken_off() {
        let plan = Plan { pause: 50, ..PLAN };
        let thread = measured(Instant::now(), 102, &[102_000.0]);
        let row = Row::new("shm", &plan, &[thread], Usage::default(), Usage::default());
        assert_eq!((row.median_ns, row.mean_ns), (1_000.0, 1_000.0));
    }

    #[test]
    fn threads_add_up() {
        let plan = Plan { test: Test::WriteBw, threads: 2, ..PLAN };
        let began = Instant::now();
        let threads =
            [measured(began, 1_000, &[100.0; 4]), measured(began + Duration::from_micros(1_000), 1_000, &[300.0; 4])];
        let row = Row::new("shm", &plan, &threads, Usage::default(), Usage::default());
        assert_eq!((row.iterations, row.rate_per_s.round(), row.bandwidth_mb_per_s.round()), (8, 4_000.0, 4.0));
        assert_eq!(row.mean_ns, 200.0);
    }

    #[test]
    fn the_mean_is_that_of_the_times_and_lies_between_them() {
        // What lies behind the last transfer counts for the rate alone.
        let plan = Plan { test: Test::SendBw, ..PLAN };
        let row = Row::new("shm", &plan, &[measured(Instant::now(), 1_000, &[0.1; 3])], used(1), used(1));
        assert_eq!((row.min_ns, row.mean_ns, row.max_ns), (0.1, 0.1, 0.1));
        assert_eq!(row.rate_per_s.round(), 3_000.0);
        assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
    }

    #[test]
    fn nothing_measured_is_zero() {
        let row = Row::new("shm", &PLAN, &[], Usage::default(), Usage::default());
        assert_eq!((row.median_ns, row.mean_ns, row.rate_per_s), (0.0, 0.0, 0.0));
    }
}
