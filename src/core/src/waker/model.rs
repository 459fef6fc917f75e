//! A loom model of all interleavings of a thread that falls asleep and others that wake it. Run with `RUSTFLAGS="--cfg
//! loom" cargo test -p dat-core --lib --release waker`.

use loom::sync::atomic::{AtomicBool, AtomicU32 as ModelU32};
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::*;

/// A queue with one waiter, which sleeps on its own or on another word.
struct Model {
    state: SleepState<ModelU32>,
    in_other_place: Mutex<bool>,
    other_place: AtomicBool,
    /// Events, and whether the waiter is known.
    queue: Mutex<(u32, bool)>,
}

impl Model {
    fn new() -> Arc<Model> {
        Arc::new(Model {
            state: SleepState(ModelU32::new(AWAKE)),
            in_other_place: Mutex::new(false),
            other_place: AtomicBool::new(false),
            queue: Mutex::new((0, false)),
        })
    }

    /// Like [`Evd::push`](crate::evd::Evd): wakes a registered waiter.
    fn push(&self) {
        let told = {
            let mut queue = self.queue.lock().expect("no panic");
            queue.0 += 1;
            queue.1
        };
        if told && self.state.end_sleep() && *self.in_other_place.lock().expect("no panic") {
            self.other_place.store(true, Ordering::SeqCst);
        }
    }

    fn events(&self) -> u32 {
        self.queue.lock().expect("no panic").0
    }

    /// Like [`Waker::prepare_sleep`] and the check after it. Returns whether the thread sleeps.
    fn prepare_sleep(&self, in_other_place: bool) -> bool {
        *self.in_other_place.lock().expect("no panic") = in_other_place;
        self.state.prepare_sleep();
        self.events() == 0
    }

    /// Returns whether the thread sleeps although no thread will wake it.
    fn sleeps(&self, in_other_place: bool) -> bool {
        let woken = self.state.0.load(Ordering::SeqCst) != ASLEEP;
        !(woken && (!in_other_place || self.other_place.load(Ordering::SeqCst)))
    }
}

fn check(pushes: usize, in_other_place: bool) {
    loom::model(move || {
        let model = Model::new();
        let others: Vec<_> = (0..pushes)
            .map(|_| {
                let model = model.clone();
                thread::spawn(move || model.push())
            })
            .collect();
        model.state.set_awake();
        model.queue.lock().expect("no panic").1 = true;
        let sleeps = model.prepare_sleep(in_other_place);
        others.into_iter().for_each(|other| other.join().expect("no panic"));
        assert!(!(sleeps && model.sleeps(in_other_place)), "the thread sleeps beside an event");
    });
}

#[test]
fn event_wakes_thread_on_own_word() {
    check(1, false);
    check(2, false);
}

#[test]
fn event_wakes_thread_on_other_word() {
    check(1, true);
    check(2, true);
}

#[test]
fn event_wakes_second_sleep_on_other_word() {
    loom::model(|| {
        let model = Model::new();
        model.queue.lock().expect("no panic").1 = true;
        // The first sleep has ended for another reason.
        model.prepare_sleep(false);
        let other = {
            let model = model.clone();
            thread::spawn(move || model.push())
        };
        model.state.set_awake();
        let sleeps = model.prepare_sleep(true);
        other.join().expect("no panic");
        assert!(!(sleeps && model.sleeps(true)), "the thread sleeps beside an event");
    });
}
