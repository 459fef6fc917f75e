//! The side of a ring that empties it.

use std::sync::atomic::Ordering;

use dat_memory::user::{Source, Target};
use host::cold_path;

use super::cursor::{RingCursor, is_there};
use super::{Area, Corrupt, First, HEADER, Mapped, ONE, PAD, SLOT, SMALL, Second, slots_for};
use crate::word::Word;

/// The side that reads records.
#[derive(Debug)]
pub struct Consumer<A: Area = Mapped> {
    pub(super) area: A,
    /// Where the next record begins.
    pub(super) head: u64,
    pub(super) spot: RingCursor,
    /// The position that was published last.
    released: u64,
}

/// A record, its header copied and checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordView {
    /// What the producer said to [`Reservation::finish`]; never 0.
    pub kind: u8,
    /// What the producer said to [`Reservation::finish`].
    pub flags: u8,
    /// Bytes of payload; all inside the record.
    pub len: u32,
    /// What the producer said to [`Reservation::finish`].
    pub aux: u64,
    /// What the producer said to [`Reservation::finish`].
    pub credit: u64,
    start: u64,
}

impl RecordView {
    /// The consumer's position once the record is consumed.
    #[inline]
    pub fn end(&self) -> u64 {
        self.start + slots_for(self.len as usize)
    }

    #[inline]
    fn payload(&self) -> u64 {
        self.start * SLOT as u64 + HEADER as u64
    }
}

/// What a consumer finds where the next record begins.
#[derive(Clone, Copy)]
pub enum Next {
    /// No record yet.
    Nothing,
    /// A small record of the kind that was asked for.
    Small(Small),
    /// Another record, or something that passes for one: see [`Consumer::peek`].
    Other,
}

/// A small record.
#[derive(Clone, Copy, Default)]
pub struct Small {
    first: u64,
    second: u64,
}

impl Small {
    /// What the producer said to [`Producer::put_small`].
    #[inline]
    pub fn flags(self) -> u8 {
        First::unpack(self.first).flags
    }

    /// Bytes of payload; not more than [`SMALL`].
    #[inline]
    pub fn len(self) -> usize {
        First::unpack(self.first).len as usize
    }

    /// What the producer said to [`Producer::put_small`].
    #[inline]
    pub fn credit(self) -> u64 {
        Second::unpack(self.second).credit(First::unpack(self.first).credit)
    }
}

impl<A: Area> Consumer<A> {
    /// The consumer of a new ring. There is to be one alone.
    pub fn new(area: A) -> Self {
        Consumer { area, head: 0, spot: RingCursor::FIRST, released: 0 }
    }

    /// The next record, if there is one.
    ///
    /// # Errors
    /// [`Corrupt`] if a record is not in itself consistent.
    #[inline]
    pub fn peek(&mut self) -> Result<Option<RecordView>, Corrupt> {
        loop {
            let start = self.head;
            // SYNC ring-record: the rest of the record can be read.
            let first = self.area.first(self.spot.0).load(Ordering::Acquire);
            let First { lap, kind, flags, len, credit } = First::unpack(first);
            if lap != self.spot.lap() {
                return Ok(None);
            }
            let slots = self.area.slots();
            let to_end = slots - (start & (slots - 1));
            if kind != PAD {
                let second = Second::unpack(self.area.load_second(self.spot.0));
                let (aux, credit) = (second.aux.into(), second.credit(credit));
                let view = RecordView { kind, flags, len, aux, credit, start };
                return if slots_for(len as usize) <= to_end { Ok(Some(view)) } else { Err(Corrupt) };
            }
            // The first slot needs no padding.
            if len != 0 || to_end == slots {
                return Err(Corrupt);
            }
            self.go_to(start + to_end);
        }
    }

    /// The next record, if it is one of `kind`, is small, and says in its other word how long its payload is.
    #[inline]
    pub fn next(&self, kind: u8) -> Next {
        // SYNC ring-record: as in `peek`.
        let word = self.area.first(self.spot.0).load(Ordering::Acquire);
        let lap = self.spot.lap();
        if word as u16 != u16::from(lap) | u16::from(kind) << 8 {
            return if word as u8 == lap { Next::Other } else { Next::Nothing };
        }
        let small = Small { first: word, second: self.area.load_second(self.spot.0) };
        let len = small.len();
        let whole = len <= ONE || self.has_two(len);
        let fits = whole && Second::unpack(small.second).aux as usize == len;
        if fits { Next::Small(small) } else { Next::Other }
    }

    /// Whether a record of `len` bytes here is small, with two slots in one piece.
    fn has_two(&self, len: usize) -> bool {
        len <= SMALL && !self.area.is_start(self.spot.0 + SLOT as u64)
    }

    /// Moves on behind the record that [`Consumer::next`] gave, without telling the producer yet.
    #[inline]
    pub fn skip_small(&mut self, small: Small) {
        if small.len() > ONE {
            cold_path();
            // Both slots are in one piece, so the second one begins no lap.
            self.head += 1;
            self.spot = RingCursor(self.spot.0 + SLOT as u64);
        }
        self.head += 1;
        self.spot = self.spot.next(&self.area, self.head);
    }

    #[inline]
    pub(super) fn go_to(&mut self, position: u64) {
        self.head = position;
        self.spot = RingCursor::new(&self.area, position);
    }

    /// True if there is a record, or something that passes for one.
    #[inline]
    pub fn has_record(&self) -> bool {
        is_there(&self.area, self.spot)
    }

    /// Fills `dst` from the payload of `view`, beginning at byte `offset`, and returns how
    /// many bytes there were. `view` is the last that [`Consumer::peek`] gave.
    #[inline]
    pub fn copy_out(&self, view: &RecordView, offset: usize, dst: Target<'_>) -> usize {
        let (dst, _) = dst.split((view.len as usize).saturating_sub(offset));
        if !dst.is_empty() {
            self.area.read(view.payload() + offset as u64, dst);
        }
        dst.len()
    }

    /// Moves on behind the record `view`, the last that [`Consumer::peek`] gave, without
    /// telling the producer yet.
    #[inline]
    pub fn skip(&mut self, view: &RecordView) {
        debug_assert_eq!(view.start, self.head, "not the record at the head");
        if view.start == self.head {
            self.go_to(view.end());
        }
    }

    /// Slots whose records were skipped and not released.
    #[inline]
    pub fn unreleased(&self) -> u64 {
        self.head - self.released
    }

    /// Gives the slots of all records before the head back to the producer, and returns the head.
    #[inline]
    pub fn release(&mut self) -> RingCursor {
        self.released = self.head;
        // SYNC ring-head: the reads of the slots are over before this store.
        self.area.head().store(self.head, Ordering::Release);
        self.spot
    }

    /// [`Consumer::skip`] and [`Consumer::release`].
    #[inline]
    pub fn advance(&mut self, view: &RecordView) -> RingCursor {
        self.skip(view);
        self.release()
    }
}

impl Consumer<Mapped> {
    /// The payload of the record that [`Consumer::next`] gave. It can be copied until the slot is released.
    #[inline]
    pub fn small_source(&self, small: Small) -> Source<'_> {
        let (first, len) = self.area.behind_header(self.spot.0, small.len());
        // SAFETY: inside the area, which is readable as long as `self` lives.
        unsafe { Source::new(first, len) }
    }

    /// Up to `len` bytes of the payload of `view`, from byte `offset`; one piece. They can
    /// be copied until the record's slots are released.
    #[inline]
    pub fn source(&self, view: &RecordView, offset: usize, len: usize) -> Source<'_> {
        let offset = offset.min(view.len as usize);
        self.area.source(view.payload() + offset as u64, len.min(view.len as usize - offset))
    }
}
