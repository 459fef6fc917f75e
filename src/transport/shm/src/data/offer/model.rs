//! All interleavings of a receiver that offers parts and a sender that takes them, in a model of the memory. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p dat-shm --lib --release offer`.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64 as ModelU64;
use loom::thread;

use super::*;

/// An offer, and the bytes of the part, which report every access that is not ordered against another.
struct Model {
    offer: Offer<ModelU64>,
    bytes: UnsafeCell<u64>,
}

// SAFETY: the model checks the accesses.
unsafe impl Sync for Model {}
// SAFETY: as for Sync.
unsafe impl Send for Model {}

impl Model {
    fn write(&self, value: u64) {
        // SAFETY: the model reports whoever else has the bytes.
        self.bytes.with_mut(|bytes| unsafe { *bytes = value });
    }

    fn read(&self) -> u64 {
        // SAFETY: as in `write`.
        self.bytes.with(|bytes| unsafe { *bytes })
    }
}

fn part(number: u64) -> Part {
    let target = RemoteSegment { addr: number + 10, len: number + 20, key: number as u32 + 30 };
    Part { position: number + 40, offset: number + 50, target, zone: number as u32 + 60 }
}

/// The receiver offers `offers` parts one after the other, and writes each itself that the sender has not taken; the sender
/// looks `looks` times.
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
fn a_part_is_written_by_one_side_before_it_is_used() {
    exchange(1, 1);
}

#[test]
fn a_sender_takes_no_offer_of_which_it_has_seen_two() {
    exchange(2, 2);
}
