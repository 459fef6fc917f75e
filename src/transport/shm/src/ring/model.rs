//! Loom models (`make steps STEP=loom`) of producer and consumer.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::AtomicU64 as ModelU64;
use loom::thread;

use super::*;

const REST: usize = SLOT - 8;

/// A ring whose slots detect data races. First words are separate, because the consumer may load one during its store.
pub struct Modelled {
    head: ModelU64,
    first: Vec<ModelU64>,
    rest: Vec<UnsafeCell<[u64; REST / 8]>>,
}

impl Modelled {
    pub fn new(slots: usize) -> Arc<Modelled> {
        let first = (0..slots).map(|_| ModelU64::new(0)).collect();
        let rest = (0..slots).map(|_| UnsafeCell::new([0; REST / 8])).collect();
        Arc::new(Modelled { head: ModelU64::new(0), first, rest })
    }

    fn slot(&self, at: u64) -> usize {
        at as usize / SLOT % self.first.len()
    }
}

impl Area for Arc<Modelled> {
    type Word = ModelU64;

    fn head(&self) -> &ModelU64 {
        &self.head
    }

    fn slots(&self) -> u64 {
        self.first.len() as u64
    }

    fn first(&self, at: u64) -> &ModelU64 {
        &self.first[self.slot(at)]
    }

    fn store_second(&self, at: u64, value: u64) {
        self.rest[self.slot(at)].with_mut(|cell| {
            // SAFETY: the model has checked that no other thread accesses the cell.
            unsafe { (*cell)[0] = value }
        });
    }

    fn load_second(&self, at: u64) -> u64 {
        self.rest[self.slot(at)].with(|cell| {
            // SAFETY: the model has checked that no thread writes the cell.
            unsafe { (*cell)[0] }
        })
    }

    fn write(&self, at: u64, mut src: Source<'_>) {
        let mut at = at as usize;
        while !src.is_empty() {
            let (slot, offset) = (self.slot(at as u64), at % SLOT);
            let (piece, rest) = src.split(if offset < 8 { 8 - offset } else { SLOT - offset });
            if offset < 8 {
                let mut word = self.first[slot].load(Ordering::Relaxed).to_ne_bytes();
                copy(Target::of(&mut word[offset..]), piece);
                self.first[slot].store(u64::from_ne_bytes(word), Ordering::Relaxed);
            } else {
                self.rest[slot].with_mut(|cell| {
                    let offset = offset - 8;
                    // SAFETY: the range is inside the cell, which no other thread accesses.
                    let dst = unsafe { Target::new(cell.expose_provenance() as u64 + offset as u64, REST - offset) };
                    copy(dst, piece);
                });
            }
            at += piece.len();
            src = rest;
        }
    }

    fn read(&self, at: u64, mut dst: Target<'_>) {
        let mut at = at as usize;
        while !dst.is_empty() {
            let (slot, offset) = (self.slot(at as u64), at % SLOT);
            let (piece, rest) = dst.split(if offset < 8 { 8 - offset } else { SLOT - offset });
            let len = piece.len();
            if offset < 8 {
                let word = self.first[slot].load(Ordering::Relaxed).to_ne_bytes();
                copy(piece, Source::of(&word[offset..]));
            } else {
                self.rest[slot].with(|cell| {
                    let offset = offset - 8;
                    // SAFETY: the range is inside the cell, which no thread writes.
                    let src = unsafe { Source::new(cell.expose_provenance() as u64 + offset as u64, REST - offset) };
                    copy(piece, src);
                });
            }
            at += len;
            dst = rest;
        }
    }
}

/// Passes records with payloads of `sizes` bytes through a ring of `slots` slots.
fn pass(slots: usize, sizes: &'static [usize]) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(3);
    explorer.check(move || {
        let area = Modelled::new(slots);
        let mut producer = Producer::new(area.clone());
        let mut consumer = Consumer::new(area);
        let other = thread::spawn(move || {
            for (i, &len) in sizes.iter().enumerate() {
                // Each byte is the lap of a later record.
                let payload = vec![2_u8; len];
                loop {
                    if let Some(mut room) = producer.reserve(len).expect("honest") {
                        room.write(Source::of(&payload));
                        let _ = room.finish(i as u8 + 1, 7, len as u64, (i as u64) << 20);
                        break;
                    }
                    thread::yield_now();
                }
            }
        });
        for (i, &len) in sizes.iter().enumerate() {
            let view = loop {
                match consumer.peek().expect("honest") {
                    Some(view) => break view,
                    None => thread::yield_now(),
                }
            };
            assert_eq!((view.kind, view.flags, view.len as usize), (i as u8 + 1, 7, len));
            assert_eq!((view.aux, view.credit), (len as u64, (i as u64) << 20));
            let mut payload = vec![0; len];
            assert_eq!(consumer.copy_out(&view, 0, Target::of(&mut payload)), len);
            assert!(payload.iter().all(|&b| b == 2));
            consumer.skip(&view);
            consumer.release();
        }
        assert_eq!(consumer.peek(), Ok(None));
        other.join().expect("producer");
    });
}

#[test]
fn ring_passes_single_slots_around_twice() {
    pass(2, &[1, 0, 48, 3, 5]);
}

#[test]
fn ring_passes_padded_records() {
    pass(4, &[1, 60, 60, 100]);
}

#[test]
fn ring_shows_no_payload_as_a_record() {
    pass(4, &[100, 1, 2, 0, 1]);
}

const MESSAGE: u8 = 1;

/// Passes records with payloads of `sizes` bytes through the fast path: [`Producer::put_small`], for small records with
/// known room, and [`Consumer::next`].
fn pass_small(slots: usize, sizes: &'static [usize]) {
    let mut explorer = loom::model::Builder::new();
    explorer.preemption_bound = Some(3);
    explorer.check(move || {
        let area = Modelled::new(slots);
        let mut producer = Producer::new(area.clone());
        let mut consumer = Consumer::new(area);
        let other = thread::spawn(move || {
            for (i, &len) in sizes.iter().enumerate() {
                let payload = vec![2_u8; len];
                let fits = len <= SMALL && producer.used() + slots_for(len) <= slots as u64;
                if fits && producer.put_small([MESSAGE, i as u8], len as u64, 7, [], Source::of(&payload)).is_some() {
                    continue;
                }
                loop {
                    if let Some(mut room) = producer.reserve(len).expect("honest") {
                        room.write(Source::of(&payload));
                        let _ = room.finish(MESSAGE, i as u8, len as u64, 7);
                        break;
                    }
                    thread::yield_now();
                }
            }
        });
        for (i, &len) in sizes.iter().enumerate() {
            while !consumer.has_record() {
                thread::yield_now();
            }
            let mut payload = vec![0; len];
            match consumer.next(MESSAGE) {
                Next::Nothing => panic!("there was a record"),
                Next::Small(small) => {
                    assert_eq!((small.flags(), small.len(), small.credit()), (i as u8, len, 7));
                    let at = consumer.head * SLOT as u64 + HEADER as u64;
                    consumer.area.read(at, Target::of(&mut payload));
                    consumer.skip_small(small);
                }
                Next::Other => {
                    let view = consumer.peek().expect("honest").expect("there was a record");
                    assert_eq!((view.flags, view.len as usize, view.credit), (i as u8, len, 7));
                    assert_eq!(consumer.copy_out(&view, 0, Target::of(&mut payload)), len);
                    consumer.skip(&view);
                }
            }
            assert!(payload.iter().all(|&b| b == 2));
            assert_eq!(consumer.release().position(), consumer.head);
        }
        assert!(!consumer.has_record());
        assert!(matches!(consumer.next(MESSAGE), Next::Nothing));
        other.join().expect("producer");
    });
}

#[test]
fn ring_passes_small_messages_around_twice() {
    pass_small(2, &[1, 0, 48, 3, 5]);
}

#[test]
fn ring_passes_small_messages_after_long_ones() {
    pass_small(8, &[120, 1, 2, 48, 0]);
}

#[test]
fn ring_passes_small_messages_around_padding() {
    pass_small(4, &[1, 2, 3, 60, 3]);
}

#[test]
fn ring_passes_small_messages_of_two_slots() {
    pass_small(4, &[60, 1, 112, 2]);
}

/// Models [`PeerSegment`](crate::peer_segment::PeerSegment) and [`Hot`](crate::hot::Hot): one side stores a record, and
/// does not notify the other side if that polls. Concurrently, the other side stops polling. Each side executes its own
/// fence.
#[test]
fn no_record_is_missed_when_polling_ends() {
    loom::model(|| {
        let area = Modelled::new(2);
        let (polled, ready) = (Arc::new(ModelU64::new(1)), Arc::new(ModelU64::new(0)));
        let mut producer = Producer::new(area.clone());
        let (peer_polls, bit) = (polled.clone(), ready.clone());
        let other = thread::spawn(move || {
            let _ = producer.reserve(0).expect("honest").expect("room").finish(1, 0, 0, 0);
            loom::sync::atomic::fence(Ordering::SeqCst);
            if peer_polls.load(Ordering::SeqCst) == 0 {
                bit.store(1, Ordering::SeqCst);
            }
        });
        polled.store(0, Ordering::SeqCst);
        loom::sync::atomic::fence(Ordering::SeqCst);
        let found = is_there(&area, RingCursor::FIRST);
        other.join().expect("producer");
        assert!(found || ready.load(Ordering::SeqCst) == 1, "nobody looks, and nobody is told");
    });
}

fn memory() -> Arc<UnsafeCell<u64>> {
    Arc::new(UnsafeCell::new(0))
}

/// A write with an immediate value: the bytes are copied directly, the value goes through the ring. The ring's consumer
/// must see the bytes.
#[test]
fn ring_passes_value_after_copied_bytes() {
    loom::model(|| {
        let (area, memory) = (Modelled::new(2), memory());
        let (mut producer, mut consumer) = (Producer::new(area.clone()), Consumer::new(area));
        let place = memory.clone();
        let other = thread::spawn(move || {
            for bytes in 1..=2_u64 {
                if bytes == 2 {
                    // Waits until the consumer has read the first value, and permits overwriting.
                    while !producer.consumed().is_ok_and(|head| head == 1) {
                        thread::yield_now();
                    }
                }
                // SAFETY: the model has checked that no other thread accesses the cell.
                place.with_mut(|cell| unsafe { *cell = bytes });
                let mut room = producer.reserve(4).expect("honest").expect("room");
                room.write(Source::of(&[7; 4]));
                let _ = room.finish(1, 0, bytes, 0);
            }
        });
        for bytes in 1..=2 {
            let view = loop {
                match consumer.peek().expect("honest") {
                    Some(view) => break view,
                    None => thread::yield_now(),
                }
            };
            // SAFETY: the model has checked that no thread writes the cell.
            assert_eq!(memory.with(|cell| unsafe { *cell }), bytes);
            assert_eq!(view.aux, bytes);
            consumer.skip(&view);
            consumer.release();
        }
        other.join().expect("producer");
    });
}

/// After the consumer's atomic operation, the producer copies to the same memory.
#[test]
fn ring_orders_copy_after_atomic_operation() {
    loom::model(|| {
        let (area, memory) = (Modelled::new(2), memory());
        let (mut producer, mut consumer) = (Producer::new(area.clone()), Consumer::new(area));
        let place = memory.clone();
        let other = thread::spawn(move || {
            let end = producer.reserve(4).expect("honest").expect("room").finish(1, 0, 8, 0);
            while !producer.consumed().is_ok_and(|head| head >= end) {
                thread::yield_now();
            }
            // SAFETY: the model has checked that no other thread accesses the cell.
            place.with_mut(|cell| unsafe { *cell *= 10 });
        });
        let view = loop {
            match consumer.peek().expect("honest") {
                Some(view) => break view,
                None => thread::yield_now(),
            }
        };
        // SAFETY: the model has checked that no other thread accesses the cell.
        memory.with_mut(|cell| unsafe { *cell += 1 });
        consumer.skip(&view);
        consumer.release();
        other.join().expect("producer");
        // SAFETY: the other thread has ended.
        assert_eq!(memory.with(|cell| unsafe { *cell }), 10);
    });
}
