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
fn steps_are_counted_and_the_last_ones_kept() {
    let mut steps = Steps::new(u64::MAX);
    steps.start();
    for _ in 0..KEPT + 10 {
        steps.step();
    }
    let measured = steps.end();
    assert_eq!((measured.steps, measured.nanoseconds.len()), (KEPT as u64 + 10, KEPT));
    let sum: f64 = measured.nanoseconds.iter().sum();
    assert!(sum > 0.0 && sum <= measured.elapsed.as_nanos() as f64 * 1.1, "{sum} {:?}", measured.elapsed);
    let mut few = Steps::new(3);
    few.start();
    few.step();
    assert_eq!(few.end().nanoseconds.len(), 1);
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
