use std::sync::atomic::AtomicUsize;

use dat_core::transport;

use super::*;
use crate::sleep::SHARED;

const SLEEPS: usize = 100_000;

fn control() -> ControlRegion {
    ControlRegion::new().expect("home")
}

#[test]
fn peers_wake_watcher_while_wait_sleeps() {
    let control = control();
    let word = || watcher(control.word.load(Ordering::Relaxed));
    let [led, stray] = [(); 2].map(|()| AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for round in 0..SLEEPS {
                    let sleep = control.arm(false, || false, || true);
                    led.fetch_add(usize::from(sleep.is_some()), Ordering::Relaxed);
                    // One thread falls asleep while the other wakes.
                    for _ in 0..round % 13 {
                        std::hint::spin_loop();
                    }
                    let word = word();
                    if word != SHARED && sleep != Some(word) {
                        stray.fetch_add(1, Ordering::Relaxed);
                    }
                    control.disarm(sleep, false, || false);
                }
            });
        }
    });
    assert_eq!(stray.into_inner(), 0, "a wait slept, and peers rang for somebody else");
    assert!(led.into_inner() > 0);
    assert!(!control.sleepers.lock().is_led() && !control.sleepers.lock().has_waits());
    assert_eq!(word(), THREAD);
}

#[test]
fn data_rings_alarm_of_leader() {
    let control = control();
    let word = || transport::Alarm::word(&*control.alarm).load(Ordering::Relaxed);
    for _ in 0..1000 {
        let sleep = control.arm(false, || false, || true);
        assert_eq!(sleep, Some(word()));
        control.wake(Notice::Record);
        assert_ne!(sleep, Some(word()));
        control.disarm(sleep, false, || false);
        let late = control.arm(false, || true, || true);
        assert_ne!(late, Some(word()), "news that came before keep it from sleeping");
        control.disarm(late, false, || false);
    }
}

#[test]
fn thread_watches_for_two_waits() {
    let control = control();
    let rings = || control.wakeup_fd.clear();
    let first = control.arm(false, || false, || true);
    let looked = AtomicBool::new(false);
    let look = |free| {
        looked.store(true, Ordering::Relaxed);
        free
    };
    for (late, free) in [(false, true), (true, true), (true, false)] {
        looked.store(false, Ordering::Relaxed);
        assert_eq!(control.arm(false, || late, || look(free)), None, "there are two");
        assert_eq!(looked.load(Ordering::Relaxed), late, "what came before is handled");
        assert_eq!(rings(), late && !free, "the thread handles it where another one is at it");
        assert!(control.wake(Notice::Record) && rings());
        control.disarm(None, false, || false);
    }
    control.disarm(first, false, || true);
    assert!(!rings(), "another one watched");
}

#[test]
fn peers_wake_thread_until_callers_poll() {
    let control = control();
    assert!(!control.is_awake());
    assert!(control.wake(Notice::Record));
    control.thread_awake();
    assert!(control.is_awake());
    assert!(!control.wake(Notice::Record));
}
