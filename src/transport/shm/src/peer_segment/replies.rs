//! Polls of a connection whose peer usually replies.
//!
//! The peer stores its position when it has consumed a request, and then sends its reply. If this side has just loaded
//! the position, the peer must first get that cache line back. That takes as long as a message, and delays the reply.
//! But a reply also contains the position. So if a request follows a record of the peer, polls first wait for a reply,
//! without loading the position. They wait for twice as many polls as there were since the last such request. If this
//! was not enough, the polls after the next [`PENALTY`] such requests do not wait.

use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};

/// Maximum number of polls that wait for a reply to one request.
const MAX_POLLS: u32 = 128;
/// Number of requests whose polls do not wait, after polls have waited unsuccessfully.
const PENALTY: u32 = 16;

/// State that decides whether polls wait. Posts change it under the transmit lock. Polls are numbered modulo 2^32.
#[derive(Default)]
pub struct Replies {
    /// Set if the polls after the last request wait for a reply.
    wait: AtomicBool,
    /// Number of the first poll that no longer waits.
    until: AtomicU32,
    /// This side's position in the peer's request ring at the last request that followed a record of the peer.
    taken: AtomicU64,
    /// Number of the last poll before that request.
    last: AtomicU32,
    penalty: AtomicU32,
}

impl Replies {
    /// Notes a request. `taken` changes with each record of the peer; `now` returns the number of the last poll.
    #[inline]
    pub fn on_request(&self, taken: u64, now: impl FnOnce() -> u32) {
        if self.taken.load(Ordering::Relaxed) != taken {
            self.after_record(taken, now());
        } else if self.wait.load(Ordering::Relaxed) {
            self.wait.store(false, Ordering::Relaxed);
        }
    }

    #[inline(never)]
    fn after_record(&self, taken: u64, now: u32) {
        self.taken.store(taken, Ordering::Relaxed);
        let last = self.last.load(Ordering::Relaxed);
        self.last.store(now, Ordering::Relaxed);
        let (polls, waited) = (now.wrapping_sub(last), self.until.load(Ordering::Relaxed).wrapping_sub(last));
        let mut penalty = self.penalty.load(Ordering::Relaxed);
        if waited > 0 && polls > waited {
            penalty = PENALTY;
        }
        self.penalty.store(penalty.saturating_sub(1), Ordering::Relaxed);
        let wait = if penalty == 0 { polls.saturating_mul(2).min(MAX_POLLS) } else { 0 };
        self.until.store(now.wrapping_add(wait), Ordering::Relaxed);
        self.wait.store(wait > 0, Ordering::Relaxed);
    }

    /// Returns whether the poll with number `now` waits for the reply to the last request.
    #[inline]
    pub fn waits(&self, now: impl FnOnce() -> u32) -> bool {
        self.wait.load(Ordering::Relaxed) && self.until.load(Ordering::Relaxed).wrapping_sub(now()) as i32 > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Notes requests that are `polls` apart. Returns the number of polls that wait after each.
    fn requests<const N: usize>(replies: &Replies, start: u32, polls: u32, taken: [u64; N]) -> [u32; N] {
        let mut now = start;
        taken.map(|taken| {
            replies.on_request(taken, || now);
            let waits = (0..).take_while(|polls| replies.waits(|| now.wrapping_add(*polls))).count();
            now = now.wrapping_add(polls);
            waits as u32
        })
    }

    #[test]
    fn waits_only_after_records_of_the_peer() {
        for start in [0, u32::MAX - 20] {
            assert_eq!(requests(&Replies::default(), start, 10, [1, 2, 3, 3, 3, 4])[1..], [20, 20, 0, 0, 0]);
        }
    }

    #[test]
    fn waits_less_often_after_an_unsuccessful_wait() {
        let replies = Replies::default();
        assert_eq!(requests(&replies, 0, 1000, [0, 1]), [0, MAX_POLLS]);
        let later =
            requests(&replies, 2000, 10, std::array::from_fn::<_, { PENALTY as usize + 1 }, _>(|at| 2 + at as u64));
        assert_eq!(later[..PENALTY as usize], [0; PENALTY as usize]);
        assert_eq!(later[PENALTY as usize], 20);
    }
}
