//! A ring of 64-byte slots in shared memory, with one producer and one consumer: the requests or the responses of one
//! direction of a connection.
//!
//! The shared part is a [`RingShared`] (flags, the consumer's position, other words) and a power of two of slots. A
//! *record* is a header of 16 bytes and a payload, in contiguous slots. A pad record covers unused slots at the area's
//! end.
//!
//! # One cache line for a small record
//! A record's first word contains the *lap*, the number of the pass through the ring (modulo 256), and is stored last.
//! The consumer checks only the slot at its position, so a record of one slot costs one cache line.
//!
//! Until a record arrives at a slot, the slot's first word is the previous lap's. But if the slot was inside a longer
//! record or a pad, that word is arbitrary bytes. The producer tracks slots with arbitrary words, and stores the
//! previous lap there before it publishes the record that precedes the slot.
//!
//! # Positions
//! A position counts slots since the ring's creation or reset, in 64 bits. The consumer publishes its position in a
//! separate cache line, at the end of a turn or after 16 slots. Records of the opposite direction also carry 42 bits of
//! the position in the request ring. A producer that receives such a record need not load that line.
//!
//! Each side validates the other's position, and copies headers before it validates them. So a peer that violates the
//! protocol fails only its own connection ([`Corrupt`]).
//!
//! `SYNC ring-record` passes a record to the consumer; `SYNC ring-head` returns slots to the producer, through the
//! published position or a record.
//!
//! The consumer's position and lap are one word ([`RingCursor`]), which the connection's end copies for polls. Polls
//! call [`is_there`], whose Relaxed load is a hint: `peek` and `next` repeat the load with Acquire under the receive
//! lock.

use std::io;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dat_software::user::{Source, Target, copy};

pub use self::consumer::{Consumer, Next, RecordView, Small};
pub use self::cursor::{RingCursor, is_there};
pub use self::producer::{Producer, Reservation};
use crate::claim::Claim;
use crate::offer::Offer;
use crate::os::memory::{Found, InShared, Shared, SharedMemory};
use host::word::Word;

pub const SLOT: usize = 64;

pub const HEADER: usize = 16;

pub const ONE: usize = SLOT - HEADER;

/// Maximum payload of a small record, which takes one slot, or two contiguous slots.
pub const SMALL: usize = 2 * SLOT - HEADER;

pub const MAX_SLOTS: usize = 512;

/// Mask of the position bits in records. The bits wrap around, but compared positions differ by far less than 2^42.
pub const POSITION: u64 = (1 << 42) - 1;

const WORDS: usize = MAX_SLOTS / 64;

const PAD: u8 = 0;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Corrupt;

/// Words that the peer can change, initially 0, in two cache lines of their own: CPUs prefetch adjacent lines.
#[derive(Debug, Default)]
#[repr(C, align(128))]
pub struct Line<W>(pub W);

#[derive(Debug, Default)]
#[repr(C)]
pub struct RingShared {
    pub flags: Line<[AtomicU32; 4]>,
    head: Line<AtomicU64>,
    pub offer: Line<Offer>,
    pub claim: Line<Claim>,
}

// SAFETY: the struct consists of atomic words and padding, with a fixed layout.
unsafe impl Shared for RingShared {}

/// The memory of a ring. Methods take the byte offset `at` modulo the area's size; methods for words round it down to a
/// slot. Copies end at the area's end, so no access is outside.
pub trait Area {
    type Word: Word<Value = u64>;
    fn head(&self) -> &Self::Word;
    /// Number of slots: a power of two, at most [`MAX_SLOTS`].
    fn slots(&self) -> u64;
    fn shift(&self) -> u32 {
        self.slots().trailing_zeros()
    }
    fn is_start(&self, at: u64) -> bool {
        (at / SLOT as u64) % self.slots() == 0
    }
    /// Returns the first word of the slot at byte offset `at`. Its lap shows whether a record starts there.
    fn first(&self, at: u64) -> &Self::Word;
    fn store_second(&self, at: u64, value: u64);
    fn load_second(&self, at: u64) -> u64;
    fn write(&self, at: u64, src: Source<'_>);
    /// Writes `head` and then `src`, together at most [`SMALL`] bytes, after the header of the record at `at`.
    fn write_small<const N: usize>(&self, at: u64, head: [u64; N], src: Source<'_>) {
        let at = at + HEADER as u64;
        for (word, at) in head.iter().zip((at..).step_by(8)) {
            self.write(at, Source::of(&word.to_le_bytes()));
        }
        self.write(at + 8 * N as u64, src.split(SMALL - 8 * N).0);
    }
    fn read(&self, at: u64, dst: Target<'_>);
}

#[derive(Clone, Debug)]
pub struct Mapped {
    shared: InShared<RingShared>,
    data: NonNull<u8>,
    mask: u64,
    shift: u32,
}

// SAFETY: the pointer refers to shared memory that lives as long as the value and that any thread can use; it is used
// only for atomics and raw copies.
unsafe impl Send for Mapped {}
// SAFETY: all accesses through a shared reference are atomics and raw copies.
unsafe impl Sync for Mapped {}

impl Mapped {
    /// Returns the ring with its [`RingShared`] at offset `shared` of `memory`, and its `slots` slots at offset `data`.
    ///
    /// # Errors
    /// `InvalidInput` if a range is outside or misaligned (`shared` to 128 bytes, `data` to 64), or the mapping is
    /// read-only. Also if `slots` is not a power of two up to [`MAX_SLOTS`].
    pub fn new(memory: Arc<SharedMemory>, shared: usize, data: usize, slots: usize) -> Found<Mapped> {
        if !slots.is_power_of_two() || slots > MAX_SLOTS || data % SLOT != 0 {
            return Err(io::ErrorKind::InvalidInput);
        }
        let data = memory.target(data, slots * SLOT)?.as_ptr();
        let data = NonNull::new(data).ok_or(io::ErrorKind::InvalidInput)?;
        let mask = ((slots - 1) * SLOT) as u64;
        Ok(Mapped { shared: memory.place(shared)?, data, mask, shift: slots.trailing_zeros() })
    }

    #[inline]
    pub fn shared(&self) -> &RingShared {
        &self.shared
    }

    /// Resets the ring for another connection, which needs a new [`Producer`] and [`Consumer`].
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
        // SAFETY: the masked offset is the start of a slot, whose 64 bytes are in the area that `new` has checked and
        // aligned to 64 bytes.
        let at = unsafe { self.data.add(at).cast::<AtomicU64>() };
        // SAFETY: the word is aligned, mapped as long as `self.shared` lives, and valid for any bits.
        unsafe { at.as_ref() }
    }

    /// Returns the address of the `len` payload bytes of the small record at `at`, and how many of them are contiguous.
    #[inline(always)]
    fn behind_header(&self, at: u64, len: usize) -> (u64, usize) {
        let room = if len <= ONE || self.is_start(at + SLOT as u64) { ONE } else { SMALL };
        let at = (at & self.mask) as usize + HEADER;
        // SAFETY: the masked offset is the start of a slot in the area, and the header is shorter than a slot.
        (unsafe { self.data.add(at) }.as_ptr().expose_provenance() as u64, len.min(room))
    }

    #[inline]
    fn rest(&self, at: u64) -> (NonNull<u8>, usize) {
        let bytes = self.slots() * SLOT as u64;
        let at = at & (bytes - 1);
        // SAFETY: the offset is less than the size of the area.
        (unsafe { self.data.add(at as usize) }, (bytes - at) as usize)
    }

    #[inline]
    fn source(&self, at: u64, len: usize) -> Source<'_> {
        let (first, room) = self.rest(at);
        // SAFETY: the range is inside the area, which is mapped as long as `self` lives.
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
        // SAFETY: the range is inside the area, which is mapped and writable as long as `self` lives.
        let dst = unsafe { Target::new(first.as_ptr().expose_provenance() as u64, room) };
        copy(dst, src);
    }

    #[inline(always)]
    fn write_small<const N: usize>(&self, at: u64, head: [u64; N], src: Source<'_>) {
        for (word, value) in head.into_iter().enumerate() {
            self.word(at, HEADER / 8 + word).store(value.to_le(), Ordering::Relaxed);
        }
        let (first, len) = self.behind_header(at, 8 * N + src.len());
        // SAFETY: the range is inside the area, which is writable as long as `self` lives.
        let dst = unsafe { Target::new(first, len) };
        copy(dst.split(8 * N).1, src);
    }

    #[inline]
    fn read(&self, at: u64, dst: Target<'_>) {
        let len = dst.len();
        copy(dst, self.source(at, len));
    }
}

#[inline]
pub const fn slots_for(payload: usize) -> u64 {
    (HEADER as u64 + payload as u64).div_ceil(SLOT as u64)
}

#[derive(Clone, Copy)]
struct First {
    lap: u8,
    kind: u8,
    flags: u8,
    len: u32,
    /// Lower bits of the sender's position as consumer of the opposite request ring; [`Second`] has the upper bits.
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

#[derive(Clone, Copy)]
struct Second {
    aux: u32,
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
