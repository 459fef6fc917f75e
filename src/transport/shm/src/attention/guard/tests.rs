use super::*;

#[test]
fn wakes_late_peer_immediately_for_a_while() {
    let mut trust = Trust::default();
    let mut wary = |late: bool| {
        let mut count = 0;
        let mut late = late;
        while !trust.after(std::mem::take(&mut late), WARY_MAX) {
            count += 1;
        }
        count
    };
    assert_eq!(wary(false), 0);
    assert_eq!([wary(true), wary(true), wary(true)], [WARY_MIN, 2 * WARY_MIN, 4 * WARY_MIN]);
    assert_eq!((0..20).map(|_| wary(true)).max(), Some(WARY_MAX), "as many at most");
    for _ in 0..TRUSTWORTHY {
        assert_eq!(wary(false), 0);
    }
    assert_eq!(wary(true), WARY_MIN, "it was trustworthy for long");
}
