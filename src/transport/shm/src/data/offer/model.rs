//! Loom models (`make steps STEP=loom`) of a receiver that offers parts and a sender that takes them.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64 as ModelU64;
use loom::thread;

use super::*;

/// An offer, and the bytes of the part, in which the model detects races.
struct Model {
    offer: Offer<ModelU64>,
    bytes: UnsafeCell<u64>,
}

// SAFETY: the model detects data races.
unsafe impl Sync for Model {}
// SAFETY: the model detects data races.
unsafe impl Send for Model {}

impl Model {
    fn write(&self, value: u64) {
        // SAFETY: the model detects other accesses to the bytes.
        self.bytes.with_mut(|bytes| unsafe { *bytes = value });
    }

    fn read(&self) -> u64 {
        // SAFETY: the model detects writes to the bytes.
        self.bytes.with(|bytes| unsafe { *bytes })
    }
}

fn part(number: u64) -> Part {
    let target = RemoteSegment { addr: number + 10, len: number + 20, key: number as u32 + 30 };
    Part { position: number + 40, offset: number + 50, target, zone: number as u32 + 60 }
}

/// The receiver makes `offers` offers, and writes each part that the sender does not take; the sender checks `looks`
/// times.
fn exchange(offers: u64, looks: usize) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(3);
    explorer.check(move || {
        let model = Arc::new(Model { offer: Offer::default(), bytes: UnsafeCell::new(0) });
        let sender = {
            let model = model.clone();
            thread::spawn(move || {
                for _ in 0..looks {
                    if let Some((number, found)) = model.offer.look() {
                        if model.offer.take(number) {
                            assert_eq!(found, part(number), "the words are of one offer");
                            model.write(2 * number);
                            model.offer.finish(number, true);
                        }
                    }
                }
            })
        };
        for number in 1..=offers {
            model.offer.make(number, &part(number));
            let written = loop {
                match model.offer.resolve(number) {
                    Answer::Written => break true,
                    Answer::Untaken => break false,
                    Answer::Awaited => thread::yield_now(),
                    Answer::Corrupt => unreachable!("the sender keeps to the rules"),
                }
            };
            if !written {
                model.write(2 * number + 1);
            }
            assert_eq!(model.read(), 2 * number + u64::from(!written), "all bytes are there");
        }
        sender.join().unwrap();
    });
}

#[test]
fn one_side_writes_part_before_use() {
    exchange(1, 1);
}

#[test]
fn sender_takes_no_mixed_offer() {
    exchange(2, 2);
}
