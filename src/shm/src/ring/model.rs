//! All interleavings of producer and consumer, in a model of the memory. Run with
//! `RUSTFLAGS="--cfg loom" cargo test -p dat-shm --lib --release ring`.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64 as ModelU64;
use loom::thread;

use super::*;

impl Position for ModelU64 {
    fn load(&self, order: Ordering) -> u64 {
        ModelU64::load(self, order)
    }

    fn store(&self, value: u64, order: Ordering) {
        ModelU64::store(self, value, order);
    }
}

/// A ring whose slots report every access that is not ordered against another.
struct Modelled {
    tail: ModelU64,
    head: ModelU64,
    data: Vec<UnsafeCell<[u64; 8]>>,
}

impl Modelled {
    fn new(slots: usize) -> Arc<Modelled> {
        let data = (0..slots).map(|_| UnsafeCell::new([0; 8])).collect();
        Arc::new(Modelled { tail: ModelU64::new(0), head: ModelU64::new(0), data })
    }

    fn place(&self, at: u64) -> (&UnsafeCell<[u64; 8]>, usize) {
        let at = at as usize % (self.data.len() * SLOT);
        (&self.data[at / SLOT], at % SLOT)
    }
}

impl Area for Arc<Modelled> {
    type Position = ModelU64;

    fn tail(&self) -> &ModelU64 {
        &self.tail
    }

    fn head(&self) -> &ModelU64 {
        &self.head
    }

    fn slots(&self) -> u64 {
        self.data.len() as u64
    }

    fn store_header(&self, slot: u64, words: [u64; 2]) {
        self.place(slot * SLOT as u64).0.with_mut(|cell| {
            // SAFETY: the model has just checked that nobody else is at the cell.
            unsafe { (&mut *cell)[..2].copy_from_slice(&words) }
        });
    }

    fn load_header(&self, slot: u64) -> [u64; 2] {
        self.place(slot * SLOT as u64).0.with(|cell| {
            // SAFETY: the model has just checked that nobody writes to the cell.
            unsafe { [(*cell)[0], (*cell)[1]] }
        })
    }

    fn write(&self, at: u64, mut src: Source<'_>) {
        let mut at = at;
        while !src.is_empty() {
            let (cell, offset) = self.place(at);
            let (piece, rest) = src.split(SLOT - offset);
            cell.with_mut(|cell| {
                // SAFETY: inside the cell, where nobody else is.
                let dst = unsafe { Target::new(cell.expose_provenance() as u64 + offset as u64, SLOT - offset) };
                copy(dst, piece);
            });
            at += piece.len() as u64;
            src = rest;
        }
    }

    fn read(&self, at: u64, mut dst: Target<'_>) {
        let mut at = at;
        while !dst.is_empty() {
            let (cell, offset) = self.place(at);
            let (piece, rest) = dst.split(SLOT - offset);
            cell.with(|cell| {
                // SAFETY: inside the cell, to which nobody writes.
                let src = unsafe { Source::new(cell.expose_provenance() as u64 + offset as u64, SLOT - offset) };
                copy(piece, src);
            });
            at += piece.len() as u64;
            dst = rest;
        }
    }
}

/// Passes records with payloads of `sizes` bytes through a ring of `slots` slots.
fn pass(slots: usize, sizes: &'static [usize], batch: usize) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(3);
    explorer.check(move || {
        let area = Modelled::new(slots);
        let mut producer = Producer::new(area.clone());
        let mut consumer = Consumer::new(area);
        let other = thread::spawn(move || {
            for (i, &len) in sizes.iter().enumerate() {
                let payload = vec![i as u8 + 1; len];
                loop {
                    if let Some(mut room) = producer.reserve(len).expect("honest") {
                        room.write(Source::of(&payload));
                        let _ = room.finish(i as u8 + 1, 7, len as u64);
                        break;
                    }
                    producer.commit();
                    thread::yield_now();
                }
                if (i + 1) % batch == 0 {
                    producer.commit();
                }
            }
            producer.commit();
        });
        for (i, &len) in sizes.iter().enumerate() {
            let view = loop {
                match consumer.peek().expect("honest") {
                    Some(view) => break view,
                    None => thread::yield_now(),
                }
            };
            assert_eq!((view.kind, view.flags, view.len as usize), (i as u8 + 1, 7, len));
            let mut payload = vec![0; len];
            assert_eq!(consumer.copy_out(&view, 0, Target::of(&mut payload)), len);
            assert!(payload.iter().all(|&b| b == i as u8 + 1));
            consumer.advance(&view);
        }
        assert_eq!(consumer.peek(), Ok(None));
        other.join().expect("producer");
    });
}

#[test]
fn ring_passes_single_slots_around_twice() {
    pass(2, &[1, 0, 48, 3, 5], 1);
}

#[test]
fn ring_passes_padded_records() {
    pass(4, &[1, 60, 60, 100], 1);
}

#[test]
fn ring_shows_records_in_batches() {
    pass(4, &[1, 2, 3, 60, 5], 2);
}
