//! A part of an announced message that the receiver offers the sender to write, while it reads the rest itself: so both
//! processors copy.
//!
//! The receiver, which alone makes offers, puts one beside the ring in which the message was announced. A sender that
//! polls takes it, writes the part into the receiver's memory, and says so. If nobody has taken the offer when the
//! receiver has read the rest, it takes the offer back and reads that part too; so it never waits for a sender that has
//! other things to do, only for one that is copying.
//!
//! Offers are numbered, and one word has the number and how far the offer is ([`Progress`]). Each side trusts what it
//! finds as far as the other side's own memory and its own message are concerned, and no further: a receiver that lies
//! has the sender write to other memory of the receiver, a sender that lies has sent other bytes. The part must be one of
//! a message in flight, and no longer than a slice. A message whose sender is stopped in its part is complete when the
//! sender goes on.
//!
//! The kernel copies some 20 GB/s with one processor, and the sender's is often idle, polling for completions. So where
//! a slice has 32 KiB or more, lies in one segment, and the peer polls, the receiver offers the first half and reads
//! the second one. If the sender is still copying then, the state becomes `Awaited`, and the sender tells; meanwhile the
//! receiver does other things. The sender copies as in any transfer, with the row of
//! the receiver's region as what it looks at; the receiver keeps the last word of the message aside until then, so that
//! it is stored last. A copy through a shared window, in and out with memcpy, moves less: each line travels between the
//! processors twice.

use std::sync::atomic::{AtomicU64, Ordering};

use dat_core::transport::RemoteSegment;

use crate::word::Word;

/// Bits of the word below the number.
const PROGRESS_BITS: u32 = 3;

/// How far an offer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Progress {
    /// There is none: it was taken back.
    Nothing = 0,
    /// The sender may take it.
    Open = 1,
    /// The sender writes.
    Taken = 2,
    /// The sender writes, and tells the receiver when it has written.
    Awaited = 3,
    /// The sender has written the part.
    Written = 4,
    /// The sender could not write the part, and will not.
    Refused = 5,
}

#[inline]
fn word(number: u64, progress: Progress) -> u64 {
    number << PROGRESS_BITS | progress as u64
}

/// The content of an offer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The position at which the announcement of the message ends.
    pub position: u64,
    /// Bytes of the message before the part.
    pub offset: u64,
    /// Where it belongs in the receiver's memory, and its bytes.
    pub target: RemoteSegment,
    /// The protection zone of the receiver's region.
    pub zone: u32,
}

/// What has become of an offer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The sender has written the part.
    Written,
    /// The sender has not written it, and will not.
    Untaken,
    /// The sender is writing, and sets the ready bit when it has written.
    Awaited,
    /// The sender breaks the rules.
    Corrupt,
}

/// The place of an offer in shared memory, all 0 in the beginning.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Offer<W = AtomicU64> {
    word: W,
    position: W,
    offset: W,
    addr: W,
    len: W,
    /// The key of the target, and in the upper half its zone.
    key: W,
}

impl<W: Word<Value = u64>> Offer<W> {
    /// Makes the place new, for another connection.
    pub fn reset(&self) {
        self.word.store(0, Ordering::Relaxed);
    }

    // ---- The receiver's side ----

    /// Offers a part; the offer before was settled. Numbers rise, from 1 on.
    pub fn make(&self, number: u64, part: &Part) {
        // SYNC claim: a sender that finds any of the words below does not get the offer before.
        W::fence(Ordering::Release);
        self.position.store(part.position, Ordering::Relaxed);
        self.offset.store(part.offset, Ordering::Relaxed);
        self.addr.store(part.target.addr, Ordering::Relaxed);
        self.len.store(part.target.len, Ordering::Relaxed);
        self.key.store(u64::from(part.zone) << 32 | u64::from(part.target.key), Ordering::Relaxed);
        // SYNC claim: hands the words above to a sender that finds the number.
        self.word.store(word(number, Progress::Open), Ordering::Release);
    }

    /// What has become of the offer `number`: takes it back if the sender has not taken it, and has the sender tell if that
    /// is writing.
    pub fn resolve(&self, number: u64) -> Answer {
        let [nothing, open, taken, awaited] = [Progress::Nothing, Progress::Open, Progress::Taken, Progress::Awaited]
            .map(|progress| word(number, progress));
        // SYNC claim: of this exchange and the sender's one succeeds; afterwards nobody takes the offer.
        if self.word.change(open, nothing, Ordering::Acquire) {
            return Answer::Untaken;
        }
        // SYNC claim: needs no order: the sender's swap finds it, and the sender tells by a ready bit.
        if self.word.change(taken, awaited, Ordering::Relaxed) {
            return Answer::Awaited;
        }
        // SYNC claim: with the state come the bytes.
        let found = self.word.load(Ordering::Acquire);
        if found == word(number, Progress::Written) {
            Answer::Written
        } else if found == word(number, Progress::Refused) {
            Answer::Untaken
        } else if found == awaited {
            Answer::Awaited
        } else {
            Answer::Corrupt
        }
    }

    // ---- The sender's side ----

    /// True if there is an offer to be taken. Costs a load.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.word.load(Ordering::Relaxed) & ((1 << PROGRESS_BITS) - 1) == Progress::Open as u64
    }

    /// The number and the content of the offer that can be taken. They may not belong together until it is taken.
    pub fn look(&self) -> Option<(u64, Part)> {
        // SYNC claim
        let found = self.word.load(Ordering::Acquire);
        let number = found >> PROGRESS_BITS;
        if found != word(number, Progress::Open) {
            return None;
        }
        let key = self.key.load(Ordering::Relaxed);
        let target = RemoteSegment {
            addr: self.addr.load(Ordering::Relaxed),
            len: self.len.load(Ordering::Relaxed),
            key: key as u32,
        };
        let (position, offset) = (self.position.load(Ordering::Relaxed), self.offset.load(Ordering::Relaxed));
        Some((number, Part { position, offset, target, zone: (key >> 32) as u32 }))
    }

    /// Takes the offer that [`Offer::look`] has found; false if it is gone. Whoever takes it calls [`Offer::finish`].
    pub fn take(&self, number: u64) -> bool {
        // SYNC claim: had a word of the part been of a later offer, this one would be gone.
        W::fence(Ordering::Acquire);
        let (open, taken) = (word(number, Progress::Open), word(number, Progress::Taken));
        // SYNC claim
        self.word.change(open, taken, Ordering::AcqRel)
    }

    /// Gives the offer that was taken back, with the part `written` or not; true if the receiver waits for a ready bit.
    pub fn finish(&self, number: u64, written: bool) -> bool {
        let progress = if written { Progress::Written } else { Progress::Refused };
        // SYNC claim
        self.word.swap(word(number, progress), Ordering::AcqRel) == word(number, Progress::Awaited)
    }
}

#[cfg(all(test, loom))]
mod model;

#[cfg(all(test, not(loom)))]
mod tests;
