//! A FIFO queue of posted receives that a transport stores.

use crate::error::Result;
use crate::fifo::Fifo;
use crate::transport::work::{Checked, MAX_SEGMENTS, Recv, RecvId, Segment};

/// A receive taken from a queue, with inline room for [`MAX_SEGMENTS`] segments.
#[derive(Default)]
pub struct Taken {
    /// Number of the receive.
    pub id: RecvId,
    /// Sum of the segments' lengths.
    pub capacity: u64,
    segments: Checked,
}

impl Taken {
    /// Returns the segments.
    #[inline]
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Removes the first `bytes` bytes, which the segments must have.
    pub(crate) fn skip(&mut self, bytes: u64) {
        let mut left = bytes;
        for segment in &mut self.segments {
            let skipped = left.min(segment.len);
            segment.addr += skipped;
            segment.len -= skipped;
            left -= skipped;
        }
        self.segments.retain(|segment| segment.len > 0);
        self.capacity -= bytes;
    }

    /// Sets the receive's number and its `count` segments: `first`, then the oldest of `others`.
    #[inline(always)]
    pub(crate) fn set(&mut self, id: RecvId, count: usize, first: Segment, others: &Fifo<Segment>) {
        self.id = id;
        self.segments.clear();
        self.capacity = 0;
        // Cannot exceed the capacity of the list, [`MAX_SEGMENTS`].
        for nth in 0..count.min(MAX_SEGMENTS) {
            let Some(segment) = (if nth == 0 { Some(first) } else { others.get(nth - 1).copied() }) else { break };
            self.segments.push(segment);
            self.capacity += segment.len;
        }
    }
}

struct QueuedRecv {
    id: RecvId,
    count: usize,
    first: Segment,
}

/// A queue of posted receives, for a transport that stores them, or whose device is full. Allocates only to grow.
#[derive(Default)]
pub struct RecvQueue {
    receives: Fifo<QueuedRecv>,
    others: Fifo<Segment>,
}

impl RecvQueue {
    /// Reserves room for `recvs` receives in total of up to `segments` segments.
    ///
    /// # Errors
    /// [`Resource::Memory`](crate::error::Resource::Memory); the queue is unchanged.
    pub fn reserve(&mut self, recvs: usize, segments: usize) -> Result<()> {
        let more = recvs.saturating_sub(self.receives.len());
        self.receives.room(more)?;
        self.others.room(more.saturating_mul(segments.saturating_sub(1)))?;
        Ok(())
    }

    /// Adds a receive.
    #[inline(always)]
    pub fn push(&mut self, recv: &Recv<'_>) {
        let count = recv.segments.len().min(MAX_SEGMENTS);
        let first = recv.segments.first().copied().unwrap_or_default();
        self.receives.add(QueuedRecv { id: recv.id, count, first });
        if count > 1 {
            recv.segments[1..count].iter().for_each(|&segment| self.others.add(segment));
        }
    }

    /// Removes the oldest receive if `accept` returns `Ok`. Returns `false` if the queue is empty.
    ///
    /// # Errors
    /// The error of `accept`; the receive stays in the queue.
    pub fn pop_if<E>(
        &mut self,
        accept: impl FnOnce(&Taken) -> std::result::Result<(), E>,
    ) -> std::result::Result<bool, E> {
        let Some(&QueuedRecv { id, count, first }) = self.receives.front() else { return Ok(false) };
        let mut oldest = Taken::default();
        oldest.set(id, count, first, &self.others);
        accept(&oldest)?;
        self.receives.pop();
        for _ in 1..count {
            self.others.pop();
        }
        Ok(true)
    }

    /// Returns the number of receives.
    #[inline]
    pub fn len(&self) -> usize {
        self.receives.len()
    }

    /// Returns whether the queue is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.receives.is_empty()
    }
}

#[cfg(test)]
mod tests;
