//! Loom models (`make steps STEP=loom`) of an initiator that revokes records, and a target that executes them.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64 as ModelU64;
use loom::thread;

use super::*;

/// The word, and the target's memory, in which the model detects races.
struct Model {
    claim: Claim<ModelU64>,
    memory: UnsafeCell<Vec<u64>>,
    head: ModelU64,
}

// SAFETY: the model detects data races.
unsafe impl Sync for Model {}
// SAFETY: the model detects data races.
unsafe impl Send for Model {}

impl Model {
    fn carry_out(&self, record: u64) {
        // SAFETY: the model detects other accesses to the memory.
        self.memory.with_mut(|memory| unsafe { (*memory).push(record) });
    }
}

/// The initiator revokes as many of `records` records as it can, but fails to copy record `fails` (none if 0). The
/// target handles all records.
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
                        // The target executes this record; later records must wait.
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
        // SAFETY: the other thread has ended.
        let done = model.memory.with(|memory| unsafe { (*memory).clone() });
        assert_eq!(done, (1..=records).collect::<Vec<_>>(), "each once, in order");
    });
}

#[test]
fn executes_each_record_once_in_order() {
    race(2, 0);
    race(3, 0);
}

#[test]
fn target_executes_returned_record() {
    race(2, 1);
    race(2, 2);
}
