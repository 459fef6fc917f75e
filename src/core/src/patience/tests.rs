use super::*;

/// The number of waits that look, of so many.
fn looks(patience: &Patience, waits: usize, kept_others: bool) -> usize {
    let look = |_: &usize| {
        let looks = patience.looks();
        match (looks, kept_others) {
            (true, true) => _ = patience.note_kept(),
            (true, false) => patience.note_free(),
            (false, _) => {}
        }
        looks
    };
    (0..waits).filter(look).count()
}

#[test]
fn a_wait_looks_as_long_as_that_keeps_nobody_from_work() {
    assert_eq!(looks(&Patience::default(), 1000, false), 1000);
}

#[test]
fn once_means_nothing() {
    let patience = Patience::default();
    for _ in 0..100 {
        assert!(!patience.note_kept() && patience.looks());
        patience.note_free();
    }
    assert!(!patience.note_kept() && patience.looks());
    assert!(patience.note_kept() && !patience.looks());
}

#[test]
fn where_others_need_the_processor_few_waits_look() {
    let patience = Patience::default();
    let found = looks(&patience, 10_000, true);
    assert!((10_000 / 256..60).contains(&found), "{found}");
    // The processor is free now.
    assert!(looks(&patience, 300, false) >= 300 - 255);
    assert_eq!(looks(&patience, 100, false), 100);
}
