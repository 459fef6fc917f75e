use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use super::*;

#[test]
fn sleep_ends_by_timeout_value_or_wake() {
    let word = AtomicU32::new(1);
    let start = Instant::now();
    sleep(&word, 1, false, Some(Duration::from_micros(1500)));
    assert!(start.elapsed() >= Duration::from_micros(1500));
    sleep(&word, 2, true, None);
    for (shared, wake) in [(false, (|word| wake(word, 1)) as fn(&AtomicU32)), (true, |word| _ = wake_shared(word))] {
        word.store(1, Ordering::SeqCst);
        thread::scope(|scope| {
            scope.spawn(|| {
                word.store(0, Ordering::SeqCst);
                wake(&word);
            });
            while word.load(Ordering::SeqCst) == 1 {
                sleep(&word, 1, shared, None);
            }
        });
    }
}
