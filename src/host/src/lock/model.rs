//! All interleavings of the word of a mutex, in a model of the memory. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p host --lib --release lock`.

use std::sync::atomic::Ordering;
use std::time::Duration;

pub(super) use loom::hint::spin_loop;
use loom::sync::atomic::AtomicUsize;
pub(super) use loom::sync::atomic::{AtomicU8, AtomicU32};
use loom::sync::{Condvar, Mutex};

/// The word of a seat, which two threads may write at a time. All its writes are exchanges, because the model orders nothing
/// else: of two stores that are not ordered otherwise, each of the two threads could read back that of the other one.
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

/// A pause is a turn for the others.
pub(super) struct Pause;

impl Pause {
    pub(super) fn new() -> Self {
        Pause
    }

    pub(super) fn pass(&mut self) {
        loom::thread::yield_now();
    }
}

/// All revocations follow each other closely.
pub(super) fn is_rare() -> bool {
    false
}

/// Both halves of the fence are that of the model.
pub(super) fn available() -> bool {
    true
}

loom::lazy_static! {
    /// Where threads sleep that wait for a word. The kernel looks at the word and falls asleep in one step, under a lock.
    static ref BED: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
}

fn sleep_if(same: impl Fn() -> bool) {
    let held = BED.0.lock().expect("no panic");
    if same() {
        drop(BED.1.wait(held));
    }
}

fn wake_all() {
    let _held = BED.0.lock();
    BED.1.notify_all();
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

/// A number in the place of an address.
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

    /// Ways to take the lock.
    const WAITS: bool = true;
    const TRIES: bool = false;

    /// A number under a lock. The model reports accesses that are not ordered.
    struct Guarded {
        word: Biased,
        number: UnsafeCell<u32>,
    }

    // SAFETY: that the word lets one thread at a time at the cell is what the model checks.
    unsafe impl Sync for Guarded {}
    // SAFETY: as above.
    unsafe impl Send for Guarded {}

    impl Guarded {
        fn new() -> Arc<Self> {
            Arc::new(Guarded { word: Biased::default(), number: UnsafeCell::new(0) })
        }

        /// Adds 1 under the lock, if it can be had.
        fn add(&self, waits: bool) -> u32 {
            if !self.word.take(waits) {
                return 0;
            }
            // SAFETY: as above.
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

    /// Runs `first` in a thread that is the owner by then, beside the others.
    fn beside(first: &'static [bool], others: &'static [&'static [bool]], bound: usize) {
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
            // SAFETY: no other thread is left.
            assert_eq!(guarded.number.with(|number| unsafe { *number }), added);
            assert!(!guarded.word.is_taken());
            assert_eq!(guarded.add(TRIES), 1);
        });
    }

    /// A lock whose holder sees to what those that attempt it in vain leave to it, as that on the requests of an endpoint.
    struct Left {
        word: Biased,
        again: AtomicBool,
        seen_to: AtomicBool,
    }

    impl Left {
        fn hold(&self) {
            assert!(self.word.take(WAITS));
            self.free();
        }

        fn free(&self) {
            self.word.release();
            while self.again.load(Ordering::Relaxed) && self.word.take(TRIES) {
                self.again.store(false, Ordering::SeqCst);
                self.seen_to.store(true, Ordering::Relaxed);
                self.word.release();
            }
        }

        /// True if this thread has had its turn.
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

    /// Runs one that attempts beside those that hold the lock so often.
    fn attempt_beside(holders: &'static [usize], bound: usize) {
        explore(bound, move || {
            as_thread(1);
            let word = Biased::default();
            let left = Arc::new(Left { word, again: AtomicBool::new(false), seen_to: AtomicBool::new(false) });
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
            assert!(had || left.seen_to.load(Ordering::Relaxed), "a turn is lost");
        });
    }

    #[test]
    fn a_turn_that_is_left_is_seen_to() {
        attempt_beside(&[], 4);
        attempt_beside(&[1], 2);
        attempt_beside(&[3], 2);
    }

    #[test]
    fn an_owner_and_one_that_revokes() {
        beside(&[WAITS, WAITS, WAITS], &[&[WAITS, WAITS]], 4);
    }

    #[test]
    fn an_owner_and_one_that_becomes_the_next() {
        beside(&[WAITS, WAITS], &[&[WAITS, WAITS, WAITS, WAITS, WAITS]], 3);
    }

    #[test]
    fn an_owner_and_two_that_revoke() {
        beside(&[WAITS, WAITS], &[&[WAITS], &[WAITS]], 2);
    }

    #[test]
    fn an_owner_and_those_that_try() {
        beside(&[WAITS, TRIES], &[&[TRIES, TRIES]], 3);
        beside(&[WAITS], &[&[TRIES], &[TRIES]], 2);
    }

    /// Two others become owners, one after the other, while the first is anywhere.
    #[test]
    fn ownership_moves_twice() {
        beside(&[WAITS], &[&[WAITS, WAITS, WAITS, WAITS], &[WAITS, WAITS]], 2);
    }
}
