//! How long a wait polls, and how long it sleeps.

use std::thread;
use std::time::{Duration, Instant};

use crate::adaptive_spin::AdaptiveSpin;

/// How long a wait polls before it sleeps.
const LOOK: Duration = Duration::from_micros(30);
/// How long it polls before it offers its processor to others, once.
const GLANCE: Duration = Duration::from_micros(5);
/// If the offer takes this long, another thread has run.
const TAKEN: Duration = Duration::from_micros(2);
/// The first sleep of a wait on a word that others may be able to change back, which would keep a wake-up from the thread
/// that falls asleep at this very moment. Each further sleep of the wait may be twice as long, up to the longest one.
const FIRST: Duration = Duration::from_millis(50);
const LONGEST: Duration = Duration::from_secs(3600);

/// The times of a wait that has found nothing yet.
pub struct Timing {
    pub began: Instant,
    /// When it ends at the latest.
    pub end: Option<Instant>,
    /// Whether it polls before it sleeps.
    looks: bool,
    /// Whether it has offered its processor to others.
    offered: bool,
    /// Whether another thread has run on it then.
    taken: bool,
    pub slept: bool,
    /// The longest that it may sleep on a word next.
    longest_sleep: Duration,
}

impl Timing {
    /// Begins now.
    pub fn begin(adaptive_spin: &AdaptiveSpin, limit: Option<Duration>) -> Self {
        let began = Instant::now();
        let end = limit.and_then(|time| began.checked_add(time));
        Timing {
            began,
            end,
            looks: adaptive_spin.looks(),
            offered: false,
            taken: false,
            slept: false,
            longest_sleep: FIRST,
        }
    }

    /// True if the wait polls once more; false if it goes to sleep.
    pub fn goes_on_looking(&mut self, adaptive_spin: &AdaptiveSpin, now: Instant) -> bool {
        if !self.looks {
            return false;
        }
        let looked = now.duration_since(self.began);
        if looked < GLANCE {
            return true;
        }
        if !self.offered {
            self.offered = true;
            thread::yield_now();
            if now.elapsed() >= TAKEN {
                self.taken = true;
                if adaptive_spin.note_kept() {
                    return false;
                }
            }
        }
        if looked < LOOK {
            return true;
        }
        self.stop(adaptive_spin);
        false
    }

    /// Ends polling, because its time is up or because it has found something.
    pub fn stop(&self, adaptive_spin: &AdaptiveSpin) {
        if self.looks && !self.taken {
            adaptive_spin.note_free();
        }
    }

    /// True if the time is up.
    pub fn is_over(&self, now: Instant) -> bool {
        self.end.is_some_and(|end| now >= end)
    }

    /// The longest that the wait may sleep on a word now.
    pub fn next_sleep(&mut self) -> Duration {
        let now = self.longest_sleep;
        self.longest_sleep = (now * 2).min(LONGEST);
        now
    }
}
