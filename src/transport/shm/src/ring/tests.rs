use std::thread;

use super::cursor::lap_at;
use super::*;
use crate::os::memory::Access;

const DATA: usize = 4096;

fn mapped(slots: usize) -> Mapped {
    let (_, memory) = SharedMemory::create("ring", DATA + slots * SLOT, Access::ReadWrite).expect("memory");
    Mapped::new(Arc::new(memory), 0, DATA, slots).expect("ring")
}

fn pair(slots: usize) -> (Producer, Consumer) {
    let area = mapped(slots);
    (Producer::new(area.clone()), Consumer::new(area))
}

fn put(producer: &mut Producer, kind: u8, payload: &[u8]) -> Option<u64> {
    let mut room = producer.reserve(payload.len()).expect("honest")?;
    assert_eq!(room.write(Source::of(payload)), payload.len());
    Some(room.finish(kind, kind ^ 0xff, u64::from(kind) << 24, u64::from(kind) << 33))
}

fn get(consumer: &mut Consumer) -> Option<(u8, Vec<u8>)> {
    let view = consumer.peek().expect("honest")?;
    assert_eq!((view.flags, view.aux), (view.kind ^ 0xff, u64::from(view.kind) << 24));
    assert_eq!(view.credit, u64::from(view.kind) << 33);
    let mut payload = vec![0; view.len as usize + 1];
    assert_eq!(consumer.copy_out(&view, 0, Target::of(&mut payload)), view.len as usize);
    payload.pop();
    consumer.skip(&view);
    consumer.release();
    Some((view.kind, payload))
}

fn free_slots(producer: &mut Producer) -> Result<u64, Corrupt> {
    producer.consumed()?;
    Ok(producer.area().slots() - producer.used())
}

#[test]
fn shared_layout_is_fixed() {
    assert_eq!((size_of::<RingShared>(), align_of::<RingShared>()), (512, 128));
    assert_eq!(std::mem::offset_of!(RingShared, head), 128);
}

#[test]
fn passes_records_unchanged() {
    let (mut producer, mut consumer) = pair(16);
    assert_eq!(get(&mut consumer), None);
    for len in [0, 1, 47, 48, 49, 112, 113, 200, 496] {
        let payload: Vec<u8> = (0..len).map(|i| (i * 7 + len) as u8).collect();
        let end = put(&mut producer, 3, &payload).expect("room");
        assert_eq!(producer.tail, end);
        assert_eq!(get(&mut consumer), Some((3, payload)));
        assert_eq!(producer.consumed(), Ok(end));
        assert_eq!(consumer.head, end);
        assert_eq!(free_slots(&mut producer), Ok(16));
    }
}

#[test]
fn joins_pieces_and_releases_unused_room() {
    let (mut producer, mut consumer) = pair(16);
    let mut room = producer.reserve(300).expect("honest").expect("room");
    assert_eq!(room.write(Source::of(b"abc")), 3);
    assert_eq!(room.write(Source::EMPTY), 0);
    assert_eq!(room.write(Source::of(b"defg")), 4);
    assert_eq!(room.finish(1, 0xfe, 1 << 24, 1 << 33), 1);
    assert_eq!(free_slots(&mut producer), Ok(15));
    let view = consumer.peek().expect("honest").expect("record");
    assert_eq!((view.len, view.end()), (7, 1));
    let mut part = [0; 4];
    assert_eq!(consumer.copy_out(&view, 5, Target::of(&mut part)), 2);
    assert_eq!(&part, b"fg\0\0");
    assert_eq!(consumer.copy_out(&view, 8, Target::of(&mut part)), 0);
    assert_eq!(copy(Target::of(&mut part), consumer.source(&view)), 4);
    assert_eq!(&part, b"abcd");
}

#[test]
fn truncates_payload_to_reservation() {
    let (mut producer, _) = pair(16);
    let mut room = producer.reserve(2).expect("honest").expect("room");
    assert_eq!(room.write(Source::of(b"abc")), 2);
    assert_eq!(room.write(Source::of(b"d")), 0);
}

#[test]
fn dropped_reservation_has_no_effect() {
    let (mut producer, mut consumer) = pair(8);
    let mut room = producer.reserve(100).expect("honest").expect("room");
    room.write(Source::of(b"lost"));
    drop(room);
    assert_eq!(producer.tail, 0);
    assert_eq!(get(&mut consumer), None);
}

#[test]
fn small_records_take_contiguous_slots() {
    let slots = 8;
    let (mut producer, mut consumer) = pair(slots);
    for round in 0..4000_usize {
        let len = round * 31 % (SMALL + 1);
        // Each word looks like a record's first word of this lap or the next.
        let lap = lap_at(&consumer.area, producer.tail).wrapping_add(round as u8 & 1);
        let payload: Vec<u8> = forged(lap).into_iter().cycle().take(len).collect();
        let last = producer.tail % slots as u64 == slots as u64 - 1;
        let put = producer.put_small([5, round as u8], len as u64, 9, [], Source::of(&payload));
        assert_eq!(put.is_none(), len > ONE && last, "{len} bytes at {}", producer.tail);
        if put.is_none() {
            self::put(&mut producer, 5, &payload).expect("room");
            assert_eq!(get(&mut consumer), Some((5, payload)));
        } else {
            let Next::Small(small) = consumer.next(5) else { panic!("{len} bytes are no small record") };
            assert_eq!((small.len(), small.flags(), small.credit()), (len, round as u8, 9));
            let mut bytes = vec![0; len];
            copy(Target::of(&mut bytes), consumer.small_source(small));
            assert_eq!(bytes, payload);
            consumer.skip_small(small);
            consumer.release();
        }
        producer.consumed().expect("honest");
        assert!(matches!(consumer.next(5), Next::Nothing) && !consumer.has_record(), "{len} bytes, round {round}");
    }
}

#[test]
fn rejects_small_record_past_area() {
    let (mut producer, mut consumer) = pair(8);
    for _ in 0..7 {
        put(&mut producer, 1, b"").expect("room");
        get(&mut consumer).expect("record");
    }
    producer.put_small([1, 0], 1, 0, [], Source::of(b"x")).expect("one slot");
    let at = 7 * SLOT as u64;
    let first = First { len: 49, ..First::unpack(producer.area().first(at).load(Ordering::Relaxed)) };
    producer.area().store_second(at, Second::new(49, 0).pack());
    producer.area().first(at).store(first.pack(), Ordering::Release);
    assert!(matches!(consumer.next(1), Next::Other));
    assert!(matches!(consumer.peek(), Err(Corrupt)));
}

fn forged(lap: u8) -> [u8; 8] {
    First { lap, kind: 1, flags: 0, len: 0, credit: 0 }.pack().to_le_bytes()
}

#[test]
fn mistakes_no_payload_for_record() {
    // Each word of the payloads looks like a first word of some lap. Records have all sizes, so each slot is inside a
    // record and after a record, in all laps.
    let slots = 16;
    let (mut producer, mut consumer) = pair(slots);
    let (mut position, mut round) = (0_u64, 0_u64);
    while position < 3 * 256 * slots as u64 {
        let len = (round * 7919 % 490) as usize;
        for ahead in 0..3 {
            let lap = lap_at(&consumer.area, position + ahead * slots as u64);
            // The next slot's first word is at byte 48 of the payload; further slots follow every 64 bytes.
            let payload: Vec<u8> = forged(lap).into_iter().cycle().take(len).collect();
            position = put(&mut producer, 3, &payload).expect("room");
            assert_eq!(get(&mut consumer), Some((3, payload)));
            assert_eq!(get(&mut consumer), None, "at {position}");
            if round % 5 == 0 {
                // A dropped reservation may have written such words, too.
                let mut room = producer.reserve(400).expect("honest").expect("room");
                let lap = lap_at(&consumer.area, position + slots as u64 * (ahead & 1));
                let payload: Vec<u8> = forged(lap).into_iter().cycle().take(400).collect();
                room.write(Source::of(&payload));
                drop(room);
                assert_eq!(get(&mut consumer), None, "at {position}");
            }
        }
        round += 1;
    }
}

#[test]
fn mistakes_no_payload_for_record_in_full_ring() {
    let slots = 16;
    let (mut producer, mut consumer) = pair(slots);
    let payload: Vec<u8> = (0..64_u8).flat_map(|_| forged(2)).collect();
    for round in 0..2000_usize {
        let len = [0, 100, 200, 430, 48, 300][round % 6];
        while put(&mut producer, 3, &payload[..len]).is_none() {
            assert_eq!(get(&mut consumer).map(|(kind, _)| kind), Some(3));
        }
        assert!(producer.used() <= slots as u64);
    }
    while get(&mut consumer).is_some() {}
    assert_eq!(consumer.head, producer.tail, "no record was made up, and none was lost");
}

#[test]
fn record_carries_credit() {
    let (mut producer, mut consumer) = pair(8);
    for _ in 0..3 {
        put(&mut producer, 1, b"").expect("room");
        get(&mut consumer).expect("record");
    }
    assert_eq!(producer.known(), 0);
    assert_eq!(producer.credit(2), Ok(()));
    assert_eq!(producer.known(), 2);
    assert_eq!(producer.credit(1), Ok(()), "an older record");
    assert_eq!(producer.known(), 2);
    assert_eq!(producer.credit(4), Err(Corrupt), "more than there is");
    assert_eq!(producer.consumed(), Ok(3));
    for position in 4..=0x1_0002_u64 {
        put(&mut producer, 1, b"").expect("room");
        get(&mut consumer).expect("record");
        assert_eq!(producer.credit(position), Ok(()));
        assert_eq!(producer.known(), position);
    }
    // A record can wait for a receive while the credit of later records is used.
    for old in [0, 2, 0x8002, 0x1_0001] {
        assert_eq!(producer.credit(old), Ok(()));
        assert_eq!(producer.known(), 0x1_0002);
    }
}

#[test]
fn credit_wraps_at_its_width() {
    let (mut producer, mut consumer) = pair(8);
    let start = POSITION - 1;
    (producer.tail, producer.head) = (start, start);
    consumer.go_to(start);
    consumer.release();
    for position in start..start + 4 {
        put(&mut producer, 1, b"").expect("room");
        get(&mut consumer).expect("record");
        assert_eq!(producer.credit(consumer.release().position()), Ok(()));
        assert_eq!(producer.known(), position + 1);
    }
}

#[test]
fn full_ring_needs_released_slots() {
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
fn largest_payload_fits_at_each_slot() {
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
fn reset_ring_is_new() {
    let area = mapped(8);
    let (mut producer, mut consumer) = (Producer::new(area.clone()), Consumer::new(area.clone()));
    put(&mut producer, 1, b"old").expect("room");
    assert!(get(&mut consumer).is_some());
    put(&mut producer, 1, b"older").expect("room");
    area.shared().flags.0[3].store(1, Ordering::Relaxed);
    area.reset();
    assert_eq!(area.shared().flags.0[3].load(Ordering::Relaxed), 0);
    let (mut producer, mut consumer) = (Producer::new(area.clone()), Consumer::new(area));
    assert_eq!(get(&mut consumer), None);
    put(&mut producer, 2, b"new").expect("room");
    assert_eq!(get(&mut consumer), Some((2, b"new".to_vec())));
}

#[test]
fn rejects_areas_outside_memory() {
    let memory = Arc::new(SharedMemory::create("ring", 8192, Access::ReadWrite).expect("memory").1);
    let new = |shared, data, slots| Mapped::new(memory.clone(), shared, data, slots).is_ok();
    assert!(new(0, 4096, 64));
    assert!(!new(0, 4096, 128));
    assert!(!new(0, 4096, 63));
    assert!(!new(0, 4096, 0));
    assert!(!new(0, 4100, 2));
    assert!(!new(64, 4096, 64));
    assert!(!new(8192 - 128, 4096, 2));
    let (_, most) = SharedMemory::create("ring", 256 + 2 * MAX_SLOTS * SLOT, Access::ReadWrite).expect("memory");
    let most = Arc::new(most);
    assert!(Mapped::new(most.clone(), 0, 256, MAX_SLOTS).is_ok());
    assert!(Mapped::new(most, 0, 256, 2 * MAX_SLOTS).is_err());
}

#[test]
fn detects_impossible_position() {
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
fn detects_inconsistent_record() {
    let first = First { lap: 1, kind: 1, flags: 0, len: 0, credit: 0 };
    let store = |consumer: &Consumer, slot, first: First| {
        consumer.area.first(slot * SLOT as u64).store(first.pack(), Ordering::Relaxed)
    };
    let bad = [
        ("a length beyond the ring", First { len: 8 * 64 - 15, ..first }),
        ("a length beyond everything", First { len: 0xff_ffff, ..first }),
        ("padding where none is needed", First { kind: PAD, ..first }),
    ];
    for (what, first) in bad {
        let (_, mut consumer) = pair(8);
        store(&consumer, 0, first);
        assert_eq!(consumer.peek(), Err(Corrupt), "{what}");
    }
    let (mut producer, mut consumer) = pair(8);
    for _ in 0..7 {
        put(&mut producer, 1, b"").expect("room");
        get(&mut consumer).expect("record");
    }
    for (first, honest) in [
        (First { len: 49, ..first }, Err(Corrupt)),
        (First { kind: PAD, len: 1, ..first }, Err(Corrupt)),
        (First { lap: 2, ..first }, Ok(None)),
        (First { lap: 0, ..first }, Ok(None)),
        (First { kind: PAD, ..first }, Ok(None)),
    ] {
        consumer.head = 7;
        store(&consumer, 7, first);
        assert_eq!(consumer.peek().map(|view| view.map(|view| view.len)), honest);
    }
    assert_eq!(consumer.head, 8, "behind the padding");
}

#[test]
fn two_threads_pass_records_of_all_sizes() {
    let count = if cfg!(miri) { 200 } else { 200_000_u64 };
    let (mut producer, mut consumer) = pair(64);
    let most = producer.max_payload() as u64;
    let size = move |i: u64| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % if i % 16 == 0 { most + 1 } else { 120 };
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
                        let _ = room.finish(1 + (i % 255) as u8, i as u8, i, i << 20);
                        break;
                    }
                    thread::yield_now();
                }
            }
            while producer.consumed().expect("honest") != producer.tail {
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
                assert_eq!(view.credit, i << 20);
                assert_eq!(u64::from(view.len), size(i));
                let got = consumer.copy_out(&view, 0, Target::of(&mut payload));
                assert!(payload[..got].iter().all(|&b| b == i as u8), "record {i}");
                consumer.skip(&view);
                if i % 5 == 0 {
                    consumer.release();
                }
            }
            consumer.release();
        });
    });
}

#[test]
fn cursor_advances_with_position() {
    for slots in [1, 2, 8, 512] {
        let (_, consumer) = pair(slots);
        let area = &consumer.area;
        let mut spot = RingCursor::FIRST;
        for position in 0..70_000_u64 {
            assert_eq!(spot, RingCursor::new(area, position));
            assert_eq!(spot.position(), position);
            spot = spot.next(area, position + 1);
        }
    }
}

#[test]
fn shut_cursor_finds_no_record() {
    let (mut producer, consumer) = pair(8);
    put(&mut producer, 1, b"").expect("room");
    assert!(consumer.has_record());
    assert!(!is_there(&consumer.area, consumer.spot.shut(true)));
    assert!(is_there(&consumer.area, consumer.spot.shut(true).shut(false)));
}
