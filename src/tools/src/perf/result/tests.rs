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
    let row = Measurement::new("shm", &PLAN, &[thread], used(1), used(2));
    assert_eq!((row.min_ns, row.median_ns, row.p99_ns, row.max_ns), (100.0, 500.0, 2_000.0, 2_000.0));
    assert_eq!(row.mean_ns, 800.0);
    assert_eq!((row.cpu_seconds, row.server_cpu_seconds), (1.0, 2.0));
    assert_eq!((row.cpu_percent, row.server_cpu_percent), (25.0, 50.0));
}

#[test]
fn rests_of_both_sides_are_taken_off() {
    let plan = Plan { pause: 50, ..PLAN };
    let thread = measured(Instant::now(), 102, &[102_000.0]);
    let row = Measurement::new("shm", &plan, &[thread], Usage::default(), Usage::default());
    assert_eq!((row.median_ns, row.mean_ns), (1_000.0, 1_000.0));
}

#[test]
fn threads_add_up() {
    let plan = Plan { test: Test::WriteBw, threads: 2, ..PLAN };
    let began = Instant::now();
    let threads =
        [measured(began, 1_000, &[100.0; 4]), measured(began + Duration::from_micros(1_000), 1_000, &[300.0; 4])];
    let row = Measurement::new("shm", &plan, &threads, Usage::default(), Usage::default());
    assert_eq!((row.iterations, row.rate_per_s.round(), row.bandwidth_mb_per_s.round()), (8, 4_000.0, 4.0));
    assert_eq!(row.mean_ns, 200.0);
}

#[test]
fn the_mean_is_that_of_the_times_and_lies_between_them() {
    // What lies behind the last transfer counts for the rate alone.
    let plan = Plan { test: Test::SendBw, ..PLAN };
    let row = Measurement::new("shm", &plan, &[measured(Instant::now(), 1_000, &[0.1; 3])], used(1), used(1));
    assert_eq!((row.min_ns, row.mean_ns, row.max_ns), (0.1, 0.1, 0.1));
    assert_eq!(row.rate_per_s.round(), 3_000.0);
    assert_eq!(mean(&[1.0, 2.0, 6.0]), 3.0);
}

#[test]
fn nothing_measured_is_zero() {
    let row = Measurement::new("shm", &PLAN, &[], Usage::default(), Usage::default());
    assert_eq!((row.median_ns, row.mean_ns, row.rate_per_s), (0.0, 0.0, 0.0));
}
