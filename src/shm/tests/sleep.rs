//! Who is woken: what peers read in the published word of a node agrees with who watches.

use std::sync::atomic::{AtomicUsize, Ordering};

use daplshm::node::{Bell, Node};

const ROUNDS: usize = 100_000;

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
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                for round in 0..ROUNDS {
                    let leader = node.arm();
                    if leader {
                        led.fetch_add(1, Ordering::Relaxed);
                        // One thread gives the watch up while the other takes it over.
                        for _ in 0..round % 13 {
                            std::hint::spin_loop();
                        }
                        if word() != Some(Bell::Waiter) {
                            stray.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    node.disarm(leader);
                }
            });
        }
    });
    assert!(led.into_inner() >= ROUNDS);
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
