use std::sync::atomic::Ordering;

use dat_software::user::{Source, Target};
use host::cold_path;

use super::cursor::{RingCursor, is_there};
use super::{Area, Corrupt, First, HEADER, Mapped, ONE, PAD, SLOT, SMALL, Second, slots_for};
use host::word::Word;

#[derive(Debug)]
pub struct Consumer<A: Area = Mapped> {
    pub(super) area: A,
    pub(super) head: u64,
    pub(super) spot: RingCursor,
    /// Position that this side last published: the slots before it are released.
    released: u64,
}

/// A record whose header was copied and validated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecordView {
    /// Never 0. From [`Reservation::finish`](super::Reservation::finish), like `flags`, `aux` and `credit`.
    pub kind: u8,
    pub flags: u8,
    /// Size of the payload in bytes. The payload ends inside the area.
    pub len: u32,
    pub aux: u64,
    pub credit: u64,
    start: u64,
}

impl RecordView {
    #[inline]
    pub fn end(&self) -> u64 {
        self.start + slots_for(self.len as usize)
    }

    #[inline]
    fn payload(&self) -> u64 {
        self.start * SLOT as u64 + HEADER as u64
    }
}

#[derive(Clone, Copy)]
pub enum Next {
    Nothing,
    Small(Small),
    Other,
}

#[derive(Clone, Copy, Default)]
pub struct Small {
    first: u64,
    second: u64,
}

impl Small {
    #[inline]
    pub fn flags(self) -> u8 {
        First::unpack(self.first).flags
    }

    #[inline]
    pub fn len(self) -> usize {
        First::unpack(self.first).len as usize
    }

    #[inline]
    pub fn credit(self) -> u64 {
        Second::unpack(self.second).credit(First::unpack(self.first).credit)
    }
}

impl<A: Area> Consumer<A> {
    pub fn new(area: A) -> Self {
        Consumer { area, head: 0, spot: RingCursor::FIRST, released: 0 }
    }

    #[inline]
    pub fn peek(&mut self) -> Result<Option<RecordView>, Corrupt> {
        loop {
            let start = self.head;
            // SYNC ring-record: the rest of the record is visible.
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
            // A pad never starts at the area's first slot.
            if len != 0 || to_end == slots {
                return Err(Corrupt);
            }
            self.go_to(start + to_end);
        }
    }

    /// Returns the next record if it is small and of `kind`, and `aux` is its payload's size. Returns [`Next::Other`]
    /// for any other record, and [`Next::Nothing`] without a record.
    #[inline]
    pub fn next(&self, kind: u8) -> Next {
        // SYNC ring-record: the rest of the record is visible.
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

    /// Returns whether a record of `len` bytes at this position can be small: it fits two slots, which are contiguous.
    fn has_two(&self, len: usize) -> bool {
        len <= SMALL && !self.area.is_start(self.spot.0 + SLOT as u64)
    }

    #[inline]
    pub fn skip_small(&mut self, small: Small) {
        if small.len() > ONE {
            cold_path();
            // The two slots are contiguous, so the second slot does not start a lap.
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

    #[inline]
    pub fn has_record(&self) -> bool {
        is_there(&self.area, self.spot)
    }

    /// Copies the payload of `view` from byte `offset` into `dst`. Returns the number of copied bytes.
    #[inline]
    pub fn copy_out(&self, view: &RecordView, offset: usize, dst: Target<'_>) -> usize {
        let (dst, _) = dst.split((view.len as usize).saturating_sub(offset));
        let len = dst.len();
        if len > 0 {
            self.area.read(view.payload() + offset as u64, dst);
        }
        len
    }

    /// Skips the record `view`, the last from [`Consumer::peek`], without releasing its slots.
    #[inline]
    pub fn skip(&mut self, view: &RecordView) {
        debug_assert_eq!(view.start, self.head, "not the record at the head");
        if view.start == self.head {
            self.go_to(view.end());
        }
    }

    #[inline]
    pub fn unreleased(&self) -> u64 {
        self.head - self.released
    }

    /// Releases the slots of all skipped records to the producer. Returns the consumer's position, for [`is_there`].
    #[inline]
    pub fn release(&mut self) -> RingCursor {
        self.released = self.head;
        // SYNC ring-head: slots are read before this store.
        self.area.head().store(self.head, Ordering::Release);
        self.spot
    }
}

impl Consumer<Mapped> {
    /// Returns the payload of `small`, the result of the last [`Consumer::next`]. Valid until its slots are released.
    #[inline]
    pub fn small_source(&self, small: Small) -> Source<'_> {
        let (first, len) = self.area.behind_header(self.spot.0, small.len());
        // SAFETY: the range is inside the area, which is readable as long as `self` lives.
        unsafe { Source::new(first, len) }
    }

    /// Returns the payload of `view`. Valid until the record is released.
    #[inline]
    pub fn source(&self, view: &RecordView) -> Source<'_> {
        self.area.source(view.payload(), view.len as usize)
    }
}
