//! A ring of 64-byte slots in shared memory: one direction of one connection, with one
//! producer and one consumer.
//!
//! The shared part is a [`RingShared`] (words of the producer, the position of the consumer) and a data area of a power
//! of two slots. The ring carries *records*: a header of 16 bytes and a payload right behind it, in as many consecutive
//! slots as needed. A record is never split at the end of the area: a pad record covers the slots left over there.
//!
//! # One line for a small record
//! The first word of a record says that it is there: it has the number of the *lap*, which is how often the ring was
//! gone through, and is stored after all other bytes of the record. The consumer looks at the slot at its own position
//! and at nothing else, so a record of one slot is one cache line, in which everything travels.
//!
//! What the consumer finds in that slot before the record is the first word of the record of the lap before, which has
//! another number. Or it is something else, because the slot was inside of a longer record, or behind a pad: a payload
//! may look like anything. The producer remembers such slots, and before it publishes a record that makes the consumer
//! look at one of them next, it clears the word there.
//!
//! # Positions
//! Positions count slots since the ring was new, in 64 bits, and never go back. Each side keeps its own position
//! private. The consumer also publishes its position, in a line of its own which the producer reads when it has to
//! know. A record has room for the position in the ring of the other direction, so that a producer to which records
//! come need not read that line.
//!
//! From shared memory each side takes only the other side's position, checked against what is possible; a header is
//! copied first and then checked. So a peer that lies can only make its own connection fail ([`Corrupt`]).
//!
//! Two pairs order the two sides: `SYNC ring-record` passes a record to the consumer, `SYNC ring-head` passes slots
//! back to the producer, either by the published position or in a record.
//!
//! A position travels back in two ways: the consumer stores it at the end of a turn or after 16 slots, and every record
//! of the other direction carries 42 bits of it, because that record may wait for a receive while others are sent.
//! Where the consumer looks next, and for which number of the lap, is one word ([`spot`]), which the end of the
//! connection keeps as well, for polls. [`is_there`] is a hint: it loads the first word Relaxed, and `peek` and `next`
//! load it again with Acquire under the lock of the receiving direction.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use self::spot::lap_at;
pub use self::spot::{Spot, is_there};
use crate::offer::Offer;
use crate::os::memory::{OutOfBounds, Shared, SharedMemory};
use crate::os::user::{Source, Target, copy};

/// Bytes in a slot.
pub const SLOT: usize = 64;

/// Bytes of a record before its payload.
pub const HEADER: usize = 16;

/// The most bytes of payload of a record that is one slot.
pub const SMALL: usize = SLOT - HEADER;

/// The most slots a ring can have.
pub const MAX_SLOTS: usize = 512;

/// The bits of a position that travel in records. So many slots pass in years, and a record may wait for as long.
pub const POSITION: u64 = (1 << 42) - 1;

/// Words with a bit for each slot.
const WORDS: usize = MAX_SLOTS / 64;

/// Kind of the records that cover unused slots.
const PAD: u8 = 0;

/// The peer broke the rules of the ring: the connection cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

impl fmt::Display for Corrupt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the peer broke the rules of the ring")
    }
}

impl std::error::Error for Corrupt {}

/// Words that one side writes and the other reads, 0 in the beginning; nothing read from them is to be trusted. Two cache
/// lines, because processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Line<W>(pub W);

/// The shared part of a ring, all 0 in the beginning.
#[derive(Debug, Default)]
#[repr(C)]
pub struct RingShared {
    /// Words of the ring's user that the producer's side writes.
    pub flags: Line<[AtomicU32; 4]>,
    /// The consumer's position.
    head: Line<AtomicU64>,
    /// What the consumer's side offers the producer's.
    pub offer: Line<Offer>,
}

// SAFETY: atomic words and padding with a fixed layout.
unsafe impl Shared for RingShared {}

/// A word that one side publishes. A trait, so that the interleavings of the very
/// same code can be explored with a model of the memory.
pub trait Word {
    /// As of the standard atomics.
    fn load(&self, order: Ordering) -> u64;
    /// As of the standard atomics.
    fn store(&self, value: u64, order: Ordering);
}

impl Word for AtomicU64 {
    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }

    #[inline]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }
}

/// Where a ring lies. Offsets, in bytes, are taken modulo the size of the area, those of slots to the beginning of a slot, and
/// a copy ends at the end of the area at the latest, so that no value can lead outside.
pub trait Area {
    /// Type of the words.
    type Word: Word;
    /// The consumer's position.
    fn head(&self) -> &Self::Word;
    /// Slots; a power of two, at most [`MAX_SLOTS`].
    fn slots(&self) -> u64;
    /// Which power of two that is.
    fn shift(&self) -> u32 {
        self.slots().trailing_zeros()
    }
    /// True if the slot at `at` is the first one.
    fn is_start(&self, at: u64) -> bool {
        (at / SLOT as u64).is_multiple_of(self.slots())
    }
    /// The first word of the slot at `at`, which tells whether a record is there.
    fn first(&self, at: u64) -> &Self::Word;
    /// Stores the second word of the slot at `at`.
    fn store_second(&self, at: u64, value: u64);
    /// Loads the second word of the slot at `at`.
    fn load_second(&self, at: u64) -> u64;
    /// Copies `src` to byte `at` of the area.
    fn write(&self, at: u64, src: Source<'_>);
    /// Copies `src`, at most [`SMALL`] bytes of it, to the slot at `at` behind the header.
    fn write_small(&self, at: u64, src: Source<'_>) {
        self.write(at + HEADER as u64, src.split(SMALL).0);
    }
    /// Fills `dst` from byte `at` of the area.
    fn read(&self, at: u64, dst: Target<'_>);
}

/// A ring in shared memory.
#[derive(Clone, Debug)]
pub struct Mapped {
    shared: NonNull<RingShared>,
    data: NonNull<u8>,
    /// The bits of an offset that tell the slot.
    mask: u64,
    shift: u32,
    /// Keeps what the pointers point to mapped.
    _memory: Arc<SharedMemory>,
}

// SAFETY: the pointers lead into shared memory, which can be used from any thread and lives
// as long as the value; they are used for atomics and raw copies alone.
unsafe impl Send for Mapped {}
// SAFETY: as for Send.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// The ring whose [`RingShared`] lies at `shared` and whose `slots` slots begin at
    /// `data`, both offsets in `memory`.
    ///
    /// # Errors
    /// [`OutOfBounds`] if either is not wholly inside or not aligned (to 128 and to 64
    /// bytes), if `slots` is not a power of two of at most [`MAX_SLOTS`], or if the mapping
    /// is read-only.
    pub fn new(memory: Arc<SharedMemory>, shared: usize, data: usize, slots: usize) -> Result<Mapped, OutOfBounds> {
        if !slots.is_power_of_two() || slots > MAX_SLOTS || !data.is_multiple_of(SLOT) {
            return Err(OutOfBounds);
        }
        let shared = NonNull::from(memory.at::<RingShared>(shared)?);
        let data = NonNull::new(memory.target(data, slots * SLOT)?.as_ptr()).ok_or(OutOfBounds)?;
        let mask = ((slots - 1) * SLOT) as u64;
        Ok(Mapped { shared, data, mask, shift: slots.trailing_zeros(), _memory: memory })
    }

    /// The words that both sides see.
    #[inline]
    pub fn shared(&self) -> &RingShared {
        // SAFETY: checked by `SharedMemory::at`, and mapped as long as `self._memory` lives.
        unsafe { self.shared.as_ref() }
    }

    /// Makes the ring new, for another connection. Neither side may have a [`Producer`]
    /// or [`Consumer`] on it any more, or it will find the ring corrupt.
    pub fn reset(&self) {
        for flag in &self.shared().flags.0 {
            flag.store(0, Ordering::Relaxed);
        }
        self.shared().head.0.store(0, Ordering::Relaxed);
        self.shared().offer.0.reset();
        for slot in 0..self.slots() {
            self.first(slot * SLOT as u64).store(0, Ordering::Relaxed);
        }
    }

    #[inline]
    fn word(&self, at: u64, word: usize) -> &AtomicU64 {
        const { assert!(SLOT.is_multiple_of(align_of::<AtomicU64>())) };
        let at = (at & self.mask) as usize + (word & 1) * size_of::<AtomicU64>();
        // SAFETY: a slot that the ring has begins at the masked offset, so its 64 bytes are inside the area
        // that `new` has checked; slots are aligned to 64 bytes.
        let at = unsafe { self.data.add(at).cast::<AtomicU64>() };
        // SAFETY: aligned and mapped as long as `self._memory` lives; any bits are a value.
        unsafe { at.as_ref() }
    }

    /// The address of the first of the [`SMALL`] bytes of the slot at `at` behind the header.
    #[inline]
    fn behind_header(&self, at: u64) -> u64 {
        let at = (at & self.mask) as usize + HEADER;
        // SAFETY: as in `word`, and the header is shorter than a slot.
        unsafe { self.data.add(at) }.as_ptr().expose_provenance() as u64
    }

    /// From byte `at` to the end of the area.
    #[inline]
    fn rest(&self, at: u64) -> (NonNull<u8>, usize) {
        let bytes = self.slots() * SLOT as u64;
        let at = at & (bytes - 1);
        // SAFETY: below the size of the area.
        (unsafe { self.data.add(at as usize) }, (bytes - at) as usize)
    }

    #[inline]
    fn source(&self, at: u64, len: usize) -> Source<'_> {
        let (first, room) = self.rest(at);
        // SAFETY: inside the area, which is mapped as long as `self` lives.
        unsafe { Source::new(first.as_ptr().expose_provenance() as u64, len.min(room)) }
    }
}

impl Area for Mapped {
    type Word = AtomicU64;

    #[inline]
    fn head(&self) -> &AtomicU64 {
        &self.shared().head.0
    }

    #[inline]
    fn slots(&self) -> u64 {
        self.mask / SLOT as u64 + 1
    }

    #[inline]
    fn is_start(&self, at: u64) -> bool {
        at & self.mask == 0
    }

    #[inline]
    fn shift(&self) -> u32 {
        self.shift
    }

    #[inline]
    fn first(&self, at: u64) -> &AtomicU64 {
        self.word(at, 0)
    }

    #[inline]
    fn store_second(&self, at: u64, value: u64) {
        self.word(at, 1).store(value, Ordering::Relaxed);
    }

    #[inline]
    fn load_second(&self, at: u64) -> u64 {
        self.word(at, 1).load(Ordering::Relaxed)
    }

    #[inline]
    fn write(&self, at: u64, src: Source<'_>) {
        let (first, room) = self.rest(at);
        // SAFETY: inside the area, which is mapped and writable as long as `self` lives.
        let dst = unsafe { Target::new(first.as_ptr().expose_provenance() as u64, room) };
        copy(dst, src);
    }

    #[inline(always)]
    fn write_small(&self, at: u64, src: Source<'_>) {
        // SAFETY: the rest of the slot, which is inside the area and writable as long as `self` lives.
        let dst = unsafe { Target::new(self.behind_header(at), SMALL) };
        copy(dst, src);
    }

    #[inline]
    fn read(&self, at: u64, dst: Target<'_>) {
        copy(dst, self.source(at, dst.len()));
    }
}

/// Slots of a record with `payload` bytes.
#[inline]
pub const fn slots_for(payload: usize) -> u64 {
    (HEADER as u64 + payload as u64).div_ceil(SLOT as u64)
}

/// The first word of a record.
#[derive(Clone, Copy)]
struct First {
    /// Says that the record belongs to this lap.
    lap: u8,
    kind: u8,
    flags: u8,
    /// Bytes of payload, below 2^24.
    len: u32,
    /// The lower bits of how far the producer's side is with the ring of the other direction; [`Second`] has the upper ones.
    credit: u16,
}

impl First {
    #[inline]
    fn pack(self) -> u64 {
        let First { lap, kind, flags, len, credit } = self;
        u64::from(lap) | u64::from(kind) << 8 | u64::from(flags) << 16 | u64::from(len) << 24 | u64::from(credit) << 48
    }

    #[inline]
    fn unpack(word: u64) -> First {
        First {
            lap: word as u8,
            kind: (word >> 8) as u8,
            flags: (word >> 16) as u8,
            len: (word >> 24) as u32 & 0xff_ffff,
            credit: (word >> 48) as u16,
        }
    }
}

/// The second word of a record.
#[derive(Clone, Copy)]
struct Second {
    /// What the user of the ring says of the record.
    aux: u32,
    /// The upper bits of the credit.
    credit: u32,
}

impl Second {
    #[inline]
    fn new(aux: u64, credit: u64) -> Second {
        debug_assert!(aux <= u64::from(u32::MAX), "no transfer is that long");
        Second { aux: aux as u32, credit: (credit >> u16::BITS) as u32 }
    }

    #[inline]
    fn pack(self) -> u64 {
        u64::from(self.aux) | u64::from(self.credit) << 32
    }

    #[inline]
    fn unpack(word: u64) -> Second {
        Second { aux: word as u32, credit: (word >> 32) as u32 }
    }

    /// The credit of a record whose first word has its lower bits.
    #[inline]
    fn credit(self, lower: u16) -> u64 {
        (u64::from(self.credit) << u16::BITS | u64::from(lower)) & POSITION
    }
}

/// The side that writes records.
#[derive(Debug)]
pub struct Producer<A: Area = Mapped> {
    area: A,
    /// End of the records that are finished.
    tail: u64,
    /// The consumer's position, as last seen.
    head: u64,
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

    /// Puts a record of one slot into the ring, of which no more than a part is in use: does what [`Producer::reserve`] and
    /// [`Reservation::finish`] do for the first [`SMALL`] bytes of `payload`. Returns the position behind the record.
    #[inline(always)]
    pub fn put_small(&mut self, kind: u8, flags: u8, aux: u64, credit: u64, payload: Source<'_>) -> u64 {
        let start = self.tail;
        debug_assert!(self.used() < self.area.slots(), "there is room");
        let at = start * SLOT as u64;
        let len = payload.len().min(SMALL) as u32;
        self.area.write_small(at, payload);
        let end = start + 1;
        self.clear(end);
        self.area.store_second(at, Second::new(aux, credit).pack());
        let first = First { lap: lap_at(&self.area, start), kind, flags, len, credit: credit as u16 };
        // SYNC ring-record: as in `Reservation::finish`.
        self.area.first(at).store(first.pack(), Ordering::Release);
        self.tail = end;
        end
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

    /// Takes note of the consumer's position that a record of the other direction told.
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

    /// The end of the records that are finished.
    #[inline]
    pub fn tail(&self) -> u64 {
        self.tail
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

    /// Sees to it that the slot at `position`, at which the consumer is to look next, shows no record.
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

/// The side that reads records.
#[derive(Debug)]
pub struct Consumer<A: Area = Mapped> {
    area: A,
    /// Where the next record begins.
    head: u64,
    spot: Spot,
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
    /// A record of one slot, of the kind that was asked for.
    Small(Small),
    /// Another record, or something that passes for one: see [`Consumer::peek`].
    Other,
}

/// A record of one slot.
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

    /// Bytes of payload; not more than a slot has room for.
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
        Consumer { area, head: 0, spot: Spot::FIRST, released: 0 }
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

    /// The next record, if it is one of `kind`, takes one slot, and says in its other word how long its payload is.
    #[inline]
    pub fn next(&self, kind: u8) -> Next {
        // SYNC ring-record: as in `peek`.
        let word = self.area.first(self.spot.0).load(Ordering::Acquire);
        let lap = self.spot.lap();
        if word as u16 != u16::from(lap) | u16::from(kind) << 8 {
            return if word as u8 == lap { Next::Other } else { Next::Nothing };
        }
        let small = Small { first: word, second: self.area.load_second(self.spot.0) };
        let fits = small.len() <= SMALL && Second::unpack(small.second).aux as usize == small.len();
        if fits { Next::Small(small) } else { Next::Other }
    }

    /// Moves on behind the record that [`Consumer::next`] gave, without telling the producer yet.
    #[inline]
    pub fn skip_small(&mut self) {
        self.head += 1;
        self.spot = self.spot.next(&self.area, self.head);
    }

    #[inline]
    fn go_to(&mut self, position: u64) {
        self.head = position;
        self.spot = Spot::new(&self.area, position);
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

    /// Gives the slots of all records before the head back to the producer, which is to be done once more for these:
    /// unlike [`Consumer::release`], this leaves them in the count of [`Consumer::unreleased`]. Gives the head.
    #[inline]
    pub fn publish(&self) -> Spot {
        // SYNC ring-head: as in `release`.
        self.area.head().store(self.head, Ordering::Release);
        self.spot
    }

    /// Gives the slots of all records before the head back to the producer, and returns the head.
    #[inline]
    pub fn release(&mut self) -> Spot {
        self.released = self.head;
        // SYNC ring-head: the reads of the slots are over before this store.
        self.area.head().store(self.head, Ordering::Release);
        self.spot
    }

    /// [`Consumer::skip`] and [`Consumer::release`].
    #[inline]
    pub fn advance(&mut self, view: &RecordView) {
        self.skip(view);
        self.release();
    }
}

impl Consumer<Mapped> {
    /// The payload of the record that [`Consumer::next`] gave. It can be copied until the slot is released.
    #[inline]
    pub fn small_source(&self, small: Small) -> Source<'_> {
        // SAFETY: in a slot, which is inside the area and readable as long as `self` lives.
        unsafe { Source::new(self.area.behind_header(self.spot.0), small.len().min(SMALL)) }
    }

    /// Up to `len` bytes of the payload of `view`, from byte `offset`; one piece. They can
    /// be copied until the record's slots are released.
    #[inline]
    pub fn source(&self, view: &RecordView, offset: usize, len: usize) -> Source<'_> {
        let offset = offset.min(view.len as usize);
        self.area.source(view.payload() + offset as u64, len.min(view.len as usize - offset))
    }
}

mod spot;
#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
pub mod model;
