//! Loom models (`make steps STEP=loom`) of the word of a mutex.

use std::sync::atomic::Ordering;
use std::time::Duration;

pub(super) use loom::hint::spin_loop;
use loom::sync::atomic::AtomicUsize;
pub(super) use loom::sync::atomic::{AtomicU8, AtomicU32};
use loom::sync::{Condvar, Mutex};

/// A seat. Stores are exchanges, because two threads may store concurrently, and loom does not order plain stores then.
#[derive(Debug, Default)]
pub(super) struct Seat(AtomicUsize);

impl Seat {
    pub(super) fn load(&self, order: Ordering) -> usize {
        self.0.load(order)
    }

    pub(super) fn store(&self, value: usize, order: Ordering) {
        self.0.swap(value, order);
    }
}

pub(super) struct Pause;

impl Pause {
    pub(super) fn new() -> Self {
        Pause
    }

    pub(super) fn pass(&mut self) {
        loom::thread::yield_now();
    }
}

pub(super) fn is_rare() -> bool {
    false
}

pub(super) fn available() -> bool {
    true
}

loom::lazy_static! {
    /// A futex for all words. Under a lock, the kernel compares the word and puts the thread to sleep.
    static ref SLEEPERS: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
}

fn sleep_if(same: impl Fn() -> bool) {
    let held = SLEEPERS.0.lock().expect("no panic");
    if same() {
        drop(SLEEPERS.1.wait(held));
    }
}

fn wake_all() {
    let _held = SLEEPERS.0.lock();
    SLEEPERS.1.notify_all();
}

pub(super) fn sleep(word: &AtomicU32, value: u32, _: Option<Duration>) {
    sleep_if(|| word.load(Ordering::Relaxed) == value);
}

pub(super) fn wake(_: &AtomicU32, _: u32) {
    wake_all();
}

pub(super) fn sleep_half(word: &Seat, value: usize) {
    sleep_if(|| word.load(Ordering::Relaxed) == value);
}

pub(super) fn wake_half(_: &Seat) {
    wake_all();
}

pub(super) fn pointer() -> usize {
    POINTER.with(std::cell::Cell::get)
}

loom::thread_local! {
    static POINTER: std::cell::Cell<usize> = std::cell::Cell::new(0);
}

#[cfg(test)]
mod tests {
    use loom::cell::UnsafeCell;
    use loom::model::Builder;
    use loom::sync::Arc;
    use loom::sync::atomic::{AtomicBool, fence};
    use loom::thread;

    use super::super::biased::Biased;
    use super::*;

    const WAITS: bool = true;
    const TRIES: bool = false;

    struct Guarded {
        word: Biased,
        number: UnsafeCell<u32>,
    }

    // SAFETY: loom checks that only one thread uses the cell.
    unsafe impl Sync for Guarded {}
    // SAFETY: loom checks that only one thread uses the cell.
    unsafe impl Send for Guarded {}

    impl Guarded {
        fn new() -> Arc<Self> {
            Arc::new(Guarded { word: Biased::default(), number: UnsafeCell::new(0) })
        }

        /// Takes the lock and adds 1. Returns the addend: 0 if an attempt, without `waits`, fails.
        fn add(&self, waits: bool) -> u32 {
            if !self.word.take(waits) {
                return 0;
            }
            // SAFETY: the calling thread holds the lock.
            self.number.with_mut(|number| unsafe { *number += 1 });
            self.word.release();
            1
        }
    }

    fn as_thread(number: usize) {
        POINTER.with(|pointer| pointer.set(number * 64));
    }

    fn explore(bound: usize, model: impl Fn() + Sync + Send + 'static) {
        let mut builder = Builder::new();
        builder.preemption_bound = Some(bound);
        builder.check(model);
    }

    /// Takes the lock as its owner, once per element of `first`, while each element of `others` does the same in a
    /// thread.
    fn run_with_owner(first: &'static [bool], others: &'static [&'static [bool]], bound: usize) {
        explore(bound, move || {
            as_thread(1);
            let guarded = Guarded::new();
            let mut added = guarded.add(WAITS) + guarded.add(WAITS);
            assert_eq!(added, 2);
            let threads: Vec<_> = (2..)
                .zip(others)
                .map(|(number, steps)| {
                    let guarded = guarded.clone();
                    thread::spawn(move || {
                        as_thread(number);
                        steps.iter().map(|waits| guarded.add(*waits)).sum::<u32>()
                    })
                })
                .collect();
            added += first.iter().map(|waits| guarded.add(*waits)).sum::<u32>();
            for thread in threads {
                added += thread.join().expect("no panic");
            }
            // SAFETY: all other threads have ended.
            assert_eq!(guarded.number.with(|number| unsafe { *number }), added);
            assert!(!guarded.word.is_taken());
            assert_eq!(guarded.add(TRIES), 1);
        });
    }

    /// A lock whose holder handles the messages of failed attempts.
    struct Handover {
        word: Biased,
        again: AtomicBool,
        is_done: AtomicBool,
    }

    impl Handover {
        fn hold(&self) {
            assert!(self.word.take(WAITS));
            self.free();
        }

        fn free(&self) {
            self.word.release();
            while self.again.load(Ordering::Relaxed) && self.word.take(TRIES) {
                self.again.store(false, Ordering::SeqCst);
                self.is_done.store(true, Ordering::Relaxed);
                self.word.release();
            }
        }

        /// Tries to lock, and otherwise leaves a message. Returns whether the thread had the lock.
        fn attempt(&self) -> bool {
            let had = self.word.take(TRIES) || {
                self.again.store(true, Ordering::Relaxed);
                fence(Ordering::SeqCst);
                self.word.take(TRIES)
            };
            if had {
                self.free();
            }
            had
        }
    }

    /// Runs an attempt while the owner takes the lock once, and a thread per element of `holders` takes it that many
    /// times.
    fn attempt_with_holders(holders: &'static [usize], bound: usize) {
        explore(bound, move || {
            as_thread(1);
            let word = Biased::default();
            let left = Arc::new(Handover { word, again: AtomicBool::new(false), is_done: AtomicBool::new(false) });
            left.hold();
            left.hold();
            let threads: Vec<_> = (2..)
                .zip(holders)
                .map(|(number, times)| {
                    let left = left.clone();
                    thread::spawn(move || {
                        as_thread(number);
                        (0..*times).for_each(|_| left.hold());
                    })
                })
                .collect();
            let attempt = {
                let left = left.clone();
                thread::spawn(move || {
                    as_thread(9);
                    left.attempt()
                })
            };
            left.hold();
            let had = attempt.join().expect("no panic");
            for thread in threads {
                thread.join().expect("no panic");
            }
            assert!(had || left.is_done.load(Ordering::Relaxed), "a message is lost");
        });
    }

    #[test]
    fn holder_sees_message_of_failed_attempt() {
        attempt_with_holders(&[], 4);
        attempt_with_holders(&[1], 2);
        attempt_with_holders(&[3], 2);
    }

    #[test]
    fn one_thread_revokes() {
        run_with_owner(&[WAITS, WAITS, WAITS], &[&[WAITS, WAITS]], 4);
    }

    #[test]
    fn another_thread_becomes_owner() {
        run_with_owner(&[WAITS, WAITS], &[&[WAITS, WAITS, WAITS, WAITS, WAITS]], 3);
    }

    #[test]
    fn two_threads_revoke() {
        run_with_owner(&[WAITS, WAITS], &[&[WAITS], &[WAITS]], 2);
    }

    #[test]
    fn other_threads_try() {
        run_with_owner(&[WAITS, TRIES], &[&[TRIES, TRIES]], 3);
        run_with_owner(&[WAITS], &[&[TRIES], &[TRIES]], 2);
    }

    #[test]
    fn ownership_moves_twice() {
        run_with_owner(&[WAITS], &[&[WAITS, WAITS, WAITS, WAITS], &[WAITS, WAITS]], 2);
    }
}
