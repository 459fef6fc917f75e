use std::time::Duration;

use super::*;

#[test]
fn takes_due_timers_in_order() {
    let start = Instant::now();
    let at = |millis| start + Duration::from_millis(millis);
    let mut timers = Timers::default();
    assert_eq!(timers.next_due(), None);
    for (when, what) in [(5, "e"), (3, "c"), (1, "a"), (3, "d"), (2, "b")] {
        timers.set(at(when), what);
    }
    assert_eq!(timers.next_due(), Some(at(1)));
    assert_eq!(timers.take_due(at(0)), None);
    let due = |timers: &mut Timers<_>, when| std::iter::from_fn(|| timers.take_due(at(when))).collect::<Vec<_>>();
    assert_eq!(due(&mut timers, 3), ["a", "b", "c", "d"]);
    assert_eq!(due(&mut timers, 4), [""; 0]);
    assert_eq!(timers.next_due(), Some(at(5)));
    timers.set(at(7), "f");
    timers.set(at(8), "g");
    timers.move_to(at(4), |&what| what == "g");
    assert_eq!(timers.next_due(), Some(at(4)));
    assert_eq!(due(&mut timers, 9), ["g", "e", "f"]);
}

#[test]
fn pruning_bounds_ended_timers() {
    let now = Instant::now();
    let mut timers = Timers::default();
    for number in 0..1000 {
        timers.set_pruned(now, number, |&other| other % 100 == 0);
        assert!(timers.waiting.len() <= 2 * 10 + 64);
    }
    let due: Vec<_> = std::iter::from_fn(|| timers.take_due(now)).collect();
    assert!((0..1000).step_by(100).all(|number| due.contains(&number)));
}
