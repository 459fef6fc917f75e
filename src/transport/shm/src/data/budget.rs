//! Limits of copies, so that no transfer starves other connections.
//!
//! Long transfers are copied in slices: if possible, the first by the post, the rest in polling *rounds*. In a round,
//! each connection with work gets one turn and a share of a bounded total.
//!
//! If only one connection copies, and polls find no record of any connection, its share is 1 to 4 MiB. The share is
//! what the previous round's rate copies in half a millisecond. After the first slice of a share above 1 MiB, the
//! remainder starts no transfer that needs a split, because one call of 4 MiB is faster than several. Pieces in the
//! rings count as copies. The last slice of a transfer has at least 8 bytes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use host::lock::Mutex;

use crate::peer_segment::End;
use crate::record::{self, EAGER_MAX};

/// Maximum slice of a message in bytes, for sender and receiver each.
const SLICE: u64 = 512 * 1024;
/// Maximum bytes of a post, and of several turns of a round together. Beyond it, each turn may still copy [`CALL`].
const ROUND: u64 = 1024 * 1024;
/// Maximum bytes of a round's only turn.
const ALONE: u64 = 4 * ROUND;
/// Time that a round's only turn should take, from which its share is calculated.
const ALONE_TIME: Duration = Duration::from_micros(500);
/// Bytes for which a shorter copy counts, because of its system call. Also the minimum share of a turn.
const CALL: u64 = 4 * 1024;

#[derive(Default)]
pub struct Rounds {
    /// Number of turns with a share: of this round in the lower 32 bits, of the previous round in the upper 32 bits.
    turns: AtomicU64,
    granted: AtomicU64,
    /// Bytes copied by turns since the last round started.
    copied: AtomicU64,
    alone: AtomicU64,
    /// Start of the last round that followed a round with copies, and the number of records that polls had found then.
    last: Mutex<Option<(Instant, u32)>>,
}

impl Rounds {
    #[inline]
    pub fn begin(&self, records: u32) {
        // The counters only divide the work, so a lost update does no harm.
        let turns = self.turns.load(Ordering::Relaxed);
        if turns != 0 {
            self.turns.store(turns << 32, Ordering::Relaxed);
            self.after_copies(turns, records);
        }
    }

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

    pub fn share(&self) -> u64 {
        let turns = self.turns.fetch_add(1, Ordering::Relaxed).wrapping_add(1);
        let (this, before) = (turns & u64::from(u32::MAX), turns >> 32);
        let turns = this.max(before).max(1);
        if this == 1 && before == 1 {
            let share = self.alone.load(Ordering::Relaxed).max(ROUND);
            self.granted.store(share, Ordering::Relaxed);
            return share;
        }
        let granted = self.granted.load(Ordering::Relaxed);
        let share = (ROUND / turns).min(ROUND.saturating_sub(granted)).max(CALL);
        self.granted.store(granted + share, Ordering::Relaxed);
        share
    }
}

pub struct Budget {
    left: Option<u64>,
    /// Set once a slice was taken from a share above [`ROUND`]: the remainder is for transfers that need no split.
    cut: bool,
    turn: bool,
}

impl Budget {
    #[inline]
    pub const fn post() -> Self {
        Budget { left: Some(ROUND), cut: false, turn: false }
    }

    #[inline]
    pub const fn turn() -> Self {
        Budget { left: None, cut: false, turn: true }
    }

    /// Subtracts and returns the size of the next copy of a transfer with `rest` bytes left. If the share is used up,
    /// returns `None` and schedules another turn of `end`.
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

    pub fn slice_of_message(&mut self, end: &End, rest: u64) -> Option<u64> {
        self.next(end, rest, SLICE)
    }

    /// Subtracts `len` for a copy that is not split. Returns `false` if `len` exceeds the share or [`SLICE`].
    pub fn whole(&mut self, end: &End, len: u64) -> bool {
        let left = self.left.get_or_insert_with(|| end.control().rounds.share());
        let may = len <= SLICE.min(*left);
        if may {
            *left -= len;
        }
        may
    }

    /// Subtracts `len` bytes for one record of a transfer of `whole` bytes; nothing if one record holds all of the
    /// transfer. If the share is used up, returns `false` and schedules another turn of `end`.
    #[inline]
    pub fn record(&mut self, end: &End, whole: u64, len: u64) -> bool {
        whole <= EAGER_MAX || self.spend(end, len)
    }

    fn spend(&mut self, end: &End, len: u64) -> bool {
        let left = self.left.get_or_insert_with(|| end.control().rounds.share());
        let may = *left > 0;
        if may {
            *left = left.saturating_sub(len);
        } else {
            end.go_on();
        }
        may
    }

    fn next(&mut self, end: &End, rest: u64, most: u64) -> Option<u64> {
        let left = self.left.get_or_insert_with(|| end.control().rounds.share());
        if *left == 0 || (self.cut && rest > *left) {
            end.go_on();
            return None;
        }
        // Not for messages, which are split into slices even if the share suffices.
        self.cut |= *left > ROUND && most > SLICE;
        let len = record::piece(rest, most.min(*left).max(CALL));
        *left = left.saturating_sub(len.max(CALL));
        if self.turn {
            end.control().rounds.copied.fetch_add(len, Ordering::Relaxed);
        }
        Some(len)
    }
}

#[cfg(test)]
mod tests;
