use std::time::Instant;

use dat_measure::testing;

use super::*;

const PLAN: Plan = Plan { test: Test::SendLat, size: 1_000, pause: 0, ..testing::PLAN };

fn used(seconds: u64) -> Usage {
    Usage { elapsed: Duration::from_secs(4), processor: Duration::from_secs(seconds) }
}

/// Returns steps with these times in tenths of a nanosecond.
fn measured(began: Instant, micros: u64, tenths: &[u64]) -> Measured {
    let mut ticks = times();
    for &time in tenths {
        ticks.record(time).expect("it is within the bounds");
    }
    Measured { turns: vec![(began, Duration::from_micros(micros))], ticks, tick: 0.1 }
}

#[test]
fn halves_round_trips() {
    let thread = measured(Instant::now(), 8, &[400, 100, 200, 80, 20]);
    let row = Measurement::new("shm", &PLAN, &[thread], used(1), used(2));
    assert_eq!((row.min_ns, row.median_ns, row.p99_ns, row.max_ns), (1.0, 5.0, 20.0, 20.0));
    assert_eq!((row.mean_ns, row.p99_9_ns, row.p99_99_ns, row.p90_ns, row.deviation_ns), (8.0, 20.0, 20.0, 20.0, 6.7));
    assert_eq!((row.cpu_seconds, row.server_cpu_seconds), (1.0, 2.0));
    assert_eq!((row.cpu_percent, row.server_cpu_percent), (25.0, 50.0));
}

#[test]
fn subtracts_pauses() {
    let plan = Plan { pause: 50, ..PLAN };
    let thread = measured(Instant::now(), 102, &[1_020_000]);
    let row = Measurement::new("shm", &plan, &[thread], Usage::default(), Usage::default());
    assert!((990.0..=1_030.0).contains(&row.median_ns) && (990.0..=1_030.0).contains(&row.mean_ns), "{row:?}");
    assert_eq!(row.deviation_ns, 0.0);
}

#[test]
fn adds_threads() {
    let plan = Plan { test: Test::WriteBw, threads: 2, ..PLAN };
    let began = Instant::now();
    let threads =
        [measured(began, 1_000, &[1_000; 4]), measured(began + Duration::from_micros(1_000), 1_000, &[2_000; 4])];
    let row = Measurement::new("shm", &plan, &threads, Usage::default(), Usage::default());
    assert_eq!((row.iterations, row.rate_per_s.round(), row.bandwidth_mb_per_s.round()), (8, 4_000.0, 4.0));
    assert_eq!(row.mean_ns, 150.0);
}

#[test]
fn mean_is_between_minimum_and_maximum() {
    // Time after the last transfer counts only for the rate.
    let plan = Plan { test: Test::SendBw, ..PLAN };
    let row = Measurement::new("shm", &plan, &[measured(Instant::now(), 1_000, &[1; 3])], used(1), used(1));
    assert_eq!((row.min_ns, row.mean_ns, row.max_ns), (0.1, 0.1, 0.1));
    assert_eq!(row.rate_per_s.round(), 3_000.0);
}

#[test]
fn empty_measurements_are_zero() {
    let row = Measurement::new("shm", &PLAN, &[], Usage::default(), Usage::default());
    assert_eq!((row.median_ns, row.mean_ns, row.rate_per_s), (0.0, 0.0, 0.0));
}

#[test]
fn adds_turns_without_the_time_between_them() {
    let began = Instant::now();
    let mut thread = measured(began, 1_000, &[1_000; 4]);
    thread.turns.push((began + Duration::from_secs(60), Duration::from_micros(1_000)));
    let row = Measurement::new("shm", &PLAN, &[thread.clone(), thread], Usage::default(), Usage::default());
    assert_eq!((row.iterations, row.seconds, row.rate_per_s), (8, 0.002, 4_000.0));
}

#[test]
fn histograms_have_nonempty_classes() {
    let class = |from_ns, to_ns, count| Class { from_ns, to_ns, count };
    let times = [(0.4, 1), (99.9, 2), (100.0, 3), (119.9, 4), (120.0, 5), (7_999.0, 6), (9_999_999.0, 7)];
    let wanted = [(0.0, 1.0, 1), (80.0, 100.0, 2), (100.0, 120.0, 7), (120.0, 150.0, 5), (6_000.0, 8_000.0, 6)];
    let mut wanted: Vec<_> = wanted.map(|(from, to, count)| class(from, to, count)).to_vec();
    wanted.push(class(8e6, 1e7, 7));
    assert_eq!(classes(times), wanted);
    let thread = measured(Instant::now(), 8, &[400, 100, 200, 80, 20]);
    let row = Measurement::new("shm", &PLAN, std::slice::from_ref(&thread), used(1), used(1));
    assert_eq!(row.histogram.iter().flatten().map(|class| class.count).sum::<u64>(), 5);
}

#[test]
fn rates_include_both_directions() {
    let plan = Plan { test: Test::WriteBw, both: true, ..PLAN };
    let row = Measurement::new("shm", &plan, &[measured(Instant::now(), 1_000, &[1_000; 4])], used(1), used(1));
    assert_eq!((row.iterations, row.rate_per_s, row.bandwidth_mb_per_s), (4, 8_000.0, 8.0));
}
