use super::*;

/// Returns how many of `waits` waits poll.
fn polling(adaptive_spin: &AdaptiveSpin, waits: usize, preempted: bool) -> usize {
    let polls = |_: &usize| {
        let spins = adaptive_spin.spins();
        match (spins, preempted) {
            (true, true) => _ = adaptive_spin.note_preempted(),
            (true, false) => adaptive_spin.note_free(),
            (false, _) => {}
        }
        spins
    };
    (0..waits).filter(polls).count()
}

#[test]
fn polls_while_cpu_is_free() {
    assert_eq!(polling(&AdaptiveSpin::default(), 1000, false), 1000);
}

#[test]
fn ignores_single_preemption() {
    let adaptive_spin = AdaptiveSpin::default();
    for _ in 0..100 {
        assert!(!adaptive_spin.note_preempted() && adaptive_spin.spins());
        adaptive_spin.note_free();
    }
    assert!(!adaptive_spin.note_preempted() && adaptive_spin.spins());
    assert!(adaptive_spin.note_preempted() && !adaptive_spin.spins());
}

#[test]
fn few_waits_poll_on_busy_cpu() {
    let adaptive_spin = AdaptiveSpin::default();
    let found = polling(&adaptive_spin, 10_000, true);
    assert!((10_000 / 256..60).contains(&found), "{found}");
    // The CPU is free now.
    assert!(polling(&adaptive_spin, 300, false) >= 300 - 255);
    assert_eq!(polling(&adaptive_spin, 100, false), 100);
}
