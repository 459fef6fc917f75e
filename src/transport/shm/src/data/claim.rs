//! Which side carries out a record that either side can.
//!
//! A short RDMA write or read travels in the ring, where it costs a cache line, as long as the peer looks at the
//! connection. A peer may stop looking at any time, because its program watches memory or computes. So the initiator takes
//! such a record back when the peer has not got to it within some microseconds, and copies by the kernel: see the head of
//! [`tx`](crate::tx).
//!
//! One word beside the ring decides who carries a record out: the position where the last record ends that was claimed, and
//! by whom. The target claims a record when it gets to it. The initiator claims those that it takes back, in their order,
//! and says of each when it is done. Since both claim by an exchange, and positions only rise, each record is carried out by
//! one side. A target that finds a record taken back and not done waits with all that is behind it, and is told: what is
//! posted later is not to be seen earlier. An initiator that finds that the target was first waits for the target, which
//! carries a record out in the same breath.
//!
//! Each side trusts what it finds as far as its own connection is concerned, and no further: a peer that writes anything
//! into the word has its own writes left out, or done twice, in memory that it may write anyway, or waits for ever.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::word::Word;

/// Bits of the word below the position.
const BITS: u32 = 2;
/// Attempts at the word: a peer that keeps to the rules changes it once for a record.
const ATTEMPTS: usize = 64;

/// By whom the last record was claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Claimed {
    /// By the target. Also the state of a ring in which nothing was claimed.
    ByTarget = 0,
    /// By the initiator, which copies.
    TakenBack = 1,
    /// By the initiator, which has copied.
    Done = 2,
}

#[inline]
fn word(position: u64, claimed: Claimed) -> u64 {
    position << BITS | claimed as u64
}

/// The position in a word, and the state.
#[inline]
fn parts(word: u64) -> (u64, u64) {
    (word >> BITS, word & ((1 << BITS) - 1))
}

/// What the target of a record is to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    /// It carries the record out.
    Own,
    /// The initiator has carried the record out.
    Done,
    /// The initiator is copying, and sets the ready bit when it has.
    Awaited,
    /// The initiator breaks the rules.
    Corrupt,
}

/// The word, beside the ring of requests, 0 in the beginning.
#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Claim<W = AtomicU64>(W);

impl<W: Word<Value = u64>> Claim<W> {
    /// Makes it new, for another connection.
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Claims the record that ends at `end`, the next one in the ring, for the target.
    #[inline]
    pub fn take(&self, end: u64) -> Turn {
        for _ in 0..ATTEMPTS {
            // SYNC claim: what the initiator has copied is visible before the target goes on.
            let found = self.0.load(Ordering::Acquire);
            let (position, state) = parts(found);
            let taken_back = state == Claimed::TakenBack as u64;
            if position >= end {
                return match position > end {
                    _ if state == Claimed::Done as u64 => Turn::Done,
                    true if taken_back => Turn::Done,
                    false if taken_back => Turn::Awaited,
                    _ => Turn::Corrupt,
                };
            }
            // The initiator is at a record that the target has passed.
            if taken_back {
                return Turn::Corrupt;
            }
            // SYNC claim: of this exchange and the initiator's one succeeds.
            if self.0.change(found, word(end, Claimed::ByTarget), Ordering::AcqRel) {
                return Turn::Own;
            }
        }
        Turn::Corrupt
    }

    /// True if the target has claimed a record that ends behind `position`.
    pub fn is_taken_behind(&self, position: u64) -> bool {
        let (claimed, state) = parts(self.0.load(Ordering::Relaxed));
        claimed > position && state == Claimed::ByTarget as u64
    }

    /// Takes the record back that ends at `end`; false if the target was first. [`Claim::finish`] or [`Claim::give_back`]
    /// follows.
    pub fn take_back(&self, end: u64) -> bool {
        for _ in 0..ATTEMPTS {
            let found = self.0.load(Ordering::Acquire);
            if found >> BITS >= end {
                return false;
            }
            // SYNC claim
            if self.0.change(found, word(end, Claimed::TakenBack), Ordering::AcqRel) {
                return true;
            }
        }
        false
    }

    /// The record that was taken back is done. The caller tells the target.
    pub fn finish(&self, end: u64) {
        // SYNC claim
        self.0.store(word(end, Claimed::Done), Ordering::Release);
    }

    /// Leaves the record that was taken back to the target after all. The caller tells the target.
    pub fn give_back(&self, end: u64) {
        // SYNC claim: all before it is done.
        self.0.store(word(end - 1, Claimed::Done), Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(loom)))]
mod tests;
