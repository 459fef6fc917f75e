//! Loom models (`make steps STEP=loom`) of threads that fall asleep and peers with data.
//!
//! The kernel compares the alarm's word and sleeps atomically. So a leader sleeps indefinitely if the word still has
//! the number of its sleep at the end of the model.

use loom::sync::atomic::{AtomicBool, AtomicU32 as ModelU32, AtomicU64 as ModelU64};
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::*;
use crate::ready;

struct Model {
    summary: ModelU64,
    words: [ModelU64; 1],
    published: ModelU32,
    alarm: ModelU32,
    sleepers: Mutex<Sleepers>,
    ended: [ModelU32; 2],
    wakeup_fd: AtomicBool,
    /// Set if each ring finds no sleeper: the leader is awake and busy.
    away: bool,
}

impl Model {
    fn new(away: bool) -> Model {
        Model {
            away,
            summary: ModelU64::new(0),
            words: [ModelU64::new(0)],
            published: ModelU32::new(AWAKE),
            alarm: ModelU32::new(RUNG),
            sleepers: Mutex::new(Sleepers::default()),
            ended: [ModelU32::new(RUNG), ModelU32::new(RUNG)],
            wakeup_fd: AtomicBool::new(false),
        }
    }

    fn sleepers<R>(&self, f: impl FnOnce(&mut Sleepers) -> R) -> R {
        f(&mut self.sleepers.lock().expect("no panic"))
    }

    fn wake(&self, notice: Notice, process: usize) {
        let ring = |sleep| ring_for(&self.alarm, &self.ended[process], sleep, || !self.away);
        tell::<ModelU32>(notice, || self.published.load(Ordering::Acquire), ring, || self.ring());
    }

    fn ring(&self) {
        // The model orders a swap, like an eventfd, but not a plain store.
        self.wakeup_fd.swap(true, Ordering::SeqCst);
    }

    fn tell(&self, index: u32, notice: Notice) {
        ready::set(&self.summary, &self.words, index);
        self.wake(notice, 0);
    }

    fn any_ready(&self) -> bool {
        Word::load(&self.summary, Ordering::SeqCst) != 0
    }

    fn arm(&self, requests: bool) -> Option<u32> {
        let sleep = self.sleepers(|sleepers| sleepers.add(&self.published, &self.alarm, requests));
        if is_late::<ModelU32>(|| self.any_ready()) {
            match sleep {
                Some(_) => self.alarm.store(RUNG, Ordering::Release),
                None => _ = self.take(),
            }
        }
        sleep
    }

    fn expect_agent(&self) {
        self.sleepers(|sleepers| sleepers.add_agent(&self.published));
        if is_late::<ModelU32>(|| self.any_ready()) {
            self.wake(Notice::Completion, 1);
        }
    }

    fn disarm(&self, sleep: Option<u32>) {
        let led = self.sleepers(|sleepers| sleepers.remove(&self.published, sleep, false));
        if led && is_late::<ModelU32>(|| self.any_ready()) {
            self.ring();
        }
    }

    /// Models the progress thread, from its wakeup to its next sleep.
    fn watch(&self) {
        if self.wakeup_fd.swap(false, Ordering::SeqCst) {
            let led = self.sleepers(|sleepers| {
                sleepers.thread_awake(&self.published);
                if sleepers.rung(&self.alarm).is_some() {
                    sleepers.thread_takes_over(&self.published);
                }
                sleepers.is_led()
            });
            if led {
                return;
            }
            self.take();
            let watches = self.sleepers(|sleepers| sleepers.thread_asleep(&self.published));
            if watches && is_late::<ModelU32>(|| self.any_ready()) {
                self.take();
            }
        }
    }

    fn take(&self) -> u64 {
        let mut bits = 0;
        ready::take(&self.summary, &self.words, || !0, |index| bits |= 1 << index);
        bits
    }

    fn sleeps(&self) -> bool {
        self.alarm.load(Ordering::Acquire) != RUNG
    }

    fn is_rung(&self) -> bool {
        self.wakeup_fd.load(Ordering::SeqCst)
    }

    /// Returns whether all data has been found, or the progress thread will find it.
    fn is_settled(&self) -> bool {
        self.is_rung() || !self.any_ready()
    }
}

fn check(test: impl Fn(Arc<Model>) + Send + Sync + 'static) {
    explore(false, test);
}

fn check_away(test: impl Fn(Arc<Model>) + Send + Sync + 'static) {
    explore(true, test);
}

fn explore(away: bool, test: impl Fn(Arc<Model>) + Send + Sync + 'static) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(4);
    explorer.check(move || test(Arc::new(Model::new(away))));
}

fn beside(model: &Arc<Model>, what: impl FnOnce(&Model) + Send + 'static) -> thread::JoinHandle<()> {
    let model = model.clone();
    thread::spawn(move || what(&model))
}

#[test]
fn record_wakes_leader_despite_completions() {
    check(|model| {
        let completion = beside(&model, |model| model.tell(0, Notice::Completion));
        let record = beside(&model, |model| model.tell(1, Notice::Record));
        let sleep = model.arm(false);
        assert!(sleep.is_some());
        completion.join().expect("no panic");
        record.join().expect("no panic");
        assert!(!model.sleeps(), "the record wakes nobody");
        assert_eq!(model.take(), 3, "the leader finds less than there is");
    });
}

#[test]
fn completion_may_leave_other_sleep() {
    let slept = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let seen = slept.clone();
    check(move |model| {
        let completion = beside(&model, |model| model.tell(0, Notice::Completion));
        model.arm(false);
        completion.join().expect("no panic");
        seen.fetch_or(model.sleeps(), std::sync::atomic::Ordering::SeqCst);
        assert_eq!(model.take(), 1, "it is found with whatever ends the sleep");
    });
    assert!(slept.load(std::sync::atomic::Ordering::SeqCst), "the model tells nothing apart");
}

#[test]
fn second_wait_handles_completion() {
    check(|model| {
        let peer = beside(&model, |model| model.tell(0, Notice::Completion));
        let other = beside(&model, |model| _ = model.arm(true));
        model.arm(false);
        peer.join().expect("no panic");
        other.join().expect("no panic");
        assert!(model.is_settled() || !model.sleeps(), "the completion wakes nobody");
    });
}

#[test]
fn second_wait_is_independent_of_first() {
    // The peer's ring wakes the first wait, which then does nothing, or finds the first wait awake.
    for away in [false, true] {
        explore(away, |model| {
            model.arm(false);
            let peer = beside(&model, |model| model.tell(0, Notice::Record));
            assert_eq!(model.arm(false), None);
            peer.join().expect("no panic");
            assert!(model.is_settled(), "nobody is told but the first one");
        });
    }
}

#[test]
fn agent_is_independent_of_leader() {
    check_away(|model| {
        model.arm(false);
        let peer = beside(&model, |model| model.tell(0, Notice::Completion));
        model.expect_agent();
        peer.join().expect("no panic");
        assert!(model.is_settled(), "nobody is told but the leader");
    });
}

#[test]
fn thread_takes_over_from_awake_leader() {
    check_away(|model| {
        model.arm(false);
        let peer = beside(&model, |model| {
            model.tell(0, Notice::Record);
            model.tell(1, Notice::Record);
        });
        model.watch();
        peer.join().expect("no panic");
        assert!(model.is_settled(), "nobody is told");
    });
}

#[test]
fn thread_gets_data_of_leaving_leader() {
    check(|model| {
        let sleep = model.arm(false);
        let peer = beside(&model, |model| model.tell(0, Notice::Record));
        model.disarm(sleep);
        peer.join().expect("no panic");
        assert!(model.is_rung(), "nobody is told");
    });
}

#[test]
fn handles_completion_when_leader_leaves() {
    check(|model| {
        let sleep = model.arm(false);
        let peer = beside(&model, |model| model.tell(0, Notice::Completion));
        let leads = Arc::new(AtomicBool::new(false));
        let known = leads.clone();
        let other = beside(&model, move |model| known.store(model.arm(true).is_some(), Ordering::SeqCst));
        model.disarm(sleep);
        peer.join().expect("no panic");
        other.join().expect("no panic");
        let woken = leads.load(Ordering::SeqCst) && !model.sleeps();
        assert!(model.is_settled() || woken, "the completion wakes nobody");
    });
}

#[test]
fn completion_wakes_thread_for_agent() {
    check(|model| {
        let peer = beside(&model, |model| model.tell(0, Notice::Completion));
        let agent = beside(&model, Model::expect_agent);
        model.sleepers(|sleepers| sleepers.thread_asleep(&model.published));
        let late = is_late::<ModelU32>(|| model.any_ready());
        peer.join().expect("no panic");
        agent.join().expect("no panic");
        assert!(late || model.is_rung(), "the thread sleeps, and nobody wakes it");
    });
}

#[test]
fn data_prevents_or_ends_sleep_of_thread() {
    check(|model| {
        let peer = beside(&model, |model| model.tell(0, Notice::Record));
        let watches = model.sleepers(|sleepers| sleepers.thread_asleep(&model.published));
        assert!(watches);
        let late = is_late::<ModelU32>(|| model.any_ready());
        peer.join().expect("no panic");
        assert!(late || model.is_rung(), "the thread sleeps, and nobody wakes it");
    });
}
