use super::*;

/// The number of waits that look, of so many.
fn looks(adaptive_spin: &AdaptiveSpin, waits: usize, kept_others: bool) -> usize {
    let look = |_: &usize| {
        let looks = adaptive_spin.looks();
        match (looks, kept_others) {
            (true, true) => _ = adaptive_spin.note_kept(),
            (true, false) => adaptive_spin.note_free(),
            (false, _) => {}
        }
        looks
    };
    (0..waits).filter(look).count()
}

#[test]
fn a_wait_looks_as_long_as_that_keeps_nobody_from_work() {
    assert_eq!(looks(&AdaptiveSpin::default(), 1000, false), 1000);
}

#[test]
fn once_means_nothing() {
    let adaptive_spin = AdaptiveSpin::default();
    for _ in 0..100 {
        assert!(!adaptive_spin.note_kept() && adaptive_spin.looks());
        adaptive_spin.note_free();
    }
    assert!(!adaptive_spin.note_kept() && adaptive_spin.looks());
    assert!(adaptive_spin.note_kept() && !adaptive_spin.looks());
}

#[test]
fn where_others_need_the_processor_few_waits_look() {
    let adaptive_spin = AdaptiveSpin::default();
    let found = looks(&adaptive_spin, 10_000, true);
    assert!((10_000 / 256..60).contains(&found), "{found}");
    // The processor is free now.
    assert!(looks(&adaptive_spin, 300, false) >= 300 - 255);
    assert_eq!(looks(&adaptive_spin, 100, false), 100);
}
