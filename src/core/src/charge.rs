//! The count of outstanding buffers of a shared receive queue.
//!
//! A [`Charge`] comes into being with a post and travels with the buffer into the completion
//! event. Whatever becomes of that event, dropping the charge takes the buffer off the count.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use host::memory;

use crate::error::Result;

/// Counts the outstanding buffers of one queue.
#[derive(Debug)]
pub(crate) struct Outstanding(Arc<AtomicUsize>);

impl Outstanding {
    /// A count of no buffers.
    ///
    /// # Errors
    /// [`crate::error::Resource::Memory`].
    pub fn new() -> Result<Self> {
        Ok(Outstanding(memory::arc(AtomicUsize::new(0))?))
    }

    /// The outstanding buffers at this moment.
    #[inline]
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Acquire)
    }

    /// Counts another buffer.
    #[inline]
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::AcqRel);
    }

    /// The charge for a buffer that [`Outstanding::add`] counted; one for each.
    #[inline]
    pub fn charge(&self) -> Charge {
        Charge(self.0.clone())
    }
}

/// One outstanding buffer.
#[derive(Debug)]
pub(crate) struct Charge(Arc<AtomicUsize>);

impl Drop for Charge {
    #[inline]
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_outstanding_until_its_charge_is_dropped() {
        let outstanding = Outstanding::new().expect("memory");
        outstanding.add();
        outstanding.add();
        let (one, other) = (outstanding.charge(), outstanding.charge());
        assert_eq!(outstanding.count(), 2);
        drop(one);
        assert_eq!(outstanding.count(), 1);
        drop(outstanding);
        drop(other);
    }
}
