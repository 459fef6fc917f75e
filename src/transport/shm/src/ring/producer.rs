use std::sync::atomic::Ordering;

use dat_software::user::Source;

use super::cursor::lap_at;
use super::{Area, Corrupt, First, HEADER, Mapped, ONE, PAD, POSITION, SLOT, SMALL, Second, WORDS, slots_for};
use host::word::Word;

#[derive(Debug)]
pub struct Producer<A: Area = Mapped> {
    area: A,
    pub(super) tail: u64,
    pub(super) head: u64,
    /// A bit per slot, set while the first word is arbitrary, because the slot was inside a record or a pad.
    unclear: [u64; WORDS],
    any_unclear: bool,
}

/// Room for one record. Dropping it publishes nothing.
#[derive(Debug)]
#[must_use]
pub struct Reservation<'p, A: Area = Mapped> {
    producer: &'p mut Producer<A>,
    start: u64,
    room: usize,
    filled: usize,
}

impl<A: Area> Producer<A> {
    pub fn new(area: A) -> Self {
        Producer { area, tail: 0, head: 0, unclear: [0; WORDS], any_unclear: false }
    }

    #[inline]
    pub fn area(&self) -> &A {
        &self.area
    }

    #[inline]
    pub fn max_payload(&self) -> usize {
        // The pad before a record can be almost as long as the record, and both must fit into the ring.
        ((self.area.slots() / 2).max(1) * SLOT as u64) as usize - HEADER
    }

    /// Reserves room for a record of up to `payload` bytes. Returns `None` if the ring is too full now, or `payload`
    /// above [`Producer::max_payload`]. Fails if the consumer's position is impossible.
    #[inline]
    pub fn reserve(&mut self, payload: usize) -> Result<Option<Reservation<'_, A>>, Corrupt> {
        let slots = self.area.slots();
        let need = slots_for(payload);
        if need > 1 && payload > self.max_payload() {
            return Ok(None);
        }
        let index = self.tail & (slots - 1);
        let pad = if index + need > slots { slots - index } else { 0 };
        if self.tail + pad + need - self.head > slots {
            self.consumed()?;
            if self.tail + pad + need - self.head > slots {
                return Ok(None);
            }
        }
        let start = self.tail + pad;
        if pad + need > 1 {
            // Pad and record leave arbitrary bytes in all their slots except the first slot of each.
            self.note_unclear(self.tail + 1, pad.saturating_sub(1));
            self.note_unclear(start + 1, need - 1);
        }
        Ok(Some(Reservation { producer: self, start, room: payload, filled: 0 }))
    }

    /// Puts a small record, the first [`SMALL`] bytes of `head` and `rest`, into the ring, which must have room.
    /// Returns the position after the record; `None` if it needs two slots that are not contiguous.
    #[inline(always)]
    pub fn put_small<const N: usize>(
        &mut self,
        [kind, flags]: [u8; 2],
        aux: u64,
        credit: u64,
        head: [u64; N],
        rest: Source<'_>,
    ) -> Option<u64> {
        let start = self.tail;
        let at = start * SLOT as u64;
        let len = (8 * N + rest.len()).min(SMALL) as u32;
        let mut end = start + 1;
        if len as usize > ONE {
            end = self.second_slot(end)?;
        }
        debug_assert!(end - self.head <= self.area.slots(), "there is room");
        self.area.write_small(at, head, rest);
        self.clear(end);
        self.area.store_second(at, Second::new(aux, credit).pack());
        let first = First { lap: lap_at(&self.area, start), kind, flags, len, credit: credit as u16 };
        // SYNC ring-record: passes the record's bytes and the credit to the consumer, as in `Reservation::finish`.
        self.area.first(at).store(first.pack(), Ordering::Release);
        self.tail = end;
        Some(end)
    }

    /// Takes the slot at `position` for the rest of a small record. Returns the position after the slot; `None` if the
    /// slot is the area's first, and thus not contiguous with the record's first slot.
    #[inline(never)]
    fn second_slot(&mut self, position: u64) -> Option<u64> {
        if self.area.is_start(position * SLOT as u64) {
            return None;
        }
        self.note_unclear(position, 1);
        Some(position + 1)
    }

    /// Loads the consumer's position. Fails if the position has decreased or is past the last record.
    #[inline]
    pub fn consumed(&mut self) -> Result<u64, Corrupt> {
        // SYNC ring-head: consumed slots may be overwritten. The consumer's reads precede its store, a Release; this
        // side's writes follow this load because they depend on it.
        let head = self.area.head().load(Ordering::Acquire);
        if head.wrapping_sub(self.head) > self.tail - self.head {
            return Err(Corrupt);
        }
        self.head = head;
        Ok(head)
    }

    /// Notes the consumer's position from a record of the opposite direction. Fails if it is past the own last record.
    #[inline]
    pub fn credit(&mut self, credit: u64) -> Result<(), Corrupt> {
        let more = credit.wrapping_sub(self.head) & POSITION;
        // The record may have waited for long, so its position may be older than the known position.
        if more <= POSITION / 2 {
            if more > self.tail - self.head {
                return Err(Corrupt);
            }
            self.head += more;
        }
        Ok(())
    }

    #[inline]
    pub fn known(&self) -> u64 {
        self.head
    }

    #[inline]
    pub fn used(&self) -> u64 {
        self.tail - self.head
    }

    /// Notes that the first words of `count` slots from position `from` are arbitrary. The slots must not wrap around.
    fn note_unclear(&mut self, from: u64, count: u64) {
        self.any_unclear |= count > 0;
        let first = from & (self.area.slots() - 1);
        let (mut slot, end) = (first, first + count);
        while slot < end {
            let bits = (64 - slot % 64).min(end - slot);
            self.unclear[slot as usize / 64 % WORDS] |= u64::MAX >> (64 - bits) << (slot % 64);
            slot += bits;
        }
    }

    #[inline]
    fn clear(&mut self, position: u64) {
        if self.any_unclear {
            self.clear_slot(position);
        }
    }

    fn clear_slot(&mut self, position: u64) {
        let slots = self.area.slots();
        let slot = (position & (slots - 1)) as usize;
        let (word, bit) = (&mut self.unclear[slot / 64 % WORDS], 1 << (slot % 64));
        if *word & bit != 0 {
            *word &= !bit;
            self.any_unclear = self.unclear.iter().any(|&word| word != 0);
            let before =
                First { lap: lap_at(&self.area, position).wrapping_sub(1), kind: PAD, flags: 0, len: 0, credit: 0 };
            self.area.first(position * SLOT as u64).store(before.pack(), Ordering::Relaxed);
        }
    }
}

impl Producer<Mapped> {
    /// Returns the `len` payload bytes of the record that ends at `end`. Valid until the consumer passes the record.
    pub fn payload(&self, end: u64, len: usize) -> Source<'_> {
        let start = end.wrapping_sub(slots_for(len));
        self.area.source(start.wrapping_mul(SLOT as u64).wrapping_add(HEADER as u64), len)
    }
}

impl<A: Area> Reservation<'_, A> {
    /// Appends as much of `piece` as fits. Returns the number of appended bytes.
    #[inline]
    pub fn write(&mut self, piece: Source<'_>) -> usize {
        let (piece, _) = piece.split(self.room - self.filled);
        if !piece.is_empty() {
            self.producer.area.write(self.start * SLOT as u64 + (HEADER + self.filled) as u64, piece);
            self.filled += piece.len();
        }
        piece.len()
    }

    /// Publishes the record, and returns the position after it. `kind` must not be 0; `credit` is this side's position
    /// in the opposite ring.
    #[inline]
    pub fn finish(self, kind: u8, flags: u8, aux: u64, credit: u64) -> u64 {
        debug_assert!(kind != PAD, "kind 0 is taken");
        let Reservation { producer, start, filled, .. } = self;
        let end = start + slots_for(filled);
        producer.clear(end);
        let area = &producer.area;
        let at = start * SLOT as u64;
        area.store_second(at, Second::new(aux, credit).pack());
        // `filled` is at most `max_payload()`, which is below 2^24, so the header has room for it.
        let first = First { lap: lap_at(area, start), kind, flags, len: filled as u32, credit: credit as u16 };
        // SYNC ring-record: passes the record's bytes and the credit to the consumer. The slot after the record was
        // cleared before (Relaxed), so a consumer that reaches it finds no old bytes. The pad that leads to the record
        // is stored afterwards.
        area.first(at).store(first.pack(), Ordering::Release);
        if start != producer.tail {
            let pad = First { lap: lap_at(area, producer.tail), kind: PAD, flags: 0, len: 0, credit: 0 };
            area.first(producer.tail * SLOT as u64).store(pad.pack(), Ordering::Release);
        }
        producer.tail = end;
        end
    }
}
