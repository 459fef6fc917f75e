//! The times of polls and sleeps in a wait.

use std::thread;
use std::time::{Duration, Instant};

use crate::adaptive_spin::AdaptiveSpin;

const SPIN_TIME: Duration = Duration::from_micros(30);
const YIELD_AFTER: Duration = Duration::from_micros(5);
/// A yield that takes at least this time has run another thread.
const MIN_OTHER_RUN_TIME: Duration = Duration::from_micros(2);
/// First maximum sleep on a word that another process may change back. The maximum doubles with each sleep.
const FIRST_SLEEP: Duration = Duration::from_millis(50);
const MAX_SLEEP: Duration = Duration::from_secs(3600);

pub struct Timing {
    pub began: Instant,
    pub end: Option<Instant>,
    spins: bool,
    yielded: bool,
    preempted: bool,
    pub slept: bool,
    longest_sleep: Duration,
}

impl Timing {
    pub fn begin(adaptive_spin: &AdaptiveSpin, limit: Option<Duration>) -> Self {
        let began = Instant::now();
        let end = limit.and_then(|time| began.checked_add(time));
        Timing {
            began,
            end,
            spins: adaptive_spin.spins(),
            yielded: false,
            preempted: false,
            slept: false,
            longest_sleep: FIRST_SLEEP,
        }
    }

    /// Returns whether the wait must poll again before it sleeps. Yields the CPU once per wait.
    pub fn keeps_spinning(&mut self, adaptive_spin: &AdaptiveSpin, now: Instant) -> bool {
        if !self.spins {
            return false;
        }
        let spun = now.duration_since(self.began);
        if spun < YIELD_AFTER {
            return true;
        }
        if !self.yielded {
            self.yielded = true;
            thread::yield_now();
            if now.elapsed() >= MIN_OTHER_RUN_TIME {
                self.preempted = true;
                if adaptive_spin.note_preempted() {
                    return false;
                }
            }
        }
        if spun < SPIN_TIME {
            return true;
        }
        self.stop(adaptive_spin);
        false
    }

    pub fn stop(&self, adaptive_spin: &AdaptiveSpin) {
        if self.spins && !self.preempted {
            adaptive_spin.note_free();
        }
    }

    pub fn is_over(&self, now: Instant) -> bool {
        self.end.is_some_and(|end| now >= end)
    }

    /// Returns the next maximum sleep on a shared word.
    pub fn next_sleep(&mut self) -> Duration {
        let now = self.longest_sleep;
        self.longest_sleep = (now * 2).min(MAX_SLEEP);
        now
    }
}
