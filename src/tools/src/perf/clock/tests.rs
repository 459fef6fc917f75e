use super::*;

#[test]
fn a_tick_has_the_length_that_the_system_says() {
    // Others may get the processor between two readings, though not each time.
    let near = (0..100).any(|_| {
        let (began, first) = (Instant::now(), ticks());
        rest(5_000);
        let ours = (ticks() - first) as f64 * nanoseconds_of_tick();
        let theirs = began.elapsed().as_nanos() as f64;
        (0.9..1.1).contains(&(ours / theirs)) && theirs >= 4_500_000.0
    });
    assert!(near);
}

#[test]
fn the_steps_of_all_turns_are_kept() {
    let mut steps = Steps::new();
    for count in [KEPT, 3] {
        steps.start();
        for _ in 0..count {
            steps.step();
        }
        steps.stop();
    }
    let Measured { turns, ticks, tick } = steps.end();
    assert_eq!((turns.len(), ticks.len()), (2, KEPT as u64 + 3));
    let (sum, elapsed) = (ticks.mean() * ticks.len() as f64 * tick, turns[0].1 + turns[1].1);
    assert!(sum > 0.0 && sum <= elapsed.as_nanos() as f64 * 1.1, "{sum} {elapsed:?}");
}

#[test]
fn processor_time_goes_on_while_it_computes() {
    let before = Usage::until_now();
    rest(3_000);
    let used = Usage::until_now().since(before);
    assert!(used.processor > Duration::ZERO && used.elapsed >= Duration::from_micros(2_900), "{used:?}");
    assert!(used.percent() > 0.0, "{used:?}");
    assert_eq!(Usage::default().percent(), 0.0);
}
