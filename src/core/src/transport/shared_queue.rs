//! The buffers of a shared receive queue, for a transport that keeps them itself, and the connections that ran out of them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use host::lock::Mutex;
use host::memory::{self, Room};

use crate::error::Result;
use crate::transport::recv_queue::{RecvQueue, Taken};
use crate::transport::work::{Recv, RecvId, Segment};

/// Connections that can stand in line without an allocation.
const LINE: usize = 256;

/// Bytes of a receive that lie in front of a datagram, for the header that some networks put there.
pub const LEAD: u64 = 40;

/// The largest datagram of a transport that carries them over connections, which fail for a peer that sends a longer one.
pub const LARGEST_DATAGRAM: usize = 4096;

/// A connection that takes buffers of a shared queue.
pub trait RnrWaiter {
    /// Whether it stands in line. Belongs to the queue.
    fn rnr_queued(&self) -> &AtomicBool;

    /// Goes on with a message that waited for a buffer, as there is one. Called without a lock.
    fn resume(self: &Arc<Self>);
}

/// A shared receive queue, for connections `C`.
pub struct SharedQueue<C> {
    buffers: Mutex<Buffers<C>>,
    segments: usize,
}

struct Buffers<C> {
    queue: RecvQueue,
    line: VecDeque<Weak<C>>,
}

impl<C: RnrWaiter> SharedQueue<C> {
    /// A queue for `recvs` receives of up to `segments` segments.
    ///
    /// # Errors
    /// [`Resource::Memory`](crate::error::Resource::Memory), also of the other methods.
    pub fn new(recvs: usize, segments: usize) -> Result<Arc<Self>> {
        let queue = RecvQueue::new(recvs, segments)?;
        let line = VecDeque::from(memory::vec(LINE)?);
        Ok(memory::arc(SharedQueue { buffers: Mutex::new(Buffers { queue, line }), segments })?)
    }

    /// Makes room for another connection to stand in line.
    ///
    /// # Errors
    /// As for [`SharedQueue::new`].
    pub fn expect(self: &Arc<Self>) -> Result<()> {
        // Each connection has a reference of its own.
        let conns = Arc::strong_count(self);
        let mut buffers = self.buffers.lock();
        let more = conns.saturating_sub(buffers.line.len());
        buffers.line.room(more)?;
        Ok(())
    }

    /// Adds a receive; true if a connection waits for it, so that the queue is to be kicked.
    #[inline(always)]
    pub fn post(&self, recv: &Recv<'_>) -> bool {
        let mut buffers = self.buffers.lock();
        buffers.queue.push(recv);
        !buffers.line.is_empty()
    }

    /// Makes room for `recvs` receives.
    ///
    /// # Errors
    /// As for [`SharedQueue::new`].
    pub fn resize(&self, recvs: usize) -> Result<()> {
        self.buffers.lock().queue.reserve(recvs, self.segments)
    }

    /// Takes the oldest receive for `conn`; false if there is none, and then `conn` is resumed when there is one.
    #[inline]
    pub fn take(&self, conn: &Arc<C>, taken: &mut Taken) -> bool {
        let mut buffers = self.buffers.lock();
        if buffers.queue.pop(taken) {
            return true;
        }
        // A connection stands in line once, however often it finds nothing.
        if !conn.rnr_queued().swap(true, Ordering::Relaxed) {
            buffers.line.push_back(Arc::downgrade(conn));
        }
        false
    }

    /// Takes the oldest receive for a datagram of `len` bytes, without the bytes in front of it. False if there is none, or it is
    /// too short: then the datagram is lost, the receive stays, and the bytes of what is taken go nowhere.
    pub fn take_datagram(&self, taken: &mut Taken, len: u64) -> bool {
        let found = self.buffers.lock().queue.pop_long(taken, len.saturating_add(LEAD));
        if found {
            taken.skip(LEAD);
        } else {
            taken.lose();
        }
        found
    }

    /// Takes the oldest receive if it has one segment.
    #[inline(always)]
    pub fn take_one(&self) -> Option<(RecvId, Segment)> {
        self.buffers.lock().queue.pop_one()
    }

    /// Lets starved connections go on while there are receives, in the order in which they starved.
    pub fn kick(&self) {
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
