//! Posted receives, first in first out, without an allocation for each.

use std::collections::VecDeque;

use arrayvec::ArrayVec;
use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{MAX_SEGMENTS, Recv, RecvId, Segment};

/// A receive that was taken off a queue, with room for the segments of any.
#[derive(Default)]
pub struct Taken {
    /// Its number.
    pub id: RecvId,
    /// Sum of its segments' lengths.
    pub capacity: u64,
    /// The memory that its bytes go to.
    pub segments: ArrayVec<Segment, MAX_SEGMENTS>,
}

/// A queue of posted receives.
#[derive(Default)]
pub struct RecvQueue {
    receives: VecDeque<(RecvId, u8)>,
    segments: VecDeque<Segment>,
}

impl RecvQueue {
    /// A queue with room for `recvs` receives of up to `segments` segments.
    pub fn new(recvs: usize, segments: usize) -> Result<Self> {
        let mut queue = RecvQueue::default();
        queue.reserve(recvs, segments)?;
        Ok(queue)
    }

    /// Makes room for `recvs` receives in all.
    pub fn reserve(&mut self, recvs: usize, segments: usize) -> Result<()> {
        let memory = |_| Error::InsufficientResources(Resource::Memory);
        let more = recvs.saturating_sub(self.receives.len());
        self.receives.try_reserve_exact(more).map_err(memory)?;
        self.segments.try_reserve_exact(more.saturating_mul(segments)).map_err(memory)
    }

    /// Adds a receive.
    pub fn push(&mut self, recv: &Recv<'_>) {
        let count = recv.segments.len().min(MAX_SEGMENTS);
        self.receives.push_back((recv.id, count as u8));
        self.segments.extend(&recv.segments[..count]);
    }

    /// Takes the oldest receive; false if there is none.
    pub fn pop(&mut self, taken: &mut Taken) -> bool {
        let Some((id, count)) = self.receives.pop_front() else { return false };
        taken.id = id;
        taken.capacity = 0;
        taken.segments.clear();
        for _ in 0..count {
            let segment = self.segments.pop_front().unwrap_or_default();
            taken.capacity += segment.len;
            // There is room: a request has no more segments.
            let _ = taken.segments.try_push(segment);
        }
        true
    }

    /// True if there is no receive.
    pub fn is_empty(&self) -> bool {
        self.receives.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn receives_come_out_as_they_went_in() {
        let mut queue = RecvQueue::new(4, 2).unwrap();
        let segments = |n: u64| (0..n).map(|k| Segment { addr: n * 100 + k, len: k + 1, key: 5 }).collect::<Vec<_>>();
        for n in 0..3 {
            queue.push(&Recv { id: n, segments: &segments(n) });
        }
        let mut taken = Taken::default();
        for n in 0..3 {
            assert!(queue.pop(&mut taken));
            assert_eq!(taken.id, n);
            assert_eq!(taken.segments[..], segments(n));
            assert_eq!(taken.capacity, segments(n).iter().map(|s| s.len).sum::<u64>());
        }
        assert!(!queue.pop(&mut taken));
        assert!(queue.is_empty());
    }
}
