//! The word that decides which side executes a revocable record.
//!
//! A short RDMA write or read in the ring costs a cache line while the peer polls. If the peer stops polling, the
//! initiator revokes the record and copies through the kernel: see `tx/revocable`.
//!
//! The word next to the ring contains the position after the last claimed record, and its state ([`Claimed`]). The
//! target claims a record before it executes it. The initiator claims records, oldest first, to revoke them, and marks
//! each record that it has copied. Both use compare-exchange with increasing positions, so only one side executes each
//! record. The target waits for the copy of a revoked record, because later posts must not become visible earlier. If
//! the initiator's exchange fails, the initiator waits for the target.
//!
//! A peer that writes invalid words can only omit or repeat its own permitted writes, or wait indefinitely.

use std::sync::atomic::{AtomicU64, Ordering};

use host::word::Word;

const BITS: u32 = 2;
/// Maximum attempts to change the word, which a peer that follows the protocol changes once per record.
const ATTEMPTS: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Claimed {
    /// The target has claimed the record, or no record is claimed.
    ByTarget = 0,
    TakenBack = 1,
    Done = 2,
}

#[inline]
fn word(position: u64, claimed: Claimed) -> u64 {
    position << BITS | claimed as u64
}

#[inline]
fn parts(word: u64) -> (u64, u64) {
    (word >> BITS, word & ((1 << BITS) - 1))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Turn {
    Own,
    Done,
    /// The initiator is copying the record. It then sets the ready bit of the target's side.
    Awaited,
    Corrupt,
}

#[derive(Debug, Default)]
#[repr(transparent)]
pub struct Claim<W = AtomicU64>(W);

impl<W: Word<Value = u64>> Claim<W> {
    pub fn reset(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Claims the next record, which ends at `end`, for the target. Returns which side executes the record.
    #[inline]
    pub fn take(&self, end: u64) -> Turn {
        for _ in 0..ATTEMPTS {
            // SYNC claim: what the initiator has copied is visible before the target continues.
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
            // By the word, the initiator is still copying an earlier record. But this side, the target, passes a
            // revoked record only after the copy, so the word is invalid.
            if taken_back {
                return Turn::Corrupt;
            }
            // SYNC claim: either this exchange or the initiator's succeeds, not both.
            if self.0.change(found, word(end, Claimed::ByTarget), Ordering::AcqRel) {
                return Turn::Own;
            }
        }
        Turn::Corrupt
    }

    pub fn is_taken_behind(&self, position: u64) -> bool {
        let (claimed, state) = parts(self.0.load(Ordering::Relaxed));
        claimed > position && state == Claimed::ByTarget as u64
    }

    /// Revokes the record that ends at `end`; [`Claim::finish`] or [`Claim::give_back`] must follow. Returns `false` if
    /// the target has claimed the record first.
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

    /// Marks the revoked record as executed. The caller must then notify the target.
    pub fn finish(&self, end: u64) {
        // SYNC claim
        self.0.store(word(end, Claimed::Done), Ordering::Release);
    }

    /// Leaves the revoked record, whose copy has failed, to the target. The caller must then notify the target.
    pub fn give_back(&self, end: u64) {
        // SYNC claim: all earlier records are executed. `end - 1` is before `end`, so the target can claim this one.
        self.0.store(word(end - 1, Claimed::Done), Ordering::Release);
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(loom)))]
mod tests;
