//! How much is copied at a time, so that no transfer keeps other connections waiting.
//!
//! Long transfers are copied in slices. One post copies a bounded number of bytes, and what is left goes on by
//! progress: in each *round*, in which all connections of the process with something to do get one turn, a connection
//! copies its share. All shares of a round together have a bound as well.
//!
//! A connection that alone copies, while no record arrives for any other, gets what half a millisecond moves at the
//! pace of the round before, up to 4 MiB, and does not begin a transfer that it would have to cut: the kernel copies 4
//! MiB in one call faster than in several. Pieces of long transfers in the rings count as copies. A slice ends early enough that the last one has a whole word.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use host::lock::Mutex;

use crate::peer_segment::End;
use crate::record::{self, EAGER_MAX};

/// The most bytes of a message that one copy moves, of which sender and receiver may each do one at the same time.
const SLICE: u64 = 512 * 1024;
/// The bytes that all turns of a round copy together, unless each copies the least already, and the most that a post
/// copies.
const ROUND: u64 = 1024 * 1024;
/// The most bytes that the only turn of a round copies while nothing else arrives, and the time that it may take, as the
/// round before tells: every call that copies begins with looking at all pages.
const ALONE: u64 = 4 * ROUND;
const ALONE_TIME: Duration = Duration::from_micros(500);
/// The bytes that one copy counts for at least, because of the system call, and that each turn copies at least.
const CALL: u64 = 4 * 1024;

/// Counts the turns that copy, to share a round between them.
#[derive(Default)]
pub struct Rounds {
    /// Turns of this round, and in the upper half those of the round before.
    turns: AtomicU64,
    /// Bytes that turns of this round may copy.
    granted: AtomicU64,
    /// Bytes that turns have copied since the last round began.
    copied: AtomicU64,
    /// The bytes that the next turn may copy if it is the only one.
    alone: AtomicU64,
    /// When the last round began of those that follow one that copied, and how many records had come.
    last: Mutex<Option<(Instant, u32)>>,
}

impl Rounds {
    /// A new round begins, before which `records` records have come.
    #[inline]
    pub fn begin(&self, records: u32) {
        // The counts only divide the work: one that gets lost between threads does no harm.
        let turns = self.turns.load(Ordering::Relaxed);
        if turns != 0 {
            self.turns.store(turns << 32, Ordering::Relaxed);
            self.after_copies(turns, records);
        }
    }

    /// A new round begins after one that copied, or had others do so before.
    #[cold]
    fn after_copies(&self, turns: u64, records: u32) {
        self.granted.store(0, Ordering::Relaxed);
        let copied = self.copied.swap(0, Ordering::Relaxed);
        let now = Instant::now();
        let last = self.last.lock().replace((now, records));
        let alone = match last {
            Some((then, before)) if before == records && turns == 1 << 32 | 1 => {
                let took = now.saturating_duration_since(then).as_nanos().max(1);
                (u128::from(copied) * ALONE_TIME.as_nanos() / took).clamp(ROUND.into(), ALONE.into()) as u64
            }
            _ => ROUND,
        };
        self.alone.store(alone, Ordering::Relaxed);
    }

    /// The bytes that one more turn of this round may copy.
    pub fn share(&self) -> u64 {
        let turns = self.turns.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let (this, before) = (turns & u64::from(u32::MAX), turns >> 32);
        let turns = this.max(before).max(1);
        if this == 1 && before == 1 {
            let share = self.alone.load(Ordering::Relaxed).max(ROUND);
            self.granted.store(share, Ordering::Relaxed);
            return share;
        }
        // The first round does not know yet how many there will be.
        let granted = self.granted.load(Ordering::Relaxed);
        let share = (ROUND / turns).min(ROUND.saturating_sub(granted)).max(CALL);
        self.granted.store(granted + share, Ordering::Relaxed);
        share
    }
}

/// What a post or a turn may still copy.
pub struct Budget {
    /// `None` while the turn has not asked for its share.
    left: Option<u64>,
    /// A part of a large share is spent: what is left of it is for transfers that need not be cut.
    cut: bool,
    /// It is that of a turn.
    turn: bool,
}

impl Budget {
    /// For a post.
    #[inline]
    pub const fn post() -> Self {
        Budget { left: Some(ROUND), cut: false, turn: false }
    }

    /// For a turn.
    #[inline]
    pub const fn turn() -> Self {
        Budget { left: None, cut: false, turn: true }
    }

    /// The bytes of the next copy of a transfer of which `rest` bytes are left, which are thereby spent; `None` if
    /// nothing more may be copied, and then `end` gets another turn.
    #[inline]
    pub fn slice(&mut self, end: &End, rest: u64) -> Option<u64> {
        match self.left {
            Some(left) if rest <= CALL && left >= CALL => {
                self.left = Some(left - CALL);
                Some(rest)
            }
            _ => self.next(end, rest, u64::MAX),
        }
    }

    /// As [`Budget::slice`], of a message.
    pub fn slice_of_message(&mut self, end: &End, rest: u64) -> Option<u64> {
        self.next(end, rest, SLICE)
    }

    /// Spends `len` bytes for one copy of them all; false if they may not be copied now.
    pub fn whole(&mut self, end: &End, len: u64) -> bool {
        let left = self.left.get_or_insert_with(|| end.rounds().share());
        let may = len <= SLICE.min(*left);
        if may {
            *left -= len;
        }
        may
    }

    /// Spends `len` bytes for a record of a transfer of `whole` bytes; false if nothing more may be moved, and then `end`
    /// gets another turn. Transfers that are no longer than a record go on in any case.
    #[inline]
    pub fn record(&mut self, end: &End, whole: u64, len: u64) -> bool {
        whole <= EAGER_MAX || self.spend(end, len)
    }

    fn spend(&mut self, end: &End, len: u64) -> bool {
        let left = self.left.get_or_insert_with(|| end.rounds().share());
        let may = *left > 0;
        if may {
            *left = left.saturating_sub(len);
        } else {
            end.go_on();
        }
        may
    }

    fn next(&mut self, end: &End, rest: u64, most: u64) -> Option<u64> {
        let left = self.left.get_or_insert_with(|| end.rounds().share());
        if *left == 0 || (self.cut && rest > *left) {
            end.go_on();
            return None;
        }
        // Messages are cut in any case.
        self.cut |= *left > ROUND && most > SLICE;
        let len = record::piece(rest, most.min(*left).max(CALL));
        *left = left.saturating_sub(len.max(CALL));
        if self.turn {
            end.rounds().copied.fetch_add(len, Ordering::Relaxed);
        }
        Some(len)
    }
}

#[cfg(test)]
mod tests;
