//! The count of outstanding buffers of a shared receive queue.
//!
//! A [`Charge`] comes into being with a post and travels with the buffer into the completion
//! event. Whatever becomes of that event, dropping the charge takes the buffer off the count.

use std::sync::Arc;

use host::memory;

use crate::error::Result;

/// Counts the outstanding buffers of one queue: by the references to it, so that counting one costs one instruction.
#[derive(Debug)]
pub(crate) struct Outstanding(Arc<()>);

impl Outstanding {
    /// A count of no buffers.
    ///
    /// # Errors
    /// [`crate::error::Resource::Memory`].
    pub fn new() -> Result<Self> {
        Ok(Outstanding(memory::arc(())?))
    }

    /// The outstanding buffers at this moment.
    #[inline]
    pub fn count(&self) -> usize {
        Arc::strong_count(&self.0) - 1
    }

    /// Counts another buffer.
    #[inline]
    pub fn add(&self) -> Charge {
        Charge(self.0.clone())
    }
}

/// One outstanding buffer.
#[derive(Debug)]
pub(crate) struct Charge(#[allow(dead_code)] Arc<()>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_buffer_is_outstanding_until_its_charge_is_dropped() {
        let outstanding = Outstanding::new().expect("memory");
        assert_eq!(outstanding.count(), 0);
        let (one, other) = (outstanding.add(), outstanding.add());
        assert_eq!(outstanding.count(), 2);
        drop(one);
        assert_eq!(outstanding.count(), 1);
        drop(outstanding);
        drop(other);
    }
}
