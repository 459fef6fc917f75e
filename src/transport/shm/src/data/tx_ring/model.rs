//! Loom models (`make steps STEP=loom`) of a process with a waiting request, its polling thread, and the peer.
//!
//! The request is a copy that waits until the peer consumes the record of a write.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use loom::sync::atomic::{AtomicBool, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::*;
use crate::ring::Consumer;
use crate::ring::model::Modelled;

struct Sending {
    tx_ring: TxRing<Arc<Modelled>>,
    written: u64,
    queued: bool,
    made: bool,
}

struct Model {
    tx: Mutex<Sending>,
    again: AtomicBool,
    ring: Mutex<Consumer<Arc<Modelled>>>,
    bit: AtomicBool,
}

impl Model {
    /// Creates a connection whose only record, of a write, requests no notification.
    fn behind_a_write() -> Arc<Model> {
        let area = Modelled::new(4);
        let mut tx_ring = TxRing::default();
        tx_ring.open(Producer::new(area.clone()));
        let header = Header { kind: kind::WRITE_PIECE, solicited: false, acknowledge: Acknowledge::No, aux: 0 };
        let Put::At(written) = tx_ring.put(0, header, 0, |_| true) else { panic!("room") };
        Arc::new(Model {
            tx: Mutex::new(Sending { tx_ring, written, queued: false, made: false }),
            again: AtomicBool::new(false),
            ring: Mutex::new(Consumer::new(area)),
            bit: AtomicBool::new(false),
        })
    }

    fn launch(tx: &mut Sending) {
        loop {
            let behind = tx.tx_ring.consumed().is_some_and(|head| head.expect("honest") < tx.written);
            if !behind {
                (tx.made, tx.queued) = (true, false);
                return;
            }
            // After a request for notification, the peer runs again at the end.
            if tx.tx_ring.ask(0, Acknowledge::Needed) != Asked::Consumed {
                tx.queued = true;
                return;
            }
        }
    }

    fn post(&self) {
        let mut tx = self.tx.lock().expect("no panic");
        Self::launch(&mut tx);
        drop(tx);
        self.run_deferred_poll();
    }

    fn run_deferred_poll(&self) {
        fence(SeqCst);
        while self.again.load(Relaxed) {
            let Ok(tx) = self.tx.try_lock() else { return };
            self.again.store(false, SeqCst);
            drop(tx);
            self.bit.swap(true, SeqCst);
            fence(SeqCst);
        }
    }

    fn poll(&self) {
        if !self.bit.swap(false, SeqCst) {
            return;
        }
        let mut tx = self.tx.try_lock();
        if tx.is_err() {
            self.again.store(true, Relaxed);
            fence(SeqCst);
            tx = self.tx.try_lock();
        }
        let Ok(mut tx) = tx else { return };
        if tx.queued {
            Self::launch(&mut tx);
        }
        drop(tx);
        self.run_deferred_poll();
    }

    /// Consumes available records as the peer, and notifies if requested.
    fn consume(&self) {
        let mut ring = self.ring.lock().expect("no panic");
        let mut flags = 0;
        while let Some(view) = ring.peek().expect("honest") {
            flags |= view.flags;
            ring.skip(&view);
        }
        ring.release();
        if Acknowledge::wanted(flags) == Acknowledge::Needed {
            fence(SeqCst);
            self.bit.swap(true, SeqCst);
        }
    }
}

fn beside(model: &Arc<Model>, what: impl FnOnce(&Model) + Send + 'static) -> thread::JoinHandle<()> {
    let model = model.clone();
    thread::spawn(move || what(&model))
}

#[test]
fn copy_after_write_always_continues() {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(4);
    explorer.check(|| {
        let model = Model::behind_a_write();
        let (post, peer) = (beside(&model, Model::post), beside(&model, Model::consume));
        model.poll();
        post.join().expect("no panic");
        peer.join().expect("no panic");
        // Peer and process run once more, for pending notifications.
        model.consume();
        model.poll();
        assert!(model.tx.lock().expect("no panic").made, "the copy waits, and nobody looks");
    });
}
