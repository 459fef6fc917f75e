//! A queue in a ring of slots, for the fast path. `VecDeque` would need more instructions, and would grow without a
//! limit.

use std::mem::MaybeUninit;

use host::memory::{self, NoMemory};

pub(crate) struct Fifo<V> {
    /// The slots. Their number is 0 or a power of two. Slots from `first` to `end`, modulo this number, contain values.
    slots: Vec<MaybeUninit<V>>,
    mask: usize,
    /// Number of values at which [`Fifo::vacancy`] fails; at most the number of slots.
    limit: usize,
    /// The number of values removed so far. It wraps around.
    first: usize,
    /// The number of values added so far. It wraps around.
    end: usize,
}

impl<V> Default for Fifo<V> {
    fn default() -> Self {
        Fifo { slots: Vec::new(), mask: 0, limit: 0, first: 0, end: 0 }
    }
}

impl<V> Fifo<V> {
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

    pub fn reserve(&mut self, capacity: usize) -> Result<(), NoMemory> {
        self.room(capacity.saturating_sub(self.len()))?;
        self.limit(capacity);
        Ok(())
    }

    /// Sets the limit, at most to the number of slots.
    pub fn limit(&mut self, limit: usize) {
        self.limit = limit.min(self.slots.len());
    }

    /// Adds a value, regardless of the limit.
    ///
    /// # Errors
    /// Returns the value if there is no free slot.
    #[inline(always)]
    pub fn push(&mut self, value: V) -> Result<(), V> {
        if self.len() == self.slots.len() {
            return Err(value);
        }
        Vacancy { queue: self }.fill(value);
        Ok(())
    }

    #[inline(always)]
    pub fn is_full(&self) -> bool {
        self.len() >= self.limit
    }

    #[inline(always)]
    pub fn vacancy(&mut self) -> Option<Vacancy<'_, V>> {
        if self.is_full() { None } else { Some(Vacancy { queue: self }) }
    }

    /// Like [`Fifo::push`], but allocates slots if none is free. Logs the loss of the value if memory is exhausted.
    #[inline(always)]
    pub fn add(&mut self, value: V) {
        if let Err(value) = self.push(value) {
            self.grow(value);
        }
    }

    #[cold]
    fn grow(&mut self, value: V) {
        if self.room(1).is_err() || self.push(value).is_err() {
            log::error!("queue: an entry is lost: out of memory");
        }
    }

    #[inline(always)]
    pub fn pop(&mut self) -> Option<V> {
        let value: *const V = self.front()?;
        self.first = self.first.wrapping_add(1);
        // SAFETY: the slot contains a value, which has left the queue and is read only here.
        Some(unsafe { value.read() })
    }

    /// Calls `accept` with the oldest value. If `accept` returns `Some`, removes the value without dropping it.
    #[inline(always)]
    pub fn skip_if<R>(&mut self, accept: impl FnOnce(&mut V) -> Option<R>) -> Option<R> {
        let result = accept(self.get_mut(0)?)?;
        self.first = self.first.wrapping_add(1);
        Some(result)
    }

    #[inline(always)]
    pub fn oldest(&mut self) -> Option<Oldest<'_, V>> {
        if self.is_empty() { None } else { Some(Oldest { queue: self }) }
    }

    /// Returns how many values were removed so far. This is also the number of the oldest value, counted from 0.
    pub fn taken(&self) -> usize {
        self.first
    }

    pub fn find_mut(&mut self, wanted: impl Fn(&V) -> bool) -> Option<&mut V> {
        let nth = (0..self.len()).find(|&nth| self.get(nth).is_some_and(&wanted))?;
        self.get_mut(nth)
    }

    #[inline(always)]
    pub fn front(&self) -> Option<&V> {
        self.get(0)
    }

    /// Returns the value at position `nth`, the oldest at 0.
    #[inline(always)]
    pub fn get(&self, nth: usize) -> Option<&V> {
        if nth >= self.len() {
            return None;
        }
        let at = self.first.wrapping_add(nth) & self.mask;
        // SAFETY: `nth` is below the length, so the masked index is in range.
        let slot = unsafe { self.slots.get_unchecked(at) };
        // SAFETY: the slot contains a value.
        Some(unsafe { slot.assume_init_ref() })
    }

    #[inline(always)]
    fn get_mut(&mut self, nth: usize) -> Option<&mut V> {
        if nth >= self.len() {
            return None;
        }
        let at = self.first.wrapping_add(nth) & self.mask;
        // SAFETY: `nth` is below the length, so the masked index is in range, and the slot contains a value.
        Some(unsafe { &mut *self.slots.as_mut_ptr().wrapping_add(at).cast::<V>() })
    }

    /// Removes the oldest value that satisfies `wanted`. The other values keep their order.
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

    #[inline(always)]
    pub fn len(&self) -> usize {
        self.end.wrapping_sub(self.first)
    }

    #[inline(always)]
    pub fn is_empty(&self) -> bool {
        self.end == self.first
    }
}

pub(crate) struct Oldest<'a, V> {
    queue: &'a mut Fifo<V>,
}

impl<V> Oldest<'_, V> {
    #[inline(always)]
    pub fn value(&self) -> &V {
        let at = self.queue.first & self.queue.mask;
        // SAFETY: the queue is not empty, so the masked index is in range, and the slot contains a value.
        unsafe { &*self.queue.slots.as_ptr().wrapping_add(at).cast::<V>() }
    }

    /// Removes the value without dropping it.
    #[inline(always)]
    pub fn skip(self) {
        self.queue.first = self.queue.first.wrapping_add(1);
    }
}

pub(crate) struct Vacancy<'a, V> {
    queue: &'a mut Fifo<V>,
}

impl<V> Vacancy<'_, V> {
    #[inline(always)]
    pub fn number(&self) -> usize {
        self.queue.end
    }

    #[inline(always)]
    pub fn is_first(&self) -> bool {
        self.queue.is_empty()
    }

    #[inline(always)]
    pub fn fill(self, value: V) {
        let Fifo { slots, mask, end, .. } = self.queue;
        // SAFETY: there is a free slot, so the masked index is in range.
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
