//! A ring of 64-byte slots in shared memory: one direction of one connection, with one
//! producer and one consumer.
//!
//! The shared part is a [`RingShared`] (the positions of both sides) and a data area of a power of two slots. The ring
//! carries *records*: a header of 16 bytes and a payload right behind it, in as many consecutive slots as needed. A
//! record is never split at the end of the area: a pad record covers the slots left over there.
//!
//! Each side keeps its own position private. From shared memory it takes only the other side's position, checked
//! against what is possible; a header is copied first and then checked. So a peer that lies can only make its own
//! connection fail ([`Corrupt`]).
//!
//! Positions count slots since the ring was new, in 64 bits, and never go back.
//!
//! Two pairs order the two sides: `SYNC ring-tail` passes records to the consumer, `SYNC ring-head` passes slots back
//! to the producer.

use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use crate::os::memory::{OutOfBounds, Shared, SharedMemory};
use crate::os::user::{Source, Target, copy};

/// Bytes in a slot.
pub const SLOT: usize = 64;

/// Bytes of a record before its payload.
pub const HEADER: usize = 16;

/// The most slots a ring can have: counts of slots in a header have 16 bits.
pub const MAX_SLOTS: usize = 1 << 15;

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

/// The words that one side writes and the other reads. Two cache lines, because
/// processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Line {
    /// How far that side got.
    position: AtomicU64,
    /// Words of the ring's user, 0 in the beginning; nothing read from them is to be trusted.
    pub flags: [AtomicU32; 4],
}

/// The shared part of a ring, all 0 in the beginning.
#[derive(Debug, Default)]
#[repr(C)]
pub struct RingShared {
    /// The words that the producer writes.
    pub tail: Line,
    /// The words that the consumer writes.
    pub head: Line,
}

// SAFETY: atomic words and padding with a fixed layout.
unsafe impl Shared for RingShared {}

impl RingShared {
    /// Makes the ring new, for another connection. Neither side may have a [`Producer`]
    /// or [`Consumer`] on it any more, or it will find the ring corrupt.
    pub fn reset(&self) {
        for line in [&self.tail, &self.head] {
            line.position.store(0, Ordering::Relaxed);
            for flag in &line.flags {
                flag.store(0, Ordering::Relaxed);
            }
        }
    }
}

/// A position that one side publishes. A trait, so that the interleavings of the very
/// same code can be explored with a model of the memory.
pub trait Position {
    /// As of the standard atomics.
    fn load(&self, order: Ordering) -> u64;
    /// As of the standard atomics.
    fn store(&self, value: u64, order: Ordering);
}

impl Position for AtomicU64 {
    #[inline]
    fn load(&self, order: Ordering) -> u64 {
        AtomicU64::load(self, order)
    }

    #[inline]
    fn store(&self, value: u64, order: Ordering) {
        AtomicU64::store(self, value, order);
    }
}

/// Where a ring lies. Offsets are taken modulo the size of the area, and a copy ends at
/// the end of the area at the latest, so that no value can lead outside.
pub trait Area {
    /// Type of the positions.
    type Position: Position;
    /// The producer's position.
    fn tail(&self) -> &Self::Position;
    /// The consumer's position.
    fn head(&self) -> &Self::Position;
    /// Slots; a power of two, at most [`MAX_SLOTS`].
    fn slots(&self) -> u64;
    /// Stores the header of the record at slot `slot`.
    fn store_header(&self, slot: u64, words: [u64; 2]);
    /// Loads the header of the record at slot `slot`.
    fn load_header(&self, slot: u64) -> [u64; 2];
    /// Copies `src` to byte `at` of the area.
    fn write(&self, at: u64, src: Source<'_>);
    /// Fills `dst` from byte `at` of the area.
    fn read(&self, at: u64, dst: Target<'_>);
}

/// A ring in shared memory.
#[derive(Clone, Debug)]
pub struct Mapped {
    shared: NonNull<RingShared>,
    data: NonNull<u8>,
    slots: u64,
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
        Ok(Mapped { shared, data, slots: slots as u64, _memory: memory })
    }

    /// The words that both sides see.
    #[inline]
    pub fn shared(&self) -> &RingShared {
        // SAFETY: checked by `SharedMemory::at`, and mapped as long as `self._memory` lives.
        unsafe { self.shared.as_ref() }
    }

    #[inline]
    fn header(&self, slot: u64) -> [&AtomicU64; 2] {
        let at = (slot & (self.slots - 1)) as usize * SLOT;
        // SAFETY: the slot's number is below `slots`, so its 64 bytes are inside the area
        // that `new` has checked; slots are aligned to 64 bytes.
        let first = unsafe { self.data.add(at).cast::<AtomicU64>() };
        // SAFETY: still inside the slot.
        let second = unsafe { first.add(1) };
        // SAFETY: aligned and mapped as long as `self._memory` lives; any bits are a value.
        unsafe { [first.as_ref(), second.as_ref()] }
    }

    /// From byte `at` to the end of the area.
    #[inline]
    fn rest(&self, at: u64) -> (NonNull<u8>, usize) {
        let bytes = self.slots * SLOT as u64;
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
    type Position = AtomicU64;

    #[inline]
    fn tail(&self) -> &AtomicU64 {
        &self.shared().tail.position
    }

    #[inline]
    fn head(&self) -> &AtomicU64 {
        &self.shared().head.position
    }

    #[inline]
    fn slots(&self) -> u64 {
        self.slots
    }

    #[inline]
    fn store_header(&self, slot: u64, words: [u64; 2]) {
        let [first, second] = self.header(slot);
        first.store(words[0], Ordering::Relaxed);
        second.store(words[1], Ordering::Relaxed);
    }

    #[inline]
    fn load_header(&self, slot: u64) -> [u64; 2] {
        self.header(slot).map(|word| word.load(Ordering::Relaxed))
    }

    #[inline]
    fn write(&self, at: u64, src: Source<'_>) {
        let (first, room) = self.rest(at);
        // SAFETY: inside the area, which is mapped and writable as long as `self` lives.
        let dst = unsafe { Target::new(first.as_ptr().expose_provenance() as u64, room) };
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

#[inline]
fn pack(kind: u8, flags: u8, slots: u64, len: u32, aux: u64) -> [u64; 2] {
    // At most MAX_SLOTS, so 16 bits are enough.
    [u64::from(kind) | u64::from(flags) << 8 | slots << 16 | u64::from(len) << 32, aux]
}

/// The side that writes records.
#[derive(Debug)]
pub struct Producer<A: Area = Mapped> {
    area: A,
    /// End of the records that are finished.
    tail: u64,
    /// End of the records that the consumer may see.
    committed: u64,
    /// The consumer's position, as last seen.
    head: u64,
}

/// Room for one record. Dropped unfinished, it leaves no trace.
#[derive(Debug)]
#[must_use]
pub struct Reservation<'p, A: Area = Mapped> {
    producer: &'p mut Producer<A>,
    /// Position of the record.
    start: u64,
    /// Slots before it that a pad record has to cover.
    pad: u64,
    room: usize,
    filled: usize,
}

impl<A: Area> Producer<A> {
    /// The producer of a new ring. There is to be one alone.
    pub fn new(area: A) -> Self {
        Producer { area, tail: 0, committed: 0, head: 0 }
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
        if payload > self.max_payload() {
            return Ok(None);
        }
        let slots = self.area.slots();
        let need = slots_for(payload);
        let index = self.tail & (slots - 1);
        let pad = if index + need > slots { slots - index } else { 0 };
        if self.tail + pad + need - self.head > slots {
            self.consumed()?;
            if self.tail + pad + need - self.head > slots {
                return Ok(None);
            }
        }
        let start = self.tail + pad;
        Ok(Some(Reservation { producer: self, start, pad, room: payload, filled: 0 }))
    }

    /// Shows the consumer all finished records.
    #[inline]
    pub fn commit(&mut self) {
        if self.committed != self.tail {
            self.committed = self.tail;
            // SYNC ring-tail: hands the records' bytes to the consumer.
            self.area.tail().store(self.tail, Ordering::Release);
        }
    }

    /// The consumer's position now: records that end there or before are consumed.
    ///
    /// # Errors
    /// [`Corrupt`] if it went back, or beyond what the consumer may see.
    #[inline]
    pub fn consumed(&mut self) -> Result<u64, Corrupt> {
        // SYNC ring-head: what the consumer has read may be overwritten.
        let head = self.area.head().load(Ordering::Acquire);
        if head.wrapping_sub(self.head) > self.committed - self.head {
            return Err(Corrupt);
        }
        self.head = head;
        Ok(head)
    }

    /// Slots that are in use as far as this side knows; it may be fewer by now.
    #[inline]
    pub fn used(&self) -> u64 {
        self.tail - self.head
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

    /// Ends the record and returns the position where it ends: once
    /// [`Producer::consumed`] gets there, the consumer is done with it. `kind` is not 0.
    /// The consumer sees the record after the next [`Producer::commit`].
    #[inline]
    pub fn finish(self, kind: u8, flags: u8, aux: u64) -> u64 {
        debug_assert!(kind != PAD, "kind 0 is taken");
        let Reservation { producer, start, pad, filled, .. } = self;
        if pad != 0 {
            producer.area.store_header(start - pad, pack(PAD, 0, pad, 0, 0));
        }
        let slots = slots_for(filled);
        // At most max_payload(), which is less than 2^21.
        producer.area.store_header(start, pack(kind, flags, slots, filled as u32, aux));
        producer.tail = start + slots;
        producer.tail
    }
}

/// The side that reads records.
#[derive(Debug)]
pub struct Consumer<A: Area = Mapped> {
    area: A,
    /// Where the next record begins.
    head: u64,
    /// The position that the producer was told last.
    released: u64,
    /// The producer's position, as last seen.
    tail: u64,
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
    start: u64,
    slots: u64,
}

impl RecordView {
    /// The consumer's position once the record is consumed.
    #[inline]
    pub fn end(&self) -> u64 {
        self.start + self.slots
    }

    #[inline]
    fn payload(&self) -> u64 {
        self.start * SLOT as u64 + HEADER as u64
    }
}

impl<A: Area> Consumer<A> {
    /// The consumer of a new ring. There is to be one alone.
    pub fn new(area: A) -> Self {
        Consumer { area, head: 0, released: 0, tail: 0 }
    }

    /// The next record, if there is one.
    ///
    /// # Errors
    /// [`Corrupt`] if the producer claims to be where it cannot be, or a record is not in
    /// itself consistent.
    #[inline]
    pub fn peek(&mut self) -> Result<Option<RecordView>, Corrupt> {
        loop {
            if self.head == self.tail && self.refresh()? == 0 {
                return Ok(None);
            }
            let view = self.view()?;
            if view.kind != PAD {
                return Ok(Some(view));
            }
            self.head = view.end();
        }
    }

    /// Slots that are filled and not consumed.
    #[inline]
    fn refresh(&mut self) -> Result<u64, Corrupt> {
        // SYNC ring-tail: records below it can be read.
        let tail = self.area.tail().load(Ordering::Acquire);
        let ready = tail.wrapping_sub(self.head);
        if ready > self.area.slots() || ready < self.tail - self.head {
            return Err(Corrupt);
        }
        self.tail = tail;
        Ok(ready)
    }

    /// The record at the head; there is at least one slot.
    #[inline]
    fn view(&self) -> Result<RecordView, Corrupt> {
        let [first, aux] = self.area.load_header(self.head);
        let (kind, flags, slots, len) =
            (first as u8, (first >> 8) as u8, u64::from((first >> 16) as u16), (first >> 32) as u32);
        let to_end = self.area.slots() - (self.head & (self.area.slots() - 1));
        let ready = self.tail - self.head;
        let right = if kind == PAD {
            // Never the last: what it made way for was shown together with it.
            slots == to_end && slots < ready && len == 0
        } else {
            slots <= to_end && slots <= ready && slots == slots_for(len as usize)
        };
        if !right {
            return Err(Corrupt);
        }
        Ok(RecordView { kind, flags, len, aux, start: self.head, slots })
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
            self.head = view.end();
        }
    }

    /// Gives the slots of all records before the head back to the producer.
    #[inline]
    pub fn release(&mut self) {
        if self.released != self.head {
            self.released = self.head;
            // SYNC ring-head: our reads of the slots are over.
            self.area.head().store(self.head, Ordering::Release);
        }
    }

    /// [`Consumer::skip`] and [`Consumer::release`].
    #[inline]
    pub fn advance(&mut self, view: &RecordView) {
        self.skip(view);
        self.release();
    }
}

impl Consumer<Mapped> {
    /// Up to `len` bytes of the payload of `view`, from byte `offset`; one piece. They can
    /// be copied until the record's slots are released.
    #[inline]
    pub fn source(&self, view: &RecordView, offset: usize, len: usize) -> Source<'_> {
        let offset = offset.min(view.len as usize);
        self.area.source(view.payload() + offset as u64, len.min(view.len as usize - offset))
    }
}

#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
mod model;
