//! Who is woken: what peers read in the published word of a node agrees with who watches.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dat_shm::node::{Bell, Node};

/// How often one of the threads is to lead.
const LEADS: usize = 200_000;

#[test]
fn peers_ring_for_the_waiter_as_long_as_it_leads() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::get(dir.path().join("meet").to_str().unwrap()).unwrap();
    let word = || {
        let mut word = [0; 4];
        node.home().copy_out(0, &mut word).unwrap();
        Bell::from_word(u32::from_ne_bytes(word))
    };
    let (led, stray) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let end = Instant::now() + Duration::from_secs(20);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while led.load(Ordering::Relaxed) < LEADS {
                    let leader = node.arm();
                    if leader {
                        let round = led.fetch_add(1, Ordering::Relaxed);
                        // One thread gives the watch up while the other takes it over.
                        for _ in 0..round % 13 {
                            std::hint::spin_loop();
                        }
                        if word() != Some(Bell::Waiter) {
                            stray.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    node.disarm(leader);
                    assert!(leader || Instant::now() < end, "the leader does not give up the watch");
                }
            });
        }
    });
    assert_eq!(stray.into_inner(), 0, "the waiter slept, and peers rang for somebody else");
    assert!(!node.led());
    node.release();
}

#[test]
fn news_for_a_waiter_that_leads_ring_its_bell() {
    let dir = tempfile::tempdir().unwrap();
    let node = Node::get(dir.path().join("meet").to_str().unwrap()).unwrap();
    for _ in 0..1000 {
        assert!(node.arm());
        assert!(!node.arm(), "there is one leader");
        node.wake_sleeper();
        assert!(node.bell(Bell::Waiter).clear());
        node.disarm(true);
    }
    node.release();
}
