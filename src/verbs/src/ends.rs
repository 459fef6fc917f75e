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
mod tests {
    use super::*;

    fn of(numbers: &[u32]) -> Ends<u32> {
        let mut ends = Ends::new();
        for &number in numbers {
            ends.room().expect("memory");
            ends.insert(number, Arc::new(number));
        }
        ends
    }

    #[test]
    fn each_is_found_by_its_number_wherever_the_last_one_was() {
        let ends = of(&[7, 3, 9]);
        for start in 0..5 {
            for number in [9, 7, 7, 3] {
                let mut last = start;
                assert_eq!(ends.get(number, &mut last).map(|found| **found), Some(number));
                assert_eq!(ends.at(last).map(|found| **found), Some(number));
            }
            assert_eq!(ends.get(4, &mut { start }), None);
        }
    }

    #[test]
    fn the_others_are_found_after_one_has_gone() {
        for gone in [7, 3, 9] {
            let mut ends = of(&[7, 3, 9]);
            let mut last = 2;
            assert_eq!(ends.remove(gone).as_deref(), Some(&gone));
            assert_eq!(ends.remove(gone), None);
            for number in [7, 3, 9] {
                let found = ends.get(number, &mut last).map(|found| **found);
                assert_eq!(found, (number != gone).then_some(number));
            }
            assert!(ends.at(2).is_some());
        }
        let mut ends = of(&[7]);
        ends.remove(7);
        assert!(ends.at(0).is_none() && ends.get(7, &mut 0).is_none());
    }

    #[test]
    fn one_that_is_added_again_takes_the_place_of_the_former() {
        let mut ends = of(&[7, 3]);
        ends.insert(7, Arc::new(70));
        assert_eq!(ends.get(7, &mut 0).map(|found| **found), Some(70));
        assert_eq!(ends.remove(7).as_deref(), Some(&70));
        assert_eq!(ends.remove(7), None);
        assert_eq!(ends.get(3, &mut 0).map(|found| **found), Some(3));
    }
}
