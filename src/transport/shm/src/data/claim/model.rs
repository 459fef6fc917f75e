//! All interleavings of an initiator that takes records back and a target that gets to them, in a model of the memory. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p dat-shm --lib --release claim`.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64 as ModelU64;
use loom::thread;

use super::*;

/// The word, and the target's memory, which reports every access that is not ordered against another.
struct Model {
    claim: Claim<ModelU64>,
    memory: UnsafeCell<Vec<u64>>,
    /// How far the target is.
    head: ModelU64,
}

// SAFETY: the model checks the accesses.
unsafe impl Sync for Model {}
// SAFETY: as for Sync.
unsafe impl Send for Model {}

impl Model {
    fn carry_out(&self, record: u64) {
        // SAFETY: the model reports whoever else has the memory.
        self.memory.with_mut(|memory| unsafe { (*memory).push(record) });
    }
}

/// The initiator takes back what it can of `records` records, of which it fails at the record `fails`, while the target goes
/// through all of them.
fn race(records: u64, fails: u64) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(3);
    explorer.check(move || {
        let model =
            Arc::new(Model { claim: Claim::default(), memory: UnsafeCell::new(Vec::new()), head: ModelU64::new(0) });
        let initiator = {
            let model = model.clone();
            thread::spawn(move || {
                for end in 1..=records {
                    if !model.claim.take_back(end) {
                        // The target has it, and is waited for: what is behind it comes later.
                        while model.head.load(Ordering::Acquire) < end {
                            thread::yield_now();
                        }
                        continue;
                    }
                    if end == fails {
                        model.claim.give_back(end);
                        return;
                    }
                    model.carry_out(end);
                    model.claim.finish(end);
                }
            })
        };
        for end in 1..=records {
            loop {
                match model.claim.take(end) {
                    Turn::Own => break model.carry_out(end),
                    Turn::Done => break,
                    Turn::Awaited => thread::yield_now(),
                    Turn::Corrupt => unreachable!("the initiator keeps to the rules"),
                }
            }
            model.head.store(end, Ordering::Release);
        }
        initiator.join().unwrap();
        // SAFETY: the other thread is over.
        let done = model.memory.with(|memory| unsafe { (*memory).clone() });
        assert_eq!(done, (1..=records).collect::<Vec<_>>(), "each once, in order");
    });
}

#[test]
fn each_record_is_carried_out_once_and_in_order() {
    race(2, 0);
    race(3, 0);
}

#[test]
fn a_record_that_is_given_back_is_the_targets() {
    race(2, 1);
    race(2, 2);
}
