use dat_measure::testing::PLAN;

use super::*;

/// Performs all turns with a fixed time per transfer, and returns the transfers of the warm-up and of the measured
/// turns.
fn all(mut goal: Goal, transfer: Duration) -> (Vec<u64>, Vec<u64>) {
    let (mut warmup, mut counted, mut now) = (Vec::new(), Vec::new(), Instant::now());
    loop {
        let turn = goal.next(now, Duration::MAX);
        if turn.transfers == 0 {
            return (warmup, counted);
        }
        assert!(turn.transfers <= MAX_STEPS as u64);
        let took = transfer * u32::try_from(turn.transfers).expect("it is not more than is kept");
        if turn.counts { &mut counted } else { &mut warmup }.push(turn.transfers);
        goal.made(turn, took);
        now += took;
    }
}

fn goal(warmup: u64, iterations: u64, duration: Option<u64>, limit: u64) -> Goal {
    let plan = Plan { warmup, iterations, ..PLAN };
    Goal::new(&plan, duration.map(Duration::from_millis), Instant::now() + Duration::from_secs(limit))
}

#[test]
fn few_transfers_make_one_turn() {
    let (warmup, counted) = all(goal(2_001, 20_000, None, 100), Duration::from_nanos(100));
    assert_eq!((warmup, counted), (vec![1, 16, 256, 1_728], vec![20_000]));
    let (warmup, counted) = all(goal(0, 100_000, None, 100), Duration::from_nanos(100));
    assert_eq!((warmup.len(), counted.iter().sum::<u64>()), (0, 100_000));
}

#[test]
fn slow_transfers_end_by_time() {
    let transfer = Duration::from_millis(6);
    let (warmup, counted) = all(goal(2_001, 20_000, None, 10), transfer);
    let took = |turns: &[u64]| transfer.as_secs_f64() * turns.iter().sum::<u64>() as f64;
    assert!((0.9..1.2).contains(&took(&warmup)), "{warmup:?}");
    assert!((8.5..9.2).contains(&took(&counted)), "{counted:?}");
    assert!(counted.iter().all(|&turn| turn <= 42), "{counted:?}");
}

#[test]
fn duration_determines_the_end() {
    for nanoseconds in [100, 5_000, 300_000, 40_000_000] {
        let transfer = Duration::from_nanos(nanoseconds);
        let (_, counted) = all(goal(11, 10, Some(2_000), 100), transfer);
        let took = transfer.as_secs_f64() * counted.iter().sum::<u64>() as f64;
        assert!((1.9..2.1).contains(&took), "{nanoseconds}: {took}");
    }
}

#[test]
fn measures_one_turn_without_time() {
    assert_eq!(all(goal(5, 5, None, 0), Duration::from_secs(9)), (vec![], vec![1]));
}
