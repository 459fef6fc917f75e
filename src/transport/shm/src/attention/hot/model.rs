//! All interleavings of a thread that ends the polling of a connection, another thread of the same process that sends, and
//! the peer, in a model of the memory. Run with `RUSTFLAGS="--cfg loom" cargo test -p dat-shm --lib --release hot`.
//!
//! The fence that ends the polling is one for all who rely on it; in the model each makes its own. A ready bit that is
//! still set when all others have come to their end is found by the next poll, or keeps a thread from its sleep.

use std::sync::atomic::Ordering::{Acquire, Relaxed, Release, SeqCst};

use loom::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;

/// In the place of the position at which the peer is known to be: requests are done that it tells nothing of.
const FINISHED: i32 = -1;

/// A connection as both processes see it, with one request at most.
#[derive(Default)]
struct Model {
    /// The lock on the requests of the endpoint, and with it on the sending direction.
    requests: Mutex<()>,
    /// A turn was left to the holder.
    again: AtomicBool,
    /// The record, the peer's position, and whether this process polls.
    record: AtomicU32,
    head: AtomicI32,
    polled: AtomicBool,
    /// What this process knows: [`End::want`](crate::pair::End::want) and its like.
    wanted: AtomicI32,
    known: AtomicI32,
    bit: AtomicBool,
}

impl Model {
    fn polled() -> Arc<Model> {
        Arc::new(Model { polled: AtomicBool::new(true), ..Model::default() })
    }

    /// As [`Tx::post`](crate::tx::Tx::post), for a message whose end the peer tells.
    fn post(&self) {
        let requests = self.requests.lock().expect("no panic");
        self.record.store(1, Release);
        self.wanted.store(1, Relaxed);
        drop(requests);
        self.run_deferred_poll();
    }

    /// The same for a transfer that is done at once behind others in flight: [`End::finish_soon`](crate::pair::End::finish_soon).
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

    /// As a call of the program that locks the requests for something else.
    fn query(&self) {
        drop(self.requests.lock().expect("no panic"));
        self.run_deferred_poll();
    }

    fn run_deferred_poll(&self) {
        fence(SeqCst);
        while self.again.load(Relaxed) {
            let Ok(requests) = self.requests.try_lock() else { return };
            self.again.store(false, SeqCst);
            self.bit.store(true, SeqCst);
            drop(requests);
            fence(SeqCst);
        }
    }

    /// The peer consumes the record if it is there, and tells this process if that does not poll.
    fn consume(&self) {
        if self.record.load(Acquire) == 1 {
            self.head.store(1, Release);
            fence(SeqCst);
            if !self.polled.load(SeqCst) {
                self.bit.store(true, SeqCst);
            }
        }
    }

    /// As [`Hot::cool`](crate::hot::Hot): ends the polling, and looks once more.
    fn cool(&self) {
        self.polled.store(false, SeqCst);
        fence(SeqCst);
        let mut requests = self.requests.try_lock();
        if requests.is_err() {
            self.again.store(true, Relaxed);
            fence(SeqCst);
            requests = self.requests.try_lock();
        }
        let Ok(requests) = requests else { return };
        let news = self.has_news();
        drop(requests);
        self.run_deferred_poll();
        if news {
            self.bit.store(true, SeqCst);
        }
    }

    fn has_news(&self) -> bool {
        let known = self.known.load(Relaxed);
        self.wanted.load(Relaxed) > known && (known == FINISHED || self.head.load(Relaxed) != known)
    }
}

fn beside(model: &Arc<Model>, what: impl FnOnce(&Model) + Send + 'static) -> thread::JoinHandle<()> {
    let model = model.clone();
    thread::spawn(move || what(&model))
}

#[test]
fn an_answer_is_found_when_polling_ends_during_a_post() {
    loom::model(|| {
        let model = Model::polled();
        let (post, peer) = (beside(&model, Model::post), beside(&model, Model::consume));
        model.cool();
        post.join().expect("no panic");
        peer.join().expect("no panic");
        // What was consumed later the peer has told; what it has not consumed it will tell.
        if model.head.load(SeqCst) == 1 {
            assert!(model.bit.load(SeqCst), "the request is complete, and nobody looks");
        }
    });
}

#[test]
fn an_answer_is_found_when_polling_ends_during_a_call() {
    loom::model(|| {
        let model = Model::polled();
        model.post();
        let (query, peer) = (beside(&model, Model::query), beside(&model, Model::consume));
        model.cool();
        query.join().expect("no panic");
        peer.join().expect("no panic");
        if model.head.load(SeqCst) == 1 {
            assert!(model.bit.load(SeqCst), "the request is complete, and nobody looks");
        }
    });
}

#[test]
fn a_transfer_that_is_done_is_found_when_polling_ends() {
    loom::model(|| {
        let model = Model::polled();
        let post = beside(&model, Model::post_done);
        model.cool();
        post.join().expect("no panic");
        assert!(model.bit.load(SeqCst), "the transfer is done, and nobody looks");
    });
}
