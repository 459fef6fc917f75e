//! The queue pairs that complete in a queue, by their numbers, which completions carry.

use std::hint::cold_path;
use std::sync::Arc;

use dat_core::error::Result;
use host::memory::Room;
use rustc_hash::FxHashMap;

/// Queue pairs by number. Completions of one queue pair mostly come in a row, so a reader remembers the position of the last.
pub struct QpTable<Q> {
    list: Vec<(u32, Arc<Q>)>,
    /// Where each of them stands in the list.
    positions: FxHashMap<u32, usize>,
}

impl<Q> QpTable<Q> {
    pub fn new() -> Self {
        QpTable { list: Vec::new(), positions: FxHashMap::default() }
    }

    /// Makes room for one more.
    pub fn room(&mut self) -> Result<()> {
        self.list.room(1)?;
        Ok(self.positions.room(1)?)
    }

    /// Adds one, for which there is room, or replaces the one of the same number.
    pub fn insert(&mut self, number: u32, qp: Arc<Q>) {
        let known = self.positions.get(&number).and_then(|&position| self.list.get_mut(position));
        if let Some(entry) = known {
            *entry = (number, qp);
            return;
        }
        self.positions.insert(number, self.list.len());
        self.list.push((number, qp));
    }

    /// Takes the one of this number out. The last one moves to its position.
    pub fn remove(&mut self, number: u32) -> Option<Arc<Q>> {
        let position = self.positions.remove(&number)?;
        let (_, gone) = self.list.swap_remove(position);
        if let Some(&(moved, _)) = self.list.get(position) {
            self.positions.insert(moved, position);
        }
        Some(gone)
    }

    /// The one of this number. `last` is the position of the one that was found last, and becomes that of this one; any number
    /// will do before the first.
    #[inline]
    pub fn get(&self, number: u32, last: &mut usize) -> Option<&Arc<Q>> {
        if let Some((known, qp)) = self.list.get(*last)
            && *known == number
        {
            return Some(qp);
        }
        cold_path();
        *last = *self.positions.get(&number)?;
        self.list.get(*last).map(|(_, qp)| qp)
    }

    /// The one at this position, or another one if the list is shorter.
    pub fn at(&self, position: usize) -> Option<&Arc<Q>> {
        self.list.get(position).or_else(|| self.list.first()).map(|(_, qp)| qp)
    }
}

#[cfg(test)]
mod tests;
