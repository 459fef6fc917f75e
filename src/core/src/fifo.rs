//! A queue in a ring of slots: what the fast path keeps in order, with an index that costs one mask.
//!
//! `VecDeque` does the same with more instructions, because its size is any number and each push may grow it. Here room
//! is made beforehand, and a push into a full queue is refused.

use std::mem::MaybeUninit;

use host::memory::{self, NoMemory};

/// A queue, first in, first out.
pub(crate) struct Fifo<V> {
    /// No slot, or a power of two of them. Those from `first` to `end` hold values.
    slots: Vec<MaybeUninit<V>>,
    /// One less than the number of slots, or 0.
    mask: usize,
    /// The number of values with which the queue is full for [`Fifo::vacancy`]; at most that of the slots.
    limit: usize,
    /// The counts of values that were taken and added, which go on after their largest value with 0. They are the numbers of
    /// the values as well.
    first: usize,
    end: usize,
}

impl<V> Default for Fifo<V> {
    fn default() -> Self {
        Fifo { slots: Vec::new(), mask: 0, limit: 0, first: 0, end: 0 }
    }
}

impl<V> Fifo<V> {
    /// Makes room for `more` values.
    ///
    /// # Errors
    /// [`NoMemory`]; the queue is as it was.
    pub fn room(&mut self, more: usize) -> Result<(), NoMemory> {
        let wanted = self.len().checked_add(more).ok_or(NoMemory)?;
        if wanted > self.slots.len() {
            let wanted = wanted.checked_next_power_of_two().ok_or(NoMemory)?;
            let mut slots = memory::vec(wanted)?;
            slots.resize_with(wanted, MaybeUninit::uninit);
            let mut grown = Fifo { slots, mask: wanted - 1, limit: self.limit, first: self.first, end: self.first };
            while let Some(value) = self.pop() {
                let _ = grown.push(value);
            }
            *self = grown;
        }
        Ok(())
    }

    /// Makes room for `capacity` values in all, with which the queue is full.
    ///
    /// # Errors
    /// [`NoMemory`]; the queue is as it was.
    pub fn reserve(&mut self, capacity: usize) -> Result<(), NoMemory> {
        self.room(capacity.saturating_sub(self.len()))?;
        self.limit(capacity);
        Ok(())
    }

    /// Sets the number of values with which the queue is full, at most the number that there is room for.
    pub fn limit(&mut self, limit: usize) {
        self.limit = limit.min(self.slots.len());
    }

    /// Adds a value, whatever the limit.
    ///
    /// # Errors
    /// Returns the value if there is no room.
    #[inline(always)]
    pub fn push(&mut self, value: V) -> Result<(), V> {
        if self.len() == self.slots.len() {
            return Err(value);
        }
        Vacancy { queue: self }.fill(value);
        Ok(())
    }

    /// Whether the queue has as many values as the limit says, or more.
    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.len() >= self.limit
    }

    /// The place for another value; `None` if the queue is full.
    #[inline(always)]
    pub fn vacancy(&mut self) -> Option<Vacancy<'_, V>> {
        if self.is_full() { None } else { Some(Vacancy { queue: self }) }
    }

    /// Adds a value, whatever the limit, and makes room for it if there is none.
    #[inline(always)]
    pub fn add(&mut self, value: V) {
        if let Err(value) = self.push(value) {
            self.grow(value);
        }
    }

    #[cold]
    fn grow(&mut self, value: V) {
        if self.room(1).is_err() || self.push(value).is_err() {
            log::error!("there is no memory for what was to be queued");
        }
    }

    /// Takes the oldest value.
    #[inline(always)]
    pub fn pop(&mut self) -> Option<V> {
        let value: *const V = self.front()?;
        self.first = self.first.wrapping_add(1);
        // SAFETY: the slot holds a value, which is read once, because it no longer counts as one of the queue.
        Some(unsafe { value.read() })
    }

    /// Takes the oldest value without dropping it, if `accept`, which may change it, returns something.
    #[inline(always)]
    pub fn skip_if<R>(&mut self, accept: impl FnOnce(&mut V) -> Option<R>) -> Option<R> {
        if self.is_empty() {
            return None;
        }
        let at = self.first & self.mask;
        // SAFETY: as in `get`.
        let result = accept(unsafe { self.slots.get_unchecked_mut(at).assume_init_mut() })?;
        self.first = self.first.wrapping_add(1);
        Some(result)
    }

    /// The oldest value, which can be taken; `None` if there is none.
    #[inline(always)]
    pub fn oldest(&mut self) -> Option<Oldest<'_, V>> {
        if self.is_empty() { None } else { Some(Oldest { queue: self }) }
    }

    /// The number of the oldest value, if there is one, which is how many values were ever taken.
    pub fn taken(&self) -> usize {
        self.first
    }

    /// The oldest value for which `wanted` is true, to be changed.
    pub fn find_mut(&mut self, wanted: impl Fn(&V) -> bool) -> Option<&mut V> {
        let nth = (0..self.len()).find(|&nth| self.get(nth).is_some_and(&wanted))?;
        let at = self.first.wrapping_add(nth) & self.mask;
        // SAFETY: as in `get`.
        Some(unsafe { self.slots.get_unchecked_mut(at).assume_init_mut() })
    }

    /// The oldest value.
    #[inline(always)]
    pub fn front(&self) -> Option<&V> {
        self.get(0)
    }

    /// The value behind the `nth` oldest ones.
    #[inline(always)]
    pub fn get(&self, nth: usize) -> Option<&V> {
        if nth >= self.len() {
            return None;
        }
        let at = self.first.wrapping_add(nth) & self.mask;
        // SAFETY: there are values, so the number of slots is a power of two, and the place under the mask is below it;
        // the slot is one of those from `first` to `end`.
        Some(unsafe { self.slots.get_unchecked(at).assume_init_ref() })
    }

    /// Takes the first value for which `wanted` is true, wherever it stands; the others keep their order.
    pub fn remove(&mut self, wanted: impl Fn(&V) -> bool) -> Option<V> {
        let mut found = None;
        for _ in 0..self.len() {
            let Some(value) = self.pop() else { break };
            if found.is_none() && wanted(&value) {
                found = Some(value);
            } else {
                let _ = self.push(value);
            }
        }
        found
    }

    /// The number of values.
    #[inline(always)]
    pub fn len(&self) -> usize {
        self.end.wrapping_sub(self.first)
    }

    /// Whether there is none.
    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.end == self.first
    }
}

/// The oldest value of a queue that is not empty.
pub(crate) struct Oldest<'a, V> {
    queue: &'a mut Fifo<V>,
}

impl<V> Oldest<'_, V> {
    /// The value.
    #[inline(always)]
    pub fn value(&self) -> &V {
        let at = self.queue.first & self.queue.mask;
        // SAFETY: as in `get`.
        unsafe { self.queue.slots.get_unchecked(at).assume_init_ref() }
    }

    /// Takes the value without dropping it, for a caller that has moved out of it what needs a drop.
    #[inline(always)]
    pub fn skip(self) {
        self.queue.first = self.queue.first.wrapping_add(1);
    }
}

/// The place for another value in a queue that is not full.
pub(crate) struct Vacancy<'a, V> {
    queue: &'a mut Fifo<V>,
}

impl<V> Vacancy<'_, V> {
    /// The number that the value will have: that of all values that were ever added.
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.queue.end
    }

    /// Whether the queue is empty.
    #[inline(always)]
    pub fn is_first(&self) -> bool {
        self.queue.is_empty()
    }

    /// Adds a value.
    #[inline(always)]
    pub fn fill(self, value: V) {
        let Fifo { slots, mask, end, .. } = self.queue;
        // SAFETY: there is a slot without a value, so the number of slots is not 0 but a power of two, and the place
        // under the mask is below it.
        unsafe { slots.get_unchecked_mut(*end & *mask) }.write(value);
        *end = end.wrapping_add(1);
    }
}

impl<V> Drop for Fifo<V> {
    fn drop(&mut self) {
        while self.pop().is_some() {}
    }
}

#[cfg(test)]
mod tests;
