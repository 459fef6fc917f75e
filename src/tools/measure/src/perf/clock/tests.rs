use super::*;

#[test]
fn ticks_agree_with_the_system_clock() {
    // Another thread may run between two reads, but hardly in each of the 100 attempts.
    let near = (0..100).any(|_| {
        let (began, first) = (Instant::now(), ticks());
        pause(5_000);
        let ours = (ticks() - first) as f64 * nanoseconds_of_tick();
        let theirs = began.elapsed().as_nanos() as f64;
        (0.9..1.1).contains(&(ours / theirs)) && theirs >= 4_500_000.0
    });
    assert!(near);
}

#[test]
fn keeps_the_steps_of_all_turns() {
    let mut steps = Steps::new();
    for count in [MAX_STEPS, 3] {
        steps.start();
        for _ in 0..count {
            steps.step();
        }
        steps.stop();
    }
    let Measured { turns, ticks, tick } = steps.measured;
    assert_eq!((turns.len(), ticks.len()), (2, MAX_STEPS as u64 + 3));
    let (sum, elapsed) = (ticks.mean() * ticks.len() as f64 * tick, turns[0].1 + turns[1].1);
    assert!(sum > 0.0 && sum <= elapsed.as_nanos() as f64 * 1.1, "{sum} {elapsed:?}");
}

#[test]
fn keeps_long_steps() {
    let (mut steps, long) = (Steps::new(), 1 << 33);
    steps.start();
    steps.last -= long;
    steps.step();
    steps.stop();
    assert!(steps.measured.ticks.min() >= long - long / 1000, "{}", steps.measured.ticks.min());
}

#[test]
fn cpu_time_increases() {
    let before = Usage::until_now();
    pause(3_000);
    let mut used = Usage::default();
    used.add_since(before);
    assert!(used.processor > Duration::ZERO && used.elapsed >= Duration::from_micros(2_900), "{used:?}");
    assert!(used.percent() > 0.0, "{used:?}");
    assert_eq!(Usage::default().percent(), 0.0);
}

#[test]
fn steps_of_unknown_time_have_their_mean() {
    let mut steps = Steps::new();
    steps.start();
    steps.last -= 4_000_000_000;
    steps.step_by(MAX_STEPS as u64);
    steps.step_by(0);
    steps.stop();
    let Measured { ticks, .. } = steps.measured;
    assert_eq!((ticks.len(), ticks.stdev()), (MAX_STEPS as u64, 0.0));
    assert!(ticks.mean() * MAX_STEPS as f64 >= 3.9e9, "{}", ticks.mean());
}
