//! All interleavings of a process that has a request waiting for its peer, another thread of it that polls, and the peer, in a
//! model of the memory. Run with `RUSTFLAGS="--cfg loom" cargo test -p dat-shm --lib --release tx_ring`.
//!
//! The request is a copy that waits behind the record of a write. A ready bit that is still set when all threads have come to
//! their end is found by the next poll.

use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use loom::sync::atomic::{AtomicBool, fence};
use loom::sync::{Arc, Mutex};
use loom::thread;

use super::*;
use crate::ring::Consumer;
use crate::ring::model::Modelled;

/// The sending direction, behind its lock.
struct Sending {
    tx_ring: TxRing<Arc<Modelled>>,
    /// End of the record of the write.
    written: u64,
    /// The copy waits, or has been made.
    queued: bool,
    made: bool,
}

/// A connection as both processes see it.
struct Model {
    tx: Mutex<Sending>,
    /// A turn was left to the holder of that lock.
    again: AtomicBool,
    /// The peer's end of the ring.
    ring: Mutex<Consumer<Arc<Modelled>>>,
    bit: AtomicBool,
}

impl Model {
    /// A connection with the record of a write in its ring, which asks for nothing.
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

    /// As `Tx::launch`.
    fn launch(tx: &mut Sending) {
        loop {
            let behind = tx.tx_ring.consumed().is_some_and(|head| head.expect("honest") < tx.written);
            if !behind {
                (tx.made, tx.queued) = (true, false);
                return;
            }
            // Nothing is to be done about a record that asks: the peer looks once more when all threads have ended.
            if tx.tx_ring.ask(0, Acknowledge::Needed) != Asked::Consumed {
                tx.queued = true;
                return;
            }
        }
    }

    /// As a post of the program.
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
            self.bit.swap(true, SeqCst);
            drop(tx);
            fence(SeqCst);
        }
    }

    /// As a poll: goes on if the ready bit is set.
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

    /// The peer consumes what is there, and tells if a record of it asks.
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
fn a_copy_behind_a_write_is_always_gone_on_with() {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(4);
    explorer.check(|| {
        let model = Model::behind_a_write();
        let (post, peer) = (beside(&model, Model::post), beside(&model, Model::consume));
        model.poll();
        post.join().expect("no panic");
        peer.join().expect("no panic");
        // The peer and this process look as long as anything tells them to.
        model.consume();
        model.poll();
        assert!(model.tx.lock().expect("no panic").made, "the copy waits, and nobody looks");
    });
}
