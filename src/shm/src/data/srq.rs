//! The transport's side of a shared receive queue: the buffers that are available, and the connections that ran out
//! of them.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use dat_core::error::Result;
use dat_core::transport::{Recv, RecvId, RecvQueue, Segment, Taken};
use host::lock::Mutex;
use host::memory::{self, Room};

use crate::conn::Conn;

/// Connections that can stand in line without an allocation.
const LINE: usize = 256;

/// A shared receive queue.
pub struct SharedQueue {
    buffers: Mutex<Buffers>,
    segments: usize,
}

struct Buffers {
    queue: RecvQueue,
    line: VecDeque<Weak<Conn>>,
}

impl SharedQueue {
    /// A queue for `recvs` receives of up to `segments` segments.
    pub fn new(recvs: usize, segments: usize) -> Result<Arc<Self>> {
        let queue = RecvQueue::new(recvs, segments)?;
        let line = VecDeque::from(memory::vec(LINE)?);
        Ok(memory::arc(SharedQueue { buffers: Mutex::new(Buffers { queue, line }), segments })?)
    }

    /// Makes room for another connection to stand in line.
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
    pub fn resize(&self, recvs: usize) -> Result<()> {
        self.buffers.lock().queue.reserve(recvs, self.segments)
    }

    /// Takes the oldest receive for `conn`; false if there is none, and then `conn` is resumed when there is one.
    pub fn take(&self, conn: &Arc<Conn>, taken: &mut Taken) -> bool {
        let mut buffers = self.buffers.lock();
        if buffers.queue.pop(taken) {
            return true;
        }
        // A connection stands in line once, however often it finds nothing.
        if !conn.in_line.swap(true, Ordering::Relaxed) {
            buffers.line.push_back(Arc::downgrade(conn));
        }
        false
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
                next.upgrade().inspect(|conn| conn.in_line.store(false, Ordering::Relaxed))
            };
            if let Some(conn) = next {
                conn.resume_rx();
            }
        }
    }
}
