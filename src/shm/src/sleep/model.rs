//! All interleavings of threads that go to sleep and peers that tell them of news, in a model of the memory. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p dat-shm --lib --release sleep`.
//!
//! The sleep itself is the system's, which compares the alarm's word and sleeps in one step. So a thread sleeps on for
//! ever if the word has the number of its sleep when all others have come to their end.

use loom::sync::atomic::{AtomicBool, AtomicU32 as ModelU32, AtomicU64 as ModelU64};
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::*;
use crate::ready::{self, Bits};

impl Word for ModelU32 {
    fn load(&self) -> u32 {
        ModelU32::load(self, Ordering::Acquire)
    }

    fn store(&self, value: u32) {
        ModelU32::store(self, value, Ordering::Release);
    }

    fn fence() {
        loom::sync::atomic::fence(Ordering::SeqCst);
    }
}

impl Bits for ModelU64 {
    // The model takes a plain load for one that may be late, which no load of one order with all others is.
    fn load(&self) -> u64 {
        self.fetch_or(0, Ordering::SeqCst)
    }

    fn add(&self, bits: u64) -> u64 {
        self.fetch_or(bits, Ordering::SeqCst)
    }

    fn take(&self) -> u64 {
        self.swap(0, Ordering::SeqCst)
    }
}

/// A process with two connections, and what it shares with its peer.
struct Model {
    summary: ModelU64,
    words: [ModelU64; 1],
    published: ModelU32,
    alarm: ModelU32,
    sleepers: Mutex<Sleepers>,
    /// The last sleeps that the peer has ended, and the process itself.
    ended: [ModelU32; 2],
    bell: AtomicBool,
}

impl Model {
    fn new() -> Arc<Model> {
        Arc::new(Model {
            summary: ModelU64::new(0),
            words: [ModelU64::new(0)],
            published: ModelU32::new(AWAKE),
            alarm: ModelU32::new(RUNG),
            sleepers: Mutex::new(Sleepers::default()),
            ended: [ModelU32::new(RUNG), ModelU32::new(RUNG)],
            bell: AtomicBool::new(false),
        })
    }

    fn sleepers<R>(&self, f: impl FnOnce(&mut Sleepers) -> R) -> R {
        f(&mut self.sleepers.lock().expect("no panic"))
    }

    fn wake(&self, news: News, process: usize) {
        match whom::<ModelU32>(news, || Word::load(&self.published)) {
            Wake::Nobody => {}
            Wake::Thread => self.bell.store(true, Ordering::SeqCst),
            Wake::Leader(sleep) => {
                ring_for(&self.alarm, &self.ended[process], sleep, || {});
            }
        }
    }

    /// As [`Pair::mark`](crate::pair::Pair::mark), by the peer.
    fn tell(&self, index: u32, news: News) {
        ready::set(&self.summary, &self.words, index);
        self.wake(news, 0);
    }

    fn any_ready(&self) -> bool {
        Bits::load(&self.summary) != 0
    }

    /// As [`Home::arm`](crate::home::Home::arm).
    fn arm(&self, requests: bool) -> Option<u32> {
        let sleep = self.sleepers(|sleepers| sleepers.add(&self.published, &self.alarm, requests));
        if sleep.is_some() || requests {
            let late = is_late::<ModelU32>(|| self.any_ready());
            match sleep {
                Some(_) if late => Word::store(&self.alarm, RUNG),
                None if late => self.wake(News::Completion, 1),
                _ => {}
            }
        }
        sleep
    }

    /// As [`Home::expect_requests`](crate::home::Home::expect_requests).
    fn expect_requests(&self) {
        self.sleepers(|sleepers| sleepers.expect_requests(&self.published));
        if is_late::<ModelU32>(|| self.any_ready()) {
            self.wake(News::Completion, 1);
        }
    }

    /// As [`Home::disarm`](crate::home::Home::disarm), by the leader.
    fn disarm(&self) {
        self.sleepers(|sleepers| sleepers.leave(&self.published));
        if is_late::<ModelU32>(|| self.any_ready()) {
            self.bell.store(true, Ordering::SeqCst);
        }
    }

    /// The ready bits that a round of progress finds.
    fn take(&self) -> u64 {
        let mut bits = 0;
        ready::take(&self.summary, &self.words, || !0, |index| bits |= 1 << index);
        bits
    }

    /// Whether the leader sleeps for ever.
    fn sleeps(&self) -> bool {
        Word::load(&self.alarm) != RUNG
    }

    fn is_rung(&self) -> bool {
        self.bell.load(Ordering::SeqCst)
    }
}

fn check(test: impl Fn(Arc<Model>) + Send + Sync + 'static) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(4);
    explorer.check(move || test(Model::new()));
}

/// Runs `what` in a thread of its own.
fn beside(model: &Arc<Model>, what: impl FnOnce(&Model) + Send + 'static) -> thread::JoinHandle<()> {
    let model = model.clone();
    thread::spawn(move || what(&model))
}

#[test]
fn a_record_wakes_the_leader_beside_completions_that_do_not() {
    check(|model| {
        let completion = beside(&model, |model| model.tell(0, News::Completion));
        let record = beside(&model, |model| model.tell(1, News::Record));
        let sleep = model.arm(false);
        assert!(sleep.is_some());
        completion.join().expect("no panic");
        record.join().expect("no panic");
        assert!(!model.sleeps(), "the record wakes nobody");
        assert_eq!(model.take(), 3, "the leader finds less than there is");
    });
}

#[test]
fn a_sleep_that_a_completion_need_not_end_may_go_on() {
    let slept = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = slept.clone();
    check(move |model| {
        let completion = beside(&model, |model| model.tell(0, News::Completion));
        model.arm(false);
        completion.join().expect("no panic");
        seen.fetch_or(model.sleeps(), std::sync::atomic::Ordering::SeqCst);
        assert_eq!(model.take(), 1, "it is found with whatever ends the sleep");
    });
    assert!(slept.load(std::sync::atomic::Ordering::SeqCst), "the model tells nothing apart");
}

#[test]
fn a_completion_wakes_the_leader_for_another_waiter() {
    check(|model| {
        let peer = beside(&model, |model| model.tell(0, News::Completion));
        let other = beside(&model, |model| _ = model.arm(true));
        model.arm(false);
        peer.join().expect("no panic");
        other.join().expect("no panic");
        assert!(!model.sleeps(), "the completion wakes nobody");
    });
}

#[test]
fn news_for_a_leader_that_leaves_go_to_the_thread() {
    check(|model| {
        model.arm(false);
        let peer = beside(&model, |model| model.tell(0, News::Record));
        model.disarm();
        peer.join().expect("no panic");
        assert!(model.is_rung(), "nobody is told");
    });
}

#[test]
fn a_completion_is_handled_when_the_leader_leaves_another_waiter_behind() {
    check(|model| {
        model.arm(false);
        let peer = beside(&model, |model| model.tell(0, News::Completion));
        let leads = Arc::new(AtomicBool::new(false));
        let known = leads.clone();
        let other = beside(&model, move |model| known.store(model.arm(true).is_some(), Ordering::SeqCst));
        model.disarm();
        peer.join().expect("no panic");
        other.join().expect("no panic");
        let slept_through = leads.load(Ordering::SeqCst) && model.sleeps();
        assert!(model.is_rung() || !slept_through && leads.load(Ordering::SeqCst), "the completion wakes nobody");
    });
}

#[test]
fn a_completion_wakes_the_thread_for_an_agent() {
    check(|model| {
        let peer = beside(&model, |model| model.tell(0, News::Completion));
        let agent = beside(&model, Model::expect_requests);
        model.sleepers(|sleepers| sleepers.thread_asleep(&model.published));
        let late = is_late::<ModelU32>(|| model.any_ready());
        peer.join().expect("no panic");
        agent.join().expect("no panic");
        assert!(late || model.is_rung(), "the thread sleeps, and nobody wakes it");
    });
}

#[test]
fn news_keep_the_thread_from_its_sleep_or_end_it() {
    check(|model| {
        let peer = beside(&model, |model| model.tell(0, News::Record));
        let watches = model.sleepers(|sleepers| sleepers.thread_asleep(&model.published));
        assert!(watches);
        let late = is_late::<ModelU32>(|| model.any_ready());
        peer.join().expect("no panic");
        assert!(late || model.is_rung(), "the thread sleeps, and nobody wakes it");
    });
}
