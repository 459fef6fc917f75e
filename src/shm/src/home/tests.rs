//! Tests that peers read in the published word which thread to wake.

use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use dat_core::transport;

use super::*;

/// How often one of the threads is to lead.
const LEADS: usize = 200_000;

fn home() -> Home {
    Home::new().expect("home")
}

#[test]
fn peers_ring_for_the_waiter_as_long_as_it_leads() {
    let home = home();
    let word = || home.word().load(Ordering::Relaxed);
    let (led, stray) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let soon = || Instant::now() + Duration::from_secs(20);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut end = soon();
                while led.load(Ordering::Relaxed) < LEADS {
                    let leader = home.arm(false, || false);
                    if let Some(sleep) = leader {
                        end = soon();
                        let round = led.fetch_add(1, Ordering::Relaxed);
                        // One thread gives the watch up while the other takes it over.
                        for _ in 0..round % 13 {
                            std::hint::spin_loop();
                        }
                        if watcher(word()) != sleep {
                            stray.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    if leader.is_some() {
                        home.disarm(true, false, || false);
                    }
                    assert!(leader.is_some() || Instant::now() < end, "the leader does not give up the watch");
                }
            });
        }
    });
    assert_eq!(stray.into_inner(), 0, "the waiter slept, and peers rang for somebody else");
    assert!(!home.is_led());
}

#[test]
fn news_for_a_waiter_that_leads_ring_its_alarm() {
    let home = home();
    for _ in 0..1000 {
        let sleep = home.arm(false, || false).expect("the leader");
        let word = || transport::Alarm::word(&*home.alarm).load(Ordering::Relaxed);
        assert_eq!(home.arm(false, || false), None, "there is one leader");
        assert_eq!(word(), sleep);
        home.wake(News::Record);
        assert_ne!(word(), sleep);
        home.disarm(true, false, || false);
        assert_ne!(home.arm(false, || true), Some(word()), "news that came before keep it from sleeping");
        home.disarm(true, false, || false);
    }
}

/// A program that has never slept in a wait leaves all to the thread, which sleeps in the beginning.
#[test]
fn peers_ring_for_the_thread_until_it_says_that_callers_poll() {
    let home = home();
    assert!(!home.is_awake());
    assert_eq!(whom::<AtomicU32>(News::Record, || Word::load(home.word())), Wake::Thread);
    home.thread_awake();
    assert!(home.is_awake());
    assert_eq!(whom::<AtomicU32>(News::Record, || Word::load(home.word())), Wake::Nobody);
}
