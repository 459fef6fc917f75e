//! Tests of the ring in real memory.

use std::thread;

use super::*;
use crate::os::memory::Access;

const DATA: usize = 4096;

fn mapped(slots: usize) -> Mapped {
    let memory = SharedMemory::create("ring", DATA + slots * SLOT, Access::ReadWrite).expect("memory");
    Mapped::new(Arc::new(memory), 0, DATA, slots).expect("ring")
}

fn pair(slots: usize) -> (Producer, Consumer) {
    let area = mapped(slots);
    (Producer::new(area.clone()), Consumer::new(area))
}

fn put(producer: &mut Producer, kind: u8, payload: &[u8]) -> Option<u64> {
    let mut room = producer.reserve(payload.len()).expect("honest")?;
    assert_eq!(room.write(Source::of(payload)), payload.len());
    let end = room.finish(kind, kind ^ 0xff, u64::from(kind) << 40);
    producer.commit();
    Some(end)
}

fn get(consumer: &mut Consumer) -> Option<(u8, Vec<u8>)> {
    let view = consumer.peek().expect("honest")?;
    assert_eq!((view.flags, view.aux), (view.kind ^ 0xff, u64::from(view.kind) << 40));
    let mut payload = vec![0; view.len as usize + 1];
    assert_eq!(consumer.copy_out(&view, 0, Target::of(&mut payload)), view.len as usize);
    payload.pop();
    consumer.advance(&view);
    Some((view.kind, payload))
}

/// Slots that the producer can fill now.
fn free_slots(producer: &mut Producer) -> Result<u64, Corrupt> {
    producer.consumed()?;
    Ok(producer.area().slots() - producer.used())
}

#[test]
fn shared_layout_is_fixed() {
    assert_eq!((size_of::<RingShared>(), align_of::<RingShared>()), (256, 128));
    assert_eq!(std::mem::offset_of!(RingShared, head), 128);
}

#[test]
fn records_come_out_as_they_went_in() {
    let (mut producer, mut consumer) = pair(16);
    assert_eq!(get(&mut consumer), None);
    for len in [0, 1, 47, 48, 49, 112, 113, 200, 496] {
        let payload: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
        let end = put(&mut producer, 3, &payload).expect("room");
        assert_eq!(producer.committed, end);
        assert_eq!(get(&mut consumer), Some((3, payload)));
        assert_eq!(producer.consumed(), Ok(end));
        assert_eq!(consumer.head, end);
        assert_eq!(free_slots(&mut producer), Ok(16));
    }
}

#[test]
fn pieces_make_one_payload_and_room_left_over_is_given_back() {
    let (mut producer, mut consumer) = pair(16);
    let mut room = producer.reserve(300).expect("honest").expect("room");
    assert_eq!(room.write(Source::of(b"abc")), 3);
    assert_eq!(room.write(Source::EMPTY), 0);
    assert_eq!(room.write(Source::of(b"defg")), 4);
    assert_eq!(room.finish(1, 0xfe, 1 << 40), 1);
    producer.commit();
    assert_eq!(free_slots(&mut producer), Ok(15));
    let view = consumer.peek().expect("honest").expect("record");
    assert_eq!((view.len, view.slots, view.end()), (7, 1, 1));
    let mut part = [0; 4];
    assert_eq!(consumer.copy_out(&view, 5, Target::of(&mut part)), 2);
    assert_eq!(&part, b"fg\0\0");
    assert_eq!(consumer.copy_out(&view, 8, Target::of(&mut part)), 0);
    let source = consumer.source(&view, 2, 100);
    assert_eq!(copy(Target::of(&mut part), source), 4);
    assert_eq!(&part, b"cdef");
    assert_eq!(consumer.source(&view, 9, 1).len(), 0);
}

#[test]
fn payload_beyond_the_room_made_is_cut() {
    let (mut producer, _) = pair(16);
    let mut room = producer.reserve(2).expect("honest").expect("room");
    assert_eq!(room.write(Source::of(b"abc")), 2);
    assert_eq!(room.write(Source::of(b"d")), 0);
}

#[test]
fn an_unfinished_record_leaves_no_trace() {
    let (mut producer, mut consumer) = pair(8);
    let mut room = producer.reserve(100).expect("honest").expect("room");
    room.write(Source::of(b"lost"));
    drop(room);
    producer.commit();
    assert_eq!(producer.committed, 0);
    assert_eq!(get(&mut consumer), None);
}

#[test]
fn several_records_are_shown_at_once() {
    let (mut producer, mut consumer) = pair(8);
    for kind in 1..=3 {
        let _ = producer.reserve(0).expect("honest").expect("room").finish(kind, kind ^ 0xff, u64::from(kind) << 40);
    }
    assert_eq!(producer.committed, 0);
    assert_eq!(get(&mut consumer), None);
    producer.commit();
    assert_eq!(producer.committed, 3);
    for kind in 1..=3 {
        assert_eq!(get(&mut consumer), Some((kind, vec![])));
    }
    assert_eq!(get(&mut consumer), None);
}

#[test]
fn a_full_ring_takes_nothing_until_slots_are_released() {
    let (mut producer, mut consumer) = pair(4);
    for _ in 0..4 {
        put(&mut producer, 1, b"x").expect("room");
    }
    assert_eq!(free_slots(&mut producer), Ok(0));
    assert_eq!(put(&mut producer, 2, b"y"), None);
    let view = consumer.peek().expect("honest").expect("record");
    consumer.skip(&view);
    assert_eq!(put(&mut producer, 2, b"y"), None, "skipped is not released");
    consumer.release();
    assert_eq!(put(&mut producer, 2, b"y"), Some(5));
}

#[test]
fn the_largest_payload_fits_from_every_place() {
    for slots in [2, 4, 8, 64] {
        let (mut producer, mut consumer) = pair(slots);
        let most = vec![0x5a; producer.max_payload()];
        assert!(producer.reserve(most.len() + 1).expect("honest").is_none());
        for _ in 0..2 * slots {
            put(&mut producer, 9, &most).expect("empty, so there is room");
            assert_eq!(get(&mut consumer), Some((9, most.clone())));
            put(&mut producer, 1, b"").expect("room");
            assert_eq!(get(&mut consumer), Some((1, vec![])));
        }
    }
    let (mut producer, mut consumer) = pair(1);
    for _ in 0..3 {
        put(&mut producer, 9, &[7; 48]).expect("room");
        assert_eq!(put(&mut producer, 9, &[]), None);
        assert_eq!(get(&mut consumer), Some((9, vec![7; 48])));
    }
}

#[test]
fn a_ring_that_was_reset_is_new() {
    let area = mapped(8);
    let (mut producer, mut consumer) = (Producer::new(area.clone()), Consumer::new(area.clone()));
    put(&mut producer, 1, b"old").expect("room");
    assert!(get(&mut consumer).is_some());
    area.shared().tail.flags[3].store(1, Ordering::Relaxed);
    area.shared().reset();
    assert_eq!(area.shared().tail.flags[3].load(Ordering::Relaxed), 0);
    let (mut producer, mut consumer) = (Producer::new(area.clone()), Consumer::new(area));
    assert_eq!(get(&mut consumer), None);
    put(&mut producer, 2, b"new").expect("room");
    assert_eq!(get(&mut consumer), Some((2, b"new".to_vec())));
}

#[test]
fn places_outside_the_memory_are_refused() {
    let memory = Arc::new(SharedMemory::create("ring", 8192, Access::ReadWrite).expect("memory"));
    let new = |shared, data, slots| Mapped::new(memory.clone(), shared, data, slots).is_ok();
    assert!(new(0, 4096, 64));
    assert!(!new(0, 4096, 128));
    assert!(!new(0, 4096, 63));
    assert!(!new(0, 4096, 0));
    assert!(!new(0, 4100, 2));
    assert!(!new(64, 4096, 64));
    assert!(!new(8192 - 128, 4096, 2));
    let most = SharedMemory::create("ring", 256 + 2 * MAX_SLOTS * SLOT, Access::ReadWrite).expect("memory");
    let most = Arc::new(most);
    assert!(Mapped::new(most.clone(), 0, 256, MAX_SLOTS).is_ok());
    assert!(Mapped::new(most, 0, 256, 2 * MAX_SLOTS).is_err());
}

#[test]
fn a_consumer_that_lies_is_found_out() {
    for lie in [4, 100, u64::MAX, 1 << 63] {
        let (mut producer, _) = pair(4);
        for _ in 0..3 {
            put(&mut producer, 1, b"").expect("room");
        }
        producer.area().head().store(lie, Ordering::Relaxed);
        assert_eq!(producer.consumed(), Err(Corrupt));
        assert_eq!(free_slots(&mut producer), Err(Corrupt));
        assert_eq!(producer.reserve(100).err(), Some(Corrupt));
    }
    let (mut producer, _) = pair(4);
    put(&mut producer, 1, b"").expect("room");
    put(&mut producer, 1, b"").expect("room");
    producer.area().head().store(2, Ordering::Relaxed);
    assert_eq!(producer.consumed(), Ok(2));
    producer.area().head().store(1, Ordering::Relaxed);
    assert_eq!(producer.consumed(), Err(Corrupt), "it went back");
}

#[test]
fn a_producer_that_lies_is_found_out() {
    for lie in [9, u64::MAX, 1 << 40] {
        let (_, mut consumer) = pair(8);
        consumer.area.tail().store(lie, Ordering::Relaxed);
        assert_eq!(consumer.peek(), Err(Corrupt), "tail {lie}");
    }
    let (mut producer, mut consumer) = pair(8);
    put(&mut producer, 1, b"").expect("room");
    assert!(get(&mut consumer).is_some());
    consumer.area.tail().store(0, Ordering::Relaxed);
    assert_eq!(consumer.peek(), Err(Corrupt), "tail went back");
}

#[test]
fn a_record_that_is_not_consistent_is_found_out() {
    let bad = [
        ("all zero", [0, 0]),
        ("no slots", pack(1, 0, 0, 0, 0)),
        ("more slots than there are", pack(1, 0, 4, 48 + 3 * 64, 0)),
        ("fewer slots than its length", pack(1, 0, 1, 49, 0)),
        ("more slots than its length", pack(1, 0, 2, 48, 0)),
        ("a length beyond everything", pack(1, 0, 1, u32::MAX, 0)),
        ("padding that ends too early", pack(PAD, 0, 2, 0, 0)),
        ("padding with nothing behind it", pack(PAD, 0, 8, 0, 0)),
    ];
    for (what, header) in bad {
        let (_, mut consumer) = pair(8);
        consumer.area.store_header(0, header);
        consumer.area.tail().store(3, Ordering::Relaxed);
        assert_eq!(consumer.peek(), Err(Corrupt), "{what}");
    }
    // Past the end of the area, and padding with a length.
    let (mut producer, mut consumer) = pair(8);
    for _ in 0..7 {
        put(&mut producer, 1, b"").expect("room");
        get(&mut consumer).expect("record");
    }
    for (header, honest) in
        [(pack(1, 0, 2, 100, 0), false), (pack(PAD, 0, 1, 1, 0), false), (pack(PAD, 0, 1, 0, 0), true)]
    {
        consumer.area.store_header(7, header);
        consumer.area.store_header(8, pack(1, 0, 1, 0, 0));
        consumer.area.tail().store(9, Ordering::Relaxed);
        assert_eq!(consumer.peek().is_ok(), honest);
    }
}

#[test]
fn two_threads_pass_records_of_all_sizes() {
    let count = if cfg!(miri) { 200 } else { 200_000_u64 };
    let (mut producer, mut consumer) = pair(64);
    let most = producer.max_payload() as u64;
    let size =
        move |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % if i.is_multiple_of(16) { most + 1 } else { 120 };
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut payload = vec![0_u8; most as usize];
            for i in 0..count {
                let len = size(i) as usize;
                payload[..len].fill(i as u8);
                loop {
                    if let Some(mut room) = producer.reserve(len).expect("honest") {
                        let (first, second) = Source::of(&payload[..len]).split(len / 3);
                        room.write(first);
                        room.write(second);
                        let _ = room.finish(1 + (i % 255) as u8, i as u8, i);
                        break;
                    }
                    producer.commit();
                    thread::yield_now();
                }
                if i.is_multiple_of(3) {
                    producer.commit();
                }
            }
            producer.commit();
            while producer.consumed().expect("honest") != producer.committed {
                thread::yield_now();
            }
        });
        scope.spawn(move || {
            let mut payload = vec![0_u8; most as usize];
            for i in 0..count {
                let view = loop {
                    match consumer.peek().expect("honest") {
                        Some(view) => break view,
                        None => {
                            consumer.release();
                            thread::yield_now();
                        }
                    }
                };
                assert_eq!((view.kind, view.flags, view.aux), (1 + (i % 255) as u8, i as u8, i));
                assert_eq!(u64::from(view.len), size(i));
                let got = consumer.copy_out(&view, 0, Target::of(&mut payload));
                assert!(payload[..got].iter().all(|&b| b == i as u8), "record {i}");
                consumer.skip(&view);
                if i.is_multiple_of(5) {
                    consumer.release();
                }
            }
            consumer.release();
        });
    });
}
