//! A queue of timers.

#![forbid(unsafe_code)]

use std::collections::BTreeMap;
use std::time::Instant;

/// A set of items that are due at some time. Items with the same time come in the order of insertion.
#[derive(Debug)]
pub struct Timers<T> {
    waiting: BTreeMap<(Instant, u64), T>,
    set: u64,
    /// Number of items at which [`Timers::set_pruned`] prunes.
    most: usize,
}

impl<T> Default for Timers<T> {
    fn default() -> Self {
        Timers { waiting: BTreeMap::new(), set: 0, most: 64 }
    }
}

impl<T> Timers<T> {
    /// Adds `what`, due at `when`.
    pub fn set(&mut self, when: Instant, what: T) {
        self.waiting.insert((when, self.set), what);
        self.set += 1;
    }

    /// Like [`Timers::set`], but first removes the items for which `keep` returns `false`, if the number of items has
    /// doubled since the last removal and grown by 64 more.
    pub fn set_pruned(&mut self, when: Instant, what: T, mut keep: impl FnMut(&T) -> bool) {
        if self.waiting.len() >= self.most {
            self.waiting.retain(|_, what| keep(what));
            self.most = 2 * self.waiting.len() + 64;
        }
        self.set(when, what);
    }

    /// Returns the time of the earliest item, or `None` without items.
    pub fn next_due(&self) -> Option<Instant> {
        self.waiting.first_key_value().map(|(&(when, _), _)| when)
    }

    /// Removes and returns the earliest item, if it is due at `now`.
    pub fn take_due(&mut self, now: Instant) -> Option<T> {
        let first = self.waiting.first_entry().filter(|first| first.key().0 <= now)?;
        Some(first.remove())
    }

    /// Changes the time of the items for which `meant` returns `true` to `when`.
    pub fn move_to(&mut self, when: Instant, meant: impl Fn(&T) -> bool) {
        let moved: Vec<_> = self.waiting.iter().filter(|(_, what)| meant(what)).map(|(&key, _)| key).collect();
        for key in moved {
            if let Some(what) = self.waiting.remove(&key) {
                self.set(when, what);
            }
        }
    }
}

#[cfg(test)]
mod tests;
