//! Loom models (`make steps STEP=loom`) of a thread that stops polling a connection, a sending thread of the same
//! process, and the peer.
//!
//! Each thread executes its own fence, instead of one for all processes. A ready bit that remains set at the end is
//! found by the next poll, or prevents a sleep.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use loom::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;

const FINISHED: i32 = -1;

/// A connection in both processes, with at most one request.
#[derive(Default)]
struct Model {
    requests: Mutex<()>,
    again: AtomicBool,
    record: AtomicU32,
    head: AtomicI32,
    polled: AtomicBool,
    /// Positions of [`End::want`](crate::peer_segment::End::want) and
    /// [`End::set_known`](crate::peer_segment::End::set_known).
    wanted: AtomicI32,
    known: AtomicI32,
    bit: AtomicBool,
}

impl Model {
    fn polled() -> Arc<Model> {
        Arc::new(Model { polled: AtomicBool::new(true), ..Model::default() })
    }

    fn post(&self) {
        let requests = self.requests.lock().expect("no panic");
        self.record.store(1, Release);
        self.wanted.store(1, Relaxed);
        drop(requests);
        self.run_deferred_poll();
    }

    /// Models a transfer that completes during the post, after earlier requests:
    /// [`End::finish_soon`](crate::peer_segment::End::finish_soon).
    fn post_done(&self) {
        let requests = self.requests.lock().expect("no panic");
        self.known.store(FINISHED, Relaxed);
        fence(SeqCst);
        if !self.polled.load(Relaxed) {
            self.bit.store(true, SeqCst);
        }
        drop(requests);
        self.run_deferred_poll();
    }

    fn query(&self) {
        drop(self.requests.lock().expect("no panic"));
        self.run_deferred_poll();
    }

    fn run_deferred_poll(&self) {
        fence(SeqCst);
        while self.again.load(Relaxed) {
            let Ok(requests) = self.requests.try_lock() else { return };
            self.again.store(false, SeqCst);
            drop(requests);
            self.bit.store(true, SeqCst);
            fence(SeqCst);
        }
    }

    fn consume(&self) {
        if self.record.load(Acquire) == 1 {
            self.head.store(1, Release);
            fence(SeqCst);
            if !self.polled.load(SeqCst) {
                self.bit.store(true, SeqCst);
            }
        }
    }

    fn stop_polling(&self) {
        self.polled.store(false, SeqCst);
        fence(SeqCst);
        let mut requests = self.requests.try_lock();
        if requests.is_err() {
            self.again.store(true, Relaxed);
            fence(SeqCst);
            requests = self.requests.try_lock();
        }
        let Ok(requests) = requests else { return };
        let has_events = self.has_events();
        drop(requests);
        self.run_deferred_poll();
        if has_events {
            self.bit.store(true, SeqCst);
        }
    }

    fn has_events(&self) -> bool {
        let known = self.known.load(Relaxed);
        self.wanted.load(Relaxed) > known && (known == FINISHED || self.head.load(Relaxed) != known)
    }
}

fn beside(model: &Arc<Model>, what: impl FnOnce(&Model) + Send + 'static) -> thread::JoinHandle<()> {
    let model = model.clone();
    thread::spawn(move || what(&model))
}

#[test]
fn finds_response_if_polling_ends_during_post() {
    loom::model(|| {
        let model = Model::polled();
        let (post, peer) = (beside(&model, Model::post), beside(&model, Model::consume));
        model.stop_polling();
        post.join().expect("no panic");
        peer.join().expect("no panic");
        // If the peer consumed the record after the check in `stop_polling`, it has set the bit.
        if model.head.load(SeqCst) == 1 {
            assert!(model.bit.load(SeqCst), "the request is complete, and nobody looks");
        }
    });
}

#[test]
fn finds_response_if_polling_ends_during_call() {
    loom::model(|| {
        let model = Model::polled();
        model.post();
        let (query, peer) = (beside(&model, Model::query), beside(&model, Model::consume));
        model.stop_polling();
        query.join().expect("no panic");
        peer.join().expect("no panic");
        if model.head.load(SeqCst) == 1 {
            assert!(model.bit.load(SeqCst), "the request is complete, and nobody looks");
        }
    });
}

#[test]
fn finds_done_transfer_if_polling_ends() {
    loom::model(|| {
        let model = Model::polled();
        let post = beside(&model, Model::post_done);
        model.stop_polling();
        post.join().expect("no panic");
        assert!(model.bit.load(SeqCst), "the transfer is done, and nobody looks");
    });
}
