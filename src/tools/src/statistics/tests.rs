use super::*;

#[test]
fn the_spread_is_that_of_all_times() {
    let mut times = Times::default();
    assert_eq!(times.spread(), None);
    for nanoseconds in [3000, 1500, 4500] {
        times.add(Duration::from_nanos(nanoseconds));
    }
    assert_eq!(times.spread(), Some(Spread { minimum_us: 1.5, mean_us: 3.0, maximum_us: 4.5 }));
}
