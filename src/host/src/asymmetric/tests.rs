use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread;

use super::*;

#[test]
fn orders_store_and_load_of_two_threads() {
    let rounds = if cfg!(miri) { 50 } else { 20_000 };
    let (often, rarely) = (AtomicU32::new(0), AtomicU32::new(0));
    let (often_saw, rarely_saw) = (AtomicU32::new(0), AtomicU32::new(0));
    let gate = std::sync::Barrier::new(2);
    thread::scope(|scope| {
        scope.spawn(|| {
            for round in 1..=rounds {
                gate.wait();
                often.store(round, Ordering::Relaxed);
                light();
                often_saw.store(rarely.load(Ordering::Relaxed), Ordering::Relaxed);
                gate.wait();
            }
        });
        for round in 1..=rounds {
            gate.wait();
            rarely.store(round, Ordering::Relaxed);
            heavy();
            rarely_saw.store(often.load(Ordering::Relaxed), Ordering::Relaxed);
            gate.wait();
            let seen = [often_saw.load(Ordering::Relaxed), rarely_saw.load(Ordering::Relaxed)];
            assert!(seen.contains(&round), "in round {round} both saw {seen:?}");
        }
    });
}

#[test]
fn availability_is_constant() {
    let first = available();
    light();
    heavy();
    assert_eq!(available(), first);
    assert_eq!(MODE.load(Ordering::Relaxed), if first { ASYMMETRIC } else { SYMMETRIC });
}

#[test]
#[cfg(not(miri))]
fn works_in_child_of_fork() {
    let known = available();
    // SAFETY: the child only makes system calls.
    let child = unsafe { libc::fork() };
    if child == 0 {
        light();
        heavy();
        // SAFETY: ends the child without running exit handlers of the parent.
        unsafe { libc::_exit(i32::from(available() != known)) };
    }
    let mut status = -1;
    // SAFETY: this process forked the child, and `status` is writable.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
}

#[test]
fn reaches_thread_without_system_calls() {
    let (go, seen) = (AtomicBool::new(true), AtomicU32::new(0));
    thread::scope(|scope| {
        scope.spawn(|| {
            while go.load(Ordering::Relaxed) {
                seen.store(1, Ordering::Relaxed);
                light();
            }
        });
        while seen.load(Ordering::Relaxed) == 0 {
            heavy();
        }
        go.store(false, Ordering::Relaxed);
    });
}
