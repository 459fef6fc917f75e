//! Processes that have connected and not said yet who they are.
//!
//! A process says so at once, unless it is stopped just then. One that only connects must not use up the descriptors
//! that others need to be heard, so there is room for a few strangers, and they have little time.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use host::limit;

/// The longest that a stranger may be silent.
const PATIENCE: Duration = Duration::from_secs(5);
/// The most strangers at a time, and the part of all descriptors that they may take.
const MOST: usize = 64;
const PART: u64 = 8;

/// A stranger.
struct Stranger {
    token: u64,
    pid: i32,
    due: Instant,
}

/// The strangers, the one that has been silent longest first.
#[derive(Default)]
pub struct Strangers(Vec<Stranger>);

impl Strangers {
    /// Adds the connection `token` of the process `pid`, which connected at `now`.
    pub fn add(&mut self, token: u64, pid: i32, now: Instant) {
        self.0.push(Stranger { token, pid, due: now + PATIENCE });
    }

    /// Takes off a connection: it is no stranger any more, or has ended.
    pub fn remove(&mut self, token: u64) {
        self.0.retain(|stranger| stranger.token != token);
    }

    /// True if one more would be too many.
    pub fn is_full(&self) -> bool {
        let files = limit::open_files().ok().flatten().unwrap_or(u64::MAX);
        let most = usize::try_from(files / PART).unwrap_or(MOST).clamp(1, MOST);
        self.0.len() >= most
    }

    /// The connection that has to make room for another one: the oldest of the process that has most of them.
    pub fn least_welcome(&self) -> Option<u64> {
        let mut counts: HashMap<i32, usize> = HashMap::new();
        for stranger in &self.0 {
            *counts.entry(stranger.pid).or_default() += 1;
        }
        let most = counts.values().max()?;
        self.0.iter().find(|stranger| counts.get(&stranger.pid) == Some(most)).map(|stranger| stranger.token)
    }

    /// The time when the patience with the first of them ends.
    pub fn next_due(&self) -> Option<Instant> {
        self.0.first().map(|stranger| stranger.due)
    }

    /// A connection that has been silent for too long at `now`.
    pub fn overdue(&self, now: Instant) -> Option<u64> {
        self.0.first().filter(|stranger| stranger.due <= now).map(|stranger| stranger.token)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_of_the_process_with_most_goes_first() {
        let now = Instant::now();
        let mut strangers = Strangers::default();
        assert_eq!(strangers.least_welcome(), None);
        for (token, pid) in [(1, 10), (2, 20), (3, 20), (4, 30)] {
            strangers.add(token, pid, now);
        }
        assert_eq!(strangers.least_welcome(), Some(2));
        strangers.remove(2);
        assert_eq!(strangers.least_welcome(), Some(1), "all have one");
    }

    #[test]
    fn patience_and_room_end() {
        let now = Instant::now();
        let mut strangers = Strangers::default();
        assert_eq!(strangers.next_due(), None);
        strangers.add(1, 10, now);
        strangers.add(2, 10, now + PATIENCE);
        assert_eq!(strangers.overdue(now), None);
        assert_eq!(strangers.overdue(now + PATIENCE), Some(1));
        strangers.remove(1);
        assert_eq!(strangers.overdue(now + PATIENCE), None);
        assert_eq!(strangers.next_due(), Some(now + 2 * PATIENCE));
        assert!(!strangers.is_full());
        for token in 3..3 + MOST as u64 {
            strangers.add(token, 10, now);
        }
        assert!(strangers.is_full());
    }
}
