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
//! Where the consumer looks next, and for which number of the lap, is one word ([`cursor`]), which the end of the
//! connection keeps as well, for polls. [`is_there`] is a hint: it loads the first word Relaxed, and `peek` and `next`
//! load it again with Acquire under the lock of the receiving direction.

use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dat_memory::user::{Source, Target, copy};

pub use self::consumer::{Consumer, Next, RecordView, Small};
pub use self::cursor::{RingCursor, is_there};
pub use self::producer::{Producer, Reservation};
use crate::claim::Claim;
use crate::offer::Offer;
use crate::os::memory::{Found, InShared, Shared, SharedMemory};
use crate::word::Word;

/// Bytes in a slot.
pub const SLOT: usize = 64;

/// Bytes of a record before its payload.
pub const HEADER: usize = 16;

/// The most bytes of payload of a record that is one slot.
pub const ONE: usize = SLOT - HEADER;

/// The most bytes of payload of a record that is small: it has one slot, or two that lie in one piece.
pub const SMALL: usize = 2 * SLOT - HEADER;

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
    /// Which side carries out the records that both can.
    pub claim: Line<Claim>,
}

// SAFETY: atomic words and padding with a fixed layout.
unsafe impl Shared for RingShared {}

/// Where a ring lies. Offsets, in bytes, are taken modulo the size of the area, those of slots to the beginning of a slot, and
/// a copy ends at the end of the area at the latest, so that no value can lead outside.
pub trait Area {
    /// Type of the words.
    type Word: Word<Value = u64>;
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
        (at / SLOT as u64) % self.slots() == 0
    }
    /// The first word of the slot at `at`, which tells whether a record is there.
    fn first(&self, at: u64) -> &Self::Word;
    /// Stores the second word of the slot at `at`.
    fn store_second(&self, at: u64, value: u64);
    /// Loads the second word of the slot at `at`.
    fn load_second(&self, at: u64) -> u64;
    /// Copies `src` to byte `at` of the area.
    fn write(&self, at: u64, src: Source<'_>);
    /// Writes `head` and then `src`, at most [`SMALL`] bytes in all, to the slot at `at` and the one behind it, after the header.
    fn write_small<const N: usize>(&self, at: u64, head: [u64; N], src: Source<'_>) {
        let at = at + HEADER as u64;
        for (word, at) in head.iter().zip((at..).step_by(8)) {
            self.write(at, Source::of(&word.to_le_bytes()));
        }
        self.write(at + 8 * N as u64, src.split(SMALL - 8 * N).0);
    }
    /// Fills `dst` from byte `at` of the area.
    fn read(&self, at: u64, dst: Target<'_>);
}

/// A ring in shared memory.
#[derive(Clone, Debug)]
pub struct Mapped {
    shared: InShared<RingShared>,
    /// Mapped as long as `shared` is.
    data: NonNull<u8>,
    /// The bits of an offset that tell the slot.
    mask: u64,
    shift: u32,
}

// SAFETY: the pointer leads into shared memory, which can be used from any thread and lives
// as long as the value; it is used for atomics and raw copies alone.
unsafe impl Send for Mapped {}
// SAFETY: as for Send.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// The ring whose [`RingShared`] lies at `shared` and whose `slots` slots begin at
    /// `data`, both offsets in `memory`.
    ///
    /// # Errors
    /// `InvalidInput` if either is not wholly inside or not aligned (to 128 and to 64
    /// bytes), if `slots` is not a power of two of at most [`MAX_SLOTS`], or if the mapping
    /// is read-only.
    pub fn new(memory: Arc<SharedMemory>, shared: usize, data: usize, slots: usize) -> Found<Mapped> {
        if !slots.is_power_of_two() || slots > MAX_SLOTS || data % SLOT != 0 {
            return Err(io::ErrorKind::InvalidInput);
        }
        let data = memory.target(data, slots * SLOT)?.as_ptr();
        let data = NonNull::new(data).ok_or(io::ErrorKind::InvalidInput)?;
        let mask = ((slots - 1) * SLOT) as u64;
        Ok(Mapped { shared: memory.place(shared)?, data, mask, shift: slots.trailing_zeros() })
    }

    /// The words that both sides see.
    #[inline]
    pub fn shared(&self) -> &RingShared {
        &self.shared
    }

    /// Makes the ring new, for another connection. Neither side may have a [`Producer`]
    /// or [`Consumer`] left on it, or that will find the ring corrupt.
    pub fn reset(&self) {
        for flag in &self.shared().flags.0 {
            flag.store(0, Ordering::Relaxed);
        }
        self.shared().head.0.store(0, Ordering::Relaxed);
        self.shared().offer.0.reset();
        self.shared().claim.0.reset();
        for slot in 0..self.slots() {
            self.first(slot * SLOT as u64).store(0, Ordering::Relaxed);
        }
    }

    #[inline]
    fn word(&self, at: u64, word: usize) -> &AtomicU64 {
        const { assert!(SLOT % align_of::<AtomicU64>() == 0) };
        let at = (at & self.mask) as usize + word % (SLOT / 8) * size_of::<AtomicU64>();
        // SAFETY: a slot that the ring has begins at the masked offset, so its 64 bytes are inside the area
        // that `new` has checked; slots are aligned to 64 bytes.
        let at = unsafe { self.data.add(at).cast::<AtomicU64>() };
        // SAFETY: aligned and mapped as long as `self.shared` lives; any bits are a value.
        unsafe { at.as_ref() }
    }

    /// The payload of a small record of `len` bytes at `at`: its address, and how many bytes of it are in one piece.
    #[inline(always)]
    fn behind_header(&self, at: u64, len: usize) -> (u64, usize) {
        let room = if len <= ONE || self.is_start(at + SLOT as u64) { ONE } else { SMALL };
        let at = (at & self.mask) as usize + HEADER;
        // SAFETY: as in `word`, and the header is shorter than a slot.
        (unsafe { self.data.add(at) }.as_ptr().expose_provenance() as u64, len.min(room))
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
    fn write_small<const N: usize>(&self, at: u64, head: [u64; N], src: Source<'_>) {
        for (word, value) in head.into_iter().enumerate() {
            self.word(at, HEADER / 8 + word).store(value.to_le(), Ordering::Relaxed);
        }
        let (first, len) = self.behind_header(at, 8 * N + src.len());
        // SAFETY: inside the area, which is writable as long as `self` lives.
        let dst = unsafe { Target::new(first, len) };
        copy(dst.split(8 * N).1, src);
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

mod consumer;
mod cursor;
mod producer;
#[cfg(all(test, not(loom)))]
mod tests;

#[cfg(all(test, loom))]
pub mod model;
