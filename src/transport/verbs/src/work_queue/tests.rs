use super::*;

#[test]
fn refusals_are_hopeless_after_a_while_and_again_after_another() {
    let now = Instant::now();
    let mut refusals = Refusals::default();
    assert!(!refusals.any() && !refusals.are_hopeless(now + 2 * REFUSAL_TIMEOUT));
    assert!(refusals.count(now));
    assert!(!refusals.count(now + REFUSAL_TIMEOUT));
    assert!(refusals.any() && !refusals.are_hopeless(now + REFUSAL_TIMEOUT));
    let later = now + REFUSAL_TIMEOUT + Duration::from_millis(1);
    assert!(refusals.are_hopeless(later));
    assert!(!refusals.are_hopeless(later));
    assert!(refusals.are_hopeless(later + 2 * REFUSAL_TIMEOUT));
}

#[test]
fn requests_after_a_read_are_reached_only_with_it() {
    // The numbers of reads, and batches of completions with the request up to which all have completed then.
    type Batch = (&'static [u64], Option<u64>);
    let cases: [(&[u64], &[Batch]); 5] = [
        (&[2], &[(&[0, 1, 3, 2], Some(3))]),
        (&[2], &[(&[0, 1, 3], Some(1)), (&[2], Some(3))]),
        (&[0], &[(&[1], None), (&[2, 0], Some(2))]),
        (&[5, 7], &[(&[6], Some(4)), (&[5], Some(6)), (&[8], Some(6)), (&[7, 9], Some(9))]),
        (&[3, 4], &[(&[3], Some(3)), (&[4, 5], Some(5))]),
    ];
    for (reads, batches) in cases {
        let mut known = Reads { ids: reads.iter().copied().collect(), last: 0 };
        for (completed, reached) in batches {
            assert_eq!(known.reached(completed.iter().copied()), *reached, "reads {reads:?}, then {completed:?}");
        }
    }
}
