//! How long a wait looks for work before it sleeps.
//!
//! Looking finds the work sooner than a sleep does, and saves the other side the wake-up. But it keeps the work away if
//! whoever brings it needs the very processor: then the work comes soon after the sleep has begun, however long the wait
//! has looked. So each object that is waited on remembers how its last waits went.

use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// The time for which a wait looks for work, if it looks at all.
const SPIN: Duration = Duration::from_micros(30);
/// Work that comes so soon after the end of the looking would have come earlier if the wait had slept earlier.
const SOON: Duration = Duration::from_micros(15);
/// The number of waits that do not look, at most, before one tries it again: 2 to this power.
const MOST: u32 = 8;

/// Shift of the exponent of the number of waits that are not to look.
const EXPONENT: u32 = 16;
/// The waits left that are not to look.
const LEFT: u32 = (1 << EXPONENT) - 1;

/// What an object remembers of its last waits. Updates of several waiters at a time may be lost, which costs time only.
#[derive(Debug, Default)]
pub(crate) struct Patience(AtomicU32);

/// How a wait that had to wait has found its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The time for which it looked; zero if it slept at once.
    pub looked: Duration,
    /// Whether it slept.
    pub slept: bool,
    /// The time that it took altogether.
    pub took: Duration,
}

impl Patience {
    /// The time for which a wait that begins now is to look.
    pub fn spin(&self) -> Duration {
        let known = self.0.load(Ordering::Relaxed);
        if known & LEFT == 0 {
            return SPIN;
        }
        self.0.store(known - 1, Ordering::Relaxed);
        Duration::ZERO
    }

    /// Takes note of a wait that has found its work.
    pub fn note(&self, ended: Ended) {
        let known = self.0.load(Ordering::Relaxed);
        let next = if !ended.slept {
            0
        } else if ended.looked.is_zero() || ended.took > ended.looked + SOON {
            return;
        } else {
            let exponent = (known >> EXPONENT).min(MOST - 1) + 1;
            exponent << EXPONENT | ((1 << exponent) - 1)
        };
        if next != known {
            self.0.store(next, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn micros(micros: u64) -> Duration {
        Duration::from_micros(micros)
    }

    /// A wait whose work comes `after` it began; if `shared`, only once it has slept for a moment.
    fn wait(patience: &Patience, after: Duration, shared: bool) -> Duration {
        let looked = patience.spin();
        let ended = match (shared, after < looked) {
            (false, true) => Ended { looked, slept: false, took: after },
            (false, false) => Ended { looked, slept: true, took: after.max(looked + micros(2)) },
            (true, _) => Ended { looked, slept: true, took: looked + after },
        };
        patience.note(ended);
        looked
    }

    #[test]
    fn a_wait_looks_as_long_as_that_finds_the_work() {
        let patience = Patience::default();
        assert!((0..1000).all(|_| wait(&patience, micros(5), false) == SPIN));
    }

    #[test]
    fn waits_that_last_long_look_as_well() {
        let patience = Patience::default();
        assert!((0..1000).all(|_| wait(&patience, micros(100), false) == SPIN));
    }

    #[test]
    fn where_looking_keeps_the_work_away_few_waits_look() {
        let patience = Patience::default();
        let looks = (0..10_000).filter(|_| !wait(&patience, micros(3), true).is_zero()).count();
        assert!((10_000 / 256..60).contains(&looks), "{looks}");
        // The processes have processors of their own now.
        let sleeps = (0..300).filter(|_| wait(&patience, micros(3), false).is_zero()).count();
        assert!(sleeps <= 256);
        assert_eq!(wait(&patience, micros(3), false), SPIN);
    }
}
