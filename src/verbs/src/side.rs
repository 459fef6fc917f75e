//! Work of one direction of a queue pair: what the device has, and what waits for a place there.
//!
//! A program may ask for longer queues than the device has. Then the device gets as many as it
//! has places, in order, and the next one whenever one is done.

use std::collections::VecDeque;

use dat_core::error::{Error, Resource, Result};
use dat_core::transport::Segment;

use crate::memory::Kept;
use crate::qp::wr;
use crate::sys::qp::{RawQp, Work};

/// Work of one direction.
pub struct Side {
    open: bool,
    posted: u64,
    done: u64,
    room: u64,
    backlog: VecDeque<BacklogWork>,
    /// What binds that are under way need, by their numbers.
    binds: VecDeque<(u64, Kept)>,
}

/// A request or a receive that the device has no place for yet.
pub struct BacklogWork {
    /// The core's number.
    pub id: u64,
    /// What a request does; `None` for a receive.
    pub work: Option<Work>,
    /// Local memory.
    pub segments: Box<[Segment]>,
    /// Not to start before all earlier reads are complete.
    pub fence: bool,
}

impl Side {
    /// A direction for which the device has `places`. One of them is for the work whose completion
    /// is out before its place is free.
    pub fn new(places: usize) -> Self {
        let room = places.saturating_sub(1).max(1) as u64;
        Side { open: true, posted: 0, done: 0, room, backlog: VecDeque::new(), binds: VecDeque::new() }
    }

    /// Whether work is taken at all; what comes later is completed by the end of the connection.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Whether the device has no place now.
    pub fn is_full(&self) -> bool {
        self.posted - self.done >= self.room || !self.backlog.is_empty()
    }

    /// The device has taken one.
    pub fn posted(&mut self) {
        self.posted += 1;
    }

    /// Keeps one for later.
    pub fn wait(&mut self, waiting: BacklogWork) -> Result<()> {
        let memory = |_| Error::InsufficientResources(Resource::Memory);
        self.backlog.try_reserve(1).map_err(memory)?;
        self.backlog.push_back(waiting);
        Ok(())
    }

    /// The device has taken a bind, which needs `kept` until it is done.
    pub fn posted_bind(&mut self, id: u64, kept: Kept) {
        self.posted();
        self.binds.push_back((id, kept));
    }

    /// Nothing that binds need is needed any more.
    pub fn forget_binds(&mut self) {
        self.binds.clear();
    }

    /// The one with this number is done; what waits takes its place.
    pub fn done(&mut self, id: u64, raw: &RawQp) {
        self.done += 1;
        while self.binds.front().is_some_and(|(bind, _)| *bind <= id) {
            self.binds.pop_front();
        }
        while self.open && self.posted - self.done < self.room {
            let Some(next) = self.backlog.pop_front() else { return };
            let posted = match next.work {
                Some(work) => raw.post_send(wr::send(next.id), work, &next.segments, next.fence),
                None => raw.post_recv(wr::recv(next.id), &next.segments),
            };
            if let Err(error) = posted {
                log::debug!("queue pair {}: work goes on waiting: {error}", raw.number());
                self.backlog.push_front(next);
                return;
            }
            self.posted += 1;
        }
    }

    /// Takes nothing any more. The core completes what waits.
    pub fn close(&mut self) {
        self.open = false;
        self.backlog.clear();
    }

    /// Whether the device has given everything back.
    pub fn is_back(&self) -> bool {
        self.done >= self.posted
    }
}
