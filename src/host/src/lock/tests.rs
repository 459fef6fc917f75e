use std::sync::Arc;
use std::thread;

use super::*;

#[test]
fn mutex_excludes_other_threads() {
    let count = Arc::new(Mutex::new(0_u64));
    let threads: Vec<_> = (0..4)
        .map(|_| {
            let count = count.clone();
            thread::spawn(move || {
                for round in 0..20_000 {
                    let mut count = count.lock();
                    let old = *count;
                    if round % 1000 == 0 {
                        thread::yield_now();
                    }
                    *count = old + 1;
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().expect("no panic"));
    assert_eq!(*count.lock(), 80_000);
}

#[test]
fn condvar_wakes_waiter() {
    let shared = Arc::new((Mutex::new(0_u32), Condvar::new()));
    let other = shared.clone();
    let thread = thread::spawn(move || {
        let (number, changed) = &*other;
        let mut number = number.lock();
        while *number < 1000 {
            if *number % 2 == 1 {
                *number += 1;
                changed.notify_all();
            } else {
                changed.wait(&mut number);
            }
        }
    });
    let (number, changed) = &*shared;
    let mut held = number.lock();
    while *held < 1000 {
        if *held % 2 == 0 {
            *held += 1;
            changed.notify_all();
        } else {
            changed.wait(&mut held);
        }
    }
    changed.notify_all();
    drop(held);
    thread.join().expect("no panic");
}

#[test]
fn condvar_wait_times_out() {
    let (lock, changed) = (Mutex::new(()), Condvar::new());
    let mut held = lock.lock();
    let end = Instant::now() + Duration::from_millis(10);
    while Instant::now() < end {
        changed.wait_until(&mut held, end);
    }
}

/// Adds 1, without protection against concurrent calls.
fn add(number: &mut u64) {
    let old = *number;
    std::hint::spin_loop();
    *std::hint::black_box(number) = old + 1;
}

#[test]
fn mutex_excludes_while_owner_changes() {
    let rounds = if cfg!(miri) { 20 } else { 3000 };
    let shared = Arc::new((Mutex::new(0_u64), Mutex::new(0_u64)));
    let threads: Vec<_> = (0..4_u64)
        .map(|number| {
            let shared = shared.clone();
            thread::spawn(move || {
                let mut added = 0;
                for round in 0..rounds {
                    let burst = 1 + (round * (number + 1)) % 60;
                    for step in 0..burst {
                        let number = if step % 8 == 7 { shared.0.try_lock() } else { Some(shared.0.lock()) };
                        if let Some(mut number) = number {
                            add(&mut number);
                            added += 1;
                        }
                        // Nested in the same order in all threads.
                        let outer = shared.0.lock();
                        add(&mut shared.1.lock());
                        drop(outer);
                    }
                    thread::yield_now();
                }
                added
            })
        })
        .collect();
    let added: u64 = threads.into_iter().map(|thread| thread.join().expect("no panic")).sum();
    assert_eq!(*shared.0.lock(), added);
    let bursts = |number: u64| (0..rounds).map(move |round| 1 + (round * (number + 1)) % 60).sum::<u64>();
    assert_eq!(*shared.1.lock(), (0..4).map(bursts).sum::<u64>());
}

/// Turns the calling thread into the lock's owner, if the kernel supports membarrier(2).
fn own(lock: &Mutex<u64>) {
    for _ in 0..10_000 {
        add(&mut lock.lock());
    }
}

#[test]
fn attempts_fail_while_owner_holds_lock() {
    let lock = Arc::new(Mutex::new(0_u64));
    own(&lock);
    let held = lock.lock();
    assert!(lock.is_locked());
    assert!(lock.try_lock().is_none(), "the owner cannot lock twice");
    let other = lock.clone();
    thread::spawn(move || {
        assert!(other.try_lock().is_none());
        assert!(other.try_lock().is_none());
    })
    .join()
    .expect("no panic");
    assert!(lock.is_locked());
    drop(held);
    assert!(!lock.is_locked());
    assert_eq!(lock.try_lock().map(|number| *number), Some(10_000));
}

#[test]
fn first_attempt_takes_free_lock() {
    let lock = Arc::new(Mutex::new(0_u64));
    for round in 1..=5 {
        own(&lock);
        let other = lock.clone();
        let seen = thread::spawn(move || other.try_lock().map(|number| *number)).join().expect("no panic");
        assert_eq!(seen, Some(round * 10_000));
    }
}

#[test]
fn owner_wakes_waiting_thread() {
    let rounds = if cfg!(miri) { 3 } else { 200 };
    let lock = Arc::new(Mutex::new(0_u64));
    for round in 0..rounds {
        own(&lock);
        let held = lock.lock();
        let other = lock.clone();
        let (tell, told) = std::sync::mpsc::channel();
        let waiter = thread::spawn(move || {
            tell.send(()).expect("a receiver");
            add(&mut other.lock());
        });
        told.recv().expect("started");
        if round % 2 == 0 {
            // In most rounds, the other thread falls asleep in this time.
            thread::sleep(Duration::from_micros(300));
        }
        drop(held);
        waiter.join().expect("no panic");
    }
    assert_eq!(*lock.lock(), rounds * 10_001);
}

#[test]
fn threads_end_as_owners() {
    let lock = Arc::new(Mutex::new(0_u64));
    for _ in 0..20 {
        let other = lock.clone();
        thread::spawn(move || own(&other)).join().expect("no panic");
    }
    assert_eq!(*lock.lock(), 200_000);
}

#[test]
#[cfg(not(miri))]
fn child_of_fork_can_use_locks_of_its_thread() {
    let mine = Mutex::new(0_u64);
    own(&mine);
    let taken = Arc::new(Mutex::new(0_u64));
    let other = taken.clone();
    let (tell, told) = std::sync::mpsc::channel();
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let owner = thread::spawn(move || {
        own(&other);
        tell.send(()).expect("a receiver");
        let _ = stopped.recv();
    });
    told.recv().expect("an owner");
    let held = taken.lock();
    // SAFETY: the child only uses locks and makes system calls.
    let child = unsafe { libc::fork() };
    if child == 0 {
        drop(held);
        own(&mine);
        own(&taken);
        let right = *mine.lock() == 20_000 && *taken.lock() == 20_000;
        // SAFETY: ends the child without running exit handlers of the parent.
        unsafe { libc::_exit(i32::from(!right)) };
    }
    drop(held);
    let mut status = -1;
    // SAFETY: this process forked the child, and `status` is writable.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    drop(stop);
    owner.join().expect("no panic");
    assert_eq!((*mine.lock(), *taken.lock()), (10_000, 10_000));
}
