//! The buffers of an SRQ that a transport stores, and the connections that wait for them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use host::lock::Mutex;
use host::memory::{self, Room};

use crate::error::Result;
use crate::transport::datagrams::LEAD;
use crate::transport::recv_queue::{RecvQueue, Taken};
use crate::transport::work::{Recv, RecvId, Segment};
use crate::transport::{SharedReceives, Transport};

/// Number of connections for which the line initially has room.
const LINE: usize = 256;

/// A connection that takes buffers of an SRQ.
pub trait RnrWaiter {
    /// Returns the flag that is set while the connection waits in the queue. Only the queue changes it.
    fn rnr_queued(&self) -> &AtomicBool;

    /// Resumes a message that waited for a buffer. Called without a lock.
    fn resume(self: &Arc<Self>);
}

/// An SRQ for connections of type `C`.
pub struct SharedQueue<C> {
    buffers: Mutex<Buffers<C>>,
    segments: usize,
}

struct Buffers<C> {
    queue: RecvQueue,
    line: VecDeque<Weak<C>>,
}

impl<C: RnrWaiter> SharedQueue<C> {
    /// Reserves room for another waiting connection, so that [`SharedQueue::take`] does not allocate.
    ///
    /// # Errors
    /// [`Resource::Memory`](crate::error::Resource::Memory).
    pub fn expect(self: &Arc<Self>) -> Result<()> {
        // Each connection has a reference to the queue.
        let conns = Arc::strong_count(self);
        let mut buffers = self.buffers.lock();
        let more = conns.saturating_sub(buffers.line.len());
        buffers.line.room(more)?;
        Ok(())
    }

    /// Takes the oldest receive for `conn`. Returns `false` if there is none; a later receive then resumes `conn`.
    #[inline]
    pub fn take(&self, conn: &Arc<C>, taken: &mut Taken) -> bool {
        let mut buffers = self.buffers.lock();
        if buffers.queue.pop(taken) {
            return true;
        }
        // A connection waits once, even after several failed attempts.
        if !conn.rnr_queued().swap(true, Ordering::Relaxed) {
            buffers.line.push_back(Arc::downgrade(conn));
        }
        false
    }

    /// Takes the oldest receive for a datagram of `len` bytes, without its first [`LEAD`] bytes. Returns `false` if
    /// there is none, or it is too short.
    pub fn take_datagram(&self, taken: &mut Taken, len: u64) -> bool {
        let found = self.buffers.lock().queue.pop_long(taken, len.saturating_add(LEAD));
        if found {
            taken.skip(LEAD);
        }
        found
    }

    /// Takes the oldest receive if it has one segment. Otherwise returns `None`.
    #[inline(always)]
    pub fn take_one(&self) -> Option<(RecvId, Segment)> {
        self.buffers.lock().queue.pop_one()
    }
}

impl<T: Transport<Qp: RnrWaiter>> SharedReceives<T> for Arc<SharedQueue<T::Qp>> {
    fn create(_: &T, _: &T::Zone, depth: usize, segments: usize) -> Result<Self> {
        let queue = RecvQueue::new(depth, segments)?;
        let line = VecDeque::from(memory::vec(LINE)?);
        Ok(memory::arc(SharedQueue { buffers: Mutex::new(Buffers { queue, line }), segments })?)
    }

    #[inline(always)]
    fn post(&self, _: &T, recv: &Recv<'_>) -> Result<bool> {
        let mut buffers = self.buffers.lock();
        buffers.queue.push(recv);
        Ok(!buffers.line.is_empty())
    }

    fn resize(&self, _: &T, depth: usize) -> Result<()> {
        self.buffers.lock().queue.reserve(depth, self.segments)
    }

    fn arm_limit(&self, _: &T, _: usize) -> Result<()> {
        // Needs no arming, because each taken buffer is reported immediately.
        Ok(())
    }

    fn kick(&self) {
        loop {
            let next = {
                let mut buffers = self.buffers.lock();
                if buffers.queue.is_empty() {
                    return;
                }
                let Some(next) = buffers.line.pop_front() else { return };
                next.upgrade().inspect(|conn| conn.rnr_queued().store(false, Ordering::Relaxed))
            };
            if let Some(conn) = next {
                conn.resume();
            }
        }
    }
}
