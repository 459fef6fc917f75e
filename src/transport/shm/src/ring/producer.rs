//! The side of a ring that fills it.

use std::sync::atomic::Ordering;

use dat_memory::user::Source;

use super::cursor::lap_at;
use super::{Area, Corrupt, First, HEADER, Mapped, ONE, PAD, POSITION, SLOT, SMALL, Second, WORDS, slots_for};
use crate::word::Word;

/// The side that writes records.
#[derive(Debug)]
pub struct Producer<A: Area = Mapped> {
    area: A,
    /// End of the records that are finished.
    pub(super) tail: u64,
    /// The consumer's position, as last seen.
    pub(super) head: u64,
    /// The slots whose first word is not that of a record of this lap or the one before.
    unclear: [u64; WORDS],
    /// There are such slots.
    any_unclear: bool,
}

/// Room for one record. Dropped unfinished, it leaves no trace.
#[derive(Debug)]
#[must_use]
pub struct Reservation<'p, A: Area = Mapped> {
    producer: &'p mut Producer<A>,
    /// Position of the record.
    start: u64,
    room: usize,
    filled: usize,
}

impl<A: Area> Producer<A> {
    /// The producer of a new ring. There is to be one alone.
    pub fn new(area: A) -> Self {
        Producer { area, tail: 0, head: 0, unclear: [0; WORDS], any_unclear: false }
    }

    /// Where the ring lies.
    #[inline]
    pub fn area(&self) -> &A {
        &self.area
    }

    /// The most bytes of payload for which there is ever room.
    #[inline]
    pub fn max_payload(&self) -> usize {
        // A record may have to be preceded by nearly as many slots of padding.
        ((self.area.slots() / 2).max(1) * SLOT as u64) as usize - HEADER
    }

    /// Makes room for a record with up to `payload` bytes. `None` if there is none yet, or,
    /// with more than [`Producer::max_payload`] bytes, ever.
    ///
    /// # Errors
    /// [`Corrupt`] if the consumer claims to be where it cannot be.
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
            // The pad and the payload may leave anything in the slots behind their first ones.
            self.note_unclear(self.tail + 1, pad.saturating_sub(1));
            self.note_unclear(start + 1, need - 1);
        }
        Ok(Some(Reservation { producer: self, start, room: payload, filled: 0 }))
    }

    /// Puts a small record into the ring, of which no more than a part is in use: does what [`Producer::reserve`] and
    /// [`Reservation::finish`] do for the first [`SMALL`] bytes of `head` and `rest`. Returns the position behind the record;
    /// `None` if two slots do not lie in one piece here.
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
        // SYNC ring-record: as in `Reservation::finish`.
        self.area.first(at).store(first.pack(), Ordering::Release);
        self.tail = end;
        Some(end)
    }

    /// Takes the slot at `position` for the rest of a small record, and gives the position behind it; `None` if it is not in one
    /// piece with the first one.
    #[inline(never)]
    fn second_slot(&mut self, position: u64) -> Option<u64> {
        if self.area.is_start(position * SLOT as u64) {
            return None;
        }
        // The payload may leave anything in it.
        self.note_unclear(position, 1);
        Some(position + 1)
    }

    /// The consumer's position now: records that end there or before are consumed.
    ///
    /// # Errors
    /// [`Corrupt`] if it went back, or beyond what the consumer may see.
    #[inline]
    pub fn consumed(&mut self) -> Result<u64, Corrupt> {
        // SYNC ring-head: what the consumer has read may be overwritten. Its reads come before its store, a Release;
        // this side's writes come behind this load because they depend on it.
        let head = self.area.head().load(Ordering::Acquire);
        if head.wrapping_sub(self.head) > self.tail - self.head {
            return Err(Corrupt);
        }
        self.head = head;
        Ok(head)
    }

    /// Notes the consumer's position that came with a record of the other direction.
    ///
    /// # Errors
    /// [`Corrupt`] if it is beyond what the consumer may see.
    #[inline]
    pub fn credit(&mut self, credit: u64) -> Result<(), Corrupt> {
        let more = credit.wrapping_sub(self.head) & POSITION;
        // What is known already may be newer than the record, which may have waited for as long as this side has sent.
        if more <= POSITION / 2 {
            if more > self.tail - self.head {
                return Err(Corrupt);
            }
            self.head += more;
        }
        Ok(())
    }

    /// The consumer's position as far as this side knows.
    #[inline]
    pub fn known(&self) -> u64 {
        self.head
    }

    /// Slots that are in use as far as this side knows; it may be fewer by now.
    #[inline]
    pub fn used(&self) -> u64 {
        self.tail - self.head
    }

    /// Notes that `count` slots from the position `from` on may hold anything. They do not reach beyond the end of the
    /// area.
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

    /// Clears the slot at `position`, at which the consumer looks next, so that it shows no record.
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
    /// The `len` bytes of payload of the record that ends at `end`. They stay until the consumer has passed the record.
    pub fn payload(&self, end: u64, len: usize) -> Source<'_> {
        let start = end.wrapping_sub(slots_for(len));
        self.area.source(start.wrapping_mul(SLOT as u64).wrapping_add(HEADER as u64), len)
    }
}

impl<A: Area> Reservation<'_, A> {
    /// Appends as much of `piece` to the payload as there was room made for, and returns
    /// how many bytes that was.
    #[inline]
    pub fn write(&mut self, piece: Source<'_>) -> usize {
        let (piece, _) = piece.split(self.room - self.filled);
        if !piece.is_empty() {
            self.producer.area.write(self.start * SLOT as u64 + (HEADER + self.filled) as u64, piece);
            self.filled += piece.len();
        }
        piece.len()
    }

    /// Ends the record, shows it to the consumer, and returns the position where it ends: once
    /// [`Producer::consumed`] gets there, the consumer is done with it. `kind` is not 0. `credit` is the position of this
    /// side as the consumer of the other direction.
    #[inline]
    pub fn finish(self, kind: u8, flags: u8, aux: u64, credit: u64) -> u64 {
        debug_assert!(kind != PAD, "kind 0 is taken");
        let Reservation { producer, start, filled, .. } = self;
        let end = start + slots_for(filled);
        producer.clear(end);
        let area = &producer.area;
        let at = start * SLOT as u64;
        area.store_second(at, Second::new(aux, credit).pack());
        // At most max_payload(), which is below 2^24.
        let first = First { lap: lap_at(area, start), kind, flags, len: filled as u32, credit: credit as u16 };
        // SYNC ring-record: hands the record's bytes to the consumer, and what the record says about the other
        // direction. The slot behind the record was cleared before (Relaxed), so a consumer that gets there by this
        // record does not find what was there; the pad, by which the consumer gets to the record, is stored after it.
        area.first(at).store(first.pack(), Ordering::Release);
        if start != producer.tail {
            let pad = First { lap: lap_at(area, producer.tail), kind: PAD, flags: 0, len: 0, credit: 0 };
            // The consumer gets to the record by this one.
            area.first(producer.tail * SLOT as u64).store(pad.pack(), Ordering::Release);
        }
        producer.tail = end;
        end
    }
}
