//! The queue pairs that complete in a queue, by their numbers, which completions carry.

use std::hint::cold_path;
use std::sync::Arc;

use dat_core::error::Result;
use host::memory::Room;
use rustc_hash::FxHashMap;

/// Queue pairs by number. Completions of one mostly come in a row, so who looks them up remembers the place of the last.
pub struct Ends<Q> {
    list: Vec<(u32, Arc<Q>)>,
    /// Where each of them stands in the list.
    places: FxHashMap<u32, usize>,
}

impl<Q> Ends<Q> {
    /// None so far.
    pub fn new() -> Self {
        Ends { list: Vec::new(), places: FxHashMap::default() }
    }

    /// Makes room for one more.
    ///
    /// # Errors
    /// [`dat_core::error::Resource::Memory`].
    pub fn room(&mut self) -> Result<()> {
        self.list.room(1)?;
        Ok(self.places.room(1)?)
    }

    /// Adds one, for which there is room, or replaces the one of the same number.
    pub fn insert(&mut self, number: u32, qp: Arc<Q>) {
        let known = self.places.get(&number).and_then(|&place| self.list.get_mut(place));
        if let Some(entry) = known {
            *entry = (number, qp);
            return;
        }
        self.places.insert(number, self.list.len());
        self.list.push((number, qp));
    }

    /// Takes the one of this number out. The last one gets its place.
    pub fn remove(&mut self, number: u32) -> Option<Arc<Q>> {
        let place = self.places.remove(&number)?;
        let (_, gone) = self.list.swap_remove(place);
        if let Some(&(moved, _)) = self.list.get(place) {
            self.places.insert(moved, place);
        }
        Some(gone)
    }

    /// The one of this number. `last` is the place of the one that was found last, and becomes that of this one; any number
    /// will do before the first.
    #[inline]
    pub fn get(&self, number: u32, last: &mut usize) -> Option<&Arc<Q>> {
        if let Some((known, qp)) = self.list.get(*last)
            && *known == number
        {
            return Some(qp);
        }
        cold_path();
        *last = *self.places.get(&number)?;
        self.list.get(*last).map(|(_, qp)| qp)
    }

    /// The one at this place, or another one if none is there any more.
    pub fn at(&self, place: usize) -> Option<&Arc<Q>> {
        self.list.get(place).or_else(|| self.list.first()).map(|(_, qp)| qp)
    }
}

#[cfg(test)]
mod tests;
