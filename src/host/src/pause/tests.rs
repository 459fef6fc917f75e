use std::time::{Duration, Instant};

use super::*;

#[test]
fn long_wait_sleeps() {
    let mut pause = Pause::new();
    while pause.turns < YIELDS {
        assert_eq!(pause.is_short(), pause.turns < SPINS);
        pause.pass();
    }
    let asleep = |pause: &mut Pause| {
        let began = Instant::now();
        pause.pass();
        began.elapsed()
    };
    assert!(asleep(&mut pause) >= Duration::from_micros(20));
    pause.turns = u32::MAX;
    assert!(asleep(&mut pause) >= Duration::from_millis(1));
    assert_eq!(pause.turns, u32::MAX);
}
