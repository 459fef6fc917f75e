//! The transport's side of a shared receive queue: the buffers that are available, and
//! the connections that ran out of them.

use std::collections::VecDeque;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};

use dat_core::error::Result;
use dat_core::transport::{Recv, RecvQueue, Taken};
use parking_lot::Mutex;

use crate::conn::Conn;

/// Connections that can stand in line without an allocation.
const LINE: usize = 256;

/// A shared receive queue.
pub struct SharedQueue {
    state: Mutex<State>,
    segments: usize,
}

struct State {
    queue: RecvQueue,
    starved: VecDeque<Weak<Conn>>,
}

impl SharedQueue {
    /// A queue for `recvs` receives of up to `segments` segments.
    pub fn new(recvs: usize, segments: usize) -> Result<Arc<Self>> {
        let queue = RecvQueue::new(recvs, segments)?;
        Ok(Arc::new(SharedQueue {
            state: Mutex::new(State { queue, starved: VecDeque::with_capacity(LINE) }),
            segments,
        }))
    }

    /// Adds a receive.
    pub fn post(&self, recv: &Recv<'_>) {
        self.state.lock().queue.push(recv);
    }

    /// Makes room for `recvs` receives.
    pub fn resize(&self, recvs: usize) -> Result<()> {
        self.state.lock().queue.reserve(recvs, self.segments)
    }

    /// Takes the oldest receive for `conn`; if there is none, `conn` is resumed when
    /// there is one.
    pub fn take(&self, conn: &Arc<Conn>, taken: &mut Taken) -> bool {
        let mut state = self.state.lock();
        if state.queue.pop(taken) {
            return true;
        }
        // A connection waits once, however often it finds nothing.
        if !conn.queued.swap(true, Ordering::Relaxed) {
            state.starved.push_back(Arc::downgrade(conn));
        }
        false
    }

    /// Lets starved connections go on while there are receives, in the order in which
    /// they starved.
    pub fn kick(&self) {
        loop {
            let next = {
                let mut state = self.state.lock();
                if state.queue.is_empty() {
                    return;
                }
                match state.starved.pop_front() {
                    Some(conn) => conn.upgrade().inspect(|conn| conn.queued.store(false, Ordering::Relaxed)),
                    None => return,
                }
            };
            if let Some(conn) = next {
                conn.resume();
            }
        }
    }
}
