//! An offer of a message's receiver: the sender may write a part of the message, so that two CPUs copy. Offers exist
//! for messages and RDMA writes that the receiver reads from the sender's memory.
//!
//! The receiver stores an offer next to the message's ring. A polling sender takes the offer, writes the part into the
//! receiver's memory, and reports that in the offer. The receiver reads the rest and withdraws an untaken offer. So the
//! receiver waits only for a sender that is copying, but indefinitely if that process is stopped.
//!
//! One word contains the offer's number and state ([`Progress`]). The sender checks that the part belongs to a message
//! in flight and is at most a slice. So a false offer damages only the memory of its author, and a false report only
//! the message.
//!
//! The kernel copies about 20 GB/s per CPU. For a slice of at least 32 KiB in one segment, the receiver offers the
//! first half and reads the second. If the sender is then still copying, the receiver waits up to [`PART_TIME`],
//! because its program may not poll again soon. Then the state becomes `Awaited`, and the sender will notify. The
//! receiver stores the message's last word last. A memcpy through shared memory would be slower: each cache line
//! travels twice.

use std::hint;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dat_core::transport::RemoteSegment;

use host::word::Word;

const PROGRESS_BITS: u32 = 3;
/// Maximum wait for the sender's part. A copy of 256 KiB takes about as long.
const PART_TIME: Duration = Duration::from_micros(20);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
enum Progress {
    Nothing = 0,
    Open = 1,
    Taken = 2,
    Awaited = 3,
    Written = 4,
    Refused = 5,
}

#[inline]
fn word(number: u64, progress: Progress) -> u64 {
    number << PROGRESS_BITS | progress as u64
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    pub position: u64,
    pub offset: u64,
    pub target: RemoteSegment,
    pub zone: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    Written,
    Untaken,
    /// The sender is writing, and will then set the ready bit of the receiver's side.
    Awaited,
    Corrupt,
}

#[derive(Debug, Default)]
#[repr(C)]
pub struct Offer<W = AtomicU64> {
    word: W,
    position: W,
    offset: W,
    addr: W,
    len: W,
    /// Key of the target in the lower 32 bits, zone of the target's region in the upper 32 bits.
    key: W,
}

impl<W: Word<Value = u64>> Offer<W> {
    pub fn reset(&self) {
        self.word.store(0, Ordering::Relaxed);
    }

    // ---- Receiver ----

    /// Publishes offer `number`, after the previous offer was resolved. Numbers increase from 1.
    pub fn make(&self, number: u64, part: &Part) {
        // SYNC claim: a sender that loads any of the following words cannot take the previous offer.
        W::fence(Ordering::Release);
        self.position.store(part.position, Ordering::Relaxed);
        self.offset.store(part.offset, Ordering::Relaxed);
        self.addr.store(part.target.addr, Ordering::Relaxed);
        self.len.store(part.target.len, Ordering::Relaxed);
        self.key.store(u64::from(part.zone) << 32 | u64::from(part.target.key), Ordering::Relaxed);
        // SYNC claim: passes the words above to a sender that loads the number.
        self.word.store(word(number, Progress::Open), Ordering::Release);
    }

    /// Waits while the sender writes the part of offer `number`, for at most [`PART_TIME`].
    pub fn await_part(&self, number: u64) {
        let writes = || self.word.load(Ordering::Relaxed) == word(number, Progress::Taken);
        let until = writes().then(|| Instant::now() + PART_TIME);
        while until.is_some_and(|until| writes() && Instant::now() < until) {
            hint::spin_loop();
        }
    }

    /// Returns the result of offer `number`. First withdraws the offer if it is open, or requests a notification if the
    /// sender is still writing.
    pub fn resolve(&self, number: u64) -> Answer {
        let [nothing, open, taken, awaited] = [Progress::Nothing, Progress::Open, Progress::Taken, Progress::Awaited]
            .map(|progress| word(number, progress));
        // SYNC claim: if this exchange succeeds, the sender's fails: the offer cannot be taken afterwards.
        if self.word.change(open, nothing, Ordering::Acquire) {
            return Answer::Untaken;
        }
        // SYNC claim: Relaxed suffices, because this side reads no bytes before it loads a later state. The sender's
        // swap sees `Awaited`, and the sender sets a ready bit.
        if self.word.change(taken, awaited, Ordering::Relaxed) {
            return Answer::Awaited;
        }
        // SYNC claim: the state orders the written bytes.
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

    // ---- Sender ----

    #[inline]
    pub fn is_open(&self) -> bool {
        self.word.load(Ordering::Relaxed) & ((1 << PROGRESS_BITS) - 1) == Progress::Open as u64
    }

    /// Returns number and part of the offer if it is open. If the part mixes words of several offers, [`Offer::take`]
    /// then fails.
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

    /// Takes offer `number`, which [`Offer::look`] has returned. Returns `false` if that offer is no longer open.
    /// [`Offer::finish`] must follow a success.
    pub fn take(&self, number: u64) -> bool {
        // SYNC claim: if any loaded word belongs to a later offer, the exchange fails.
        W::fence(Ordering::Acquire);
        let (open, taken) = (word(number, Progress::Open), word(number, Progress::Taken));
        // SYNC claim
        self.word.change(open, taken, Ordering::AcqRel)
    }

    /// Finishes a taken offer, whose part is `written` or not. Returns whether the receiver waits for a ready bit.
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
