use super::*;

#[test]
fn the_spread_is_that_of_all_times() {
    let mut times = Times::default();
    assert_eq!(times.spread(), None);
    for nanoseconds in [300, 150, 600, 200, 1000] {
        times.add(Duration::from_nanos(nanoseconds));
    }
    let spread = times.spread().expect("there are some");
    assert_eq!((spread.minimum_us, spread.median_us, spread.maximum_us), (0.15, 0.3, 1.0));
    assert_eq!((spread.mean_us, spread.deviation_us), (0.45, 0.316));
    times.add(Duration::from_nanos(123_457));
    assert!(times.spread().is_some_and(|spread| spread.maximum_us == 123.457));
    times.add(Duration::MAX);
    assert!(times.spread().is_some_and(|spread| spread.maximum_us > 1e6));
}

#[test]
fn numbers_are_rounded() {
    assert_eq!((rounded(95.1418873048201, 1), rounded(-0.05, 1), rounded(7.0, 0)), (95.1, -0.1, 7.0));
}
