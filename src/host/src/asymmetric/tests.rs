use std::sync::atomic::{AtomicBool, AtomicU32};
use std::thread;

use super::*;

/// Two threads that each set their own word and look at the other's never both find the other's unset.
#[test]
fn one_of_two_sees_the_other() {
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
fn the_answer_stays() {
    let first = available();
    light();
    heavy();
    assert_eq!(available(), first);
    assert_eq!(WAY.load(Ordering::Relaxed), if first { ASYMMETRIC } else { SYMMETRIC });
}

/// The child of a fork has one thread; it passes the fence as well, whatever the kernel keeps of its registration.
#[test]
#[cfg(not(miri))]
fn the_child_of_a_fork_passes_it() {
    let known = available();
    // SAFETY: the child makes system calls only.
    let child = unsafe { libc::fork() };
    if child == 0 {
        light();
        heavy();
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(i32::from(available() != known)) };
    }
    let mut status = -1;
    // SAFETY: the child is ours, and the place is writable.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
}

/// A thread that spins on a processor of its own is reached.
#[test]
fn a_thread_that_makes_no_call_is_reached() {
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
