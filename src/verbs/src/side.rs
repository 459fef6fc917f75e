//! Work of one direction of a queue pair: the part that the device has, and the part that waits for a place there.
//!
//! A program may ask for longer queues than the device has. Then the device gets as many requests or receives as it has
//! places, in order, and the next one whenever one is done.

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
    /// Objects that binds need which are under way, by the numbers of these.
    binds: VecDeque<(u64, Kept)>,
}

/// A request or a receive that the device has no place for yet.
pub struct BacklogWork {
    /// The core's number.
    pub id: u64,
    /// The operation of a request; `None` for a receive.
    pub work: Option<Work>,
    /// Local memory.
    pub segments: Box<[Segment]>,
    /// It must not start before all earlier reads are complete.
    pub fence: bool,
}

impl Side {
    /// A direction for which the device has `places`. One of them stays free, because a completion comes a little
    /// before the device can use the place again.
    pub fn new(places: usize) -> Self {
        let room = places.saturating_sub(1).max(1) as u64;
        Side { open: true, posted: 0, done: 0, room, backlog: VecDeque::new(), binds: VecDeque::new() }
    }

    /// True while work is taken. The end of the connection completes work that comes later.
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// True if the device has no place now.
    pub fn is_full(&self) -> bool {
        self.posted - self.done >= self.room || !self.backlog.is_empty()
    }

    /// The device has taken a request or a receive.
    pub fn posted(&mut self) {
        self.posted += 1;
    }

    /// Keeps a request or a receive for later.
    ///
    /// # Errors
    /// [`Resource::Memory`].
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

    /// Drops the objects that binds need: none of them is under way any more.
    pub fn forget_binds(&mut self) {
        self.binds.clear();
    }

    /// The request or the receive with this number is done; the next one in the backlog takes its place.
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

    /// Takes nothing any more. The core completes the work that waits.
    pub fn close(&mut self) {
        self.open = false;
        self.backlog.clear();
    }

    /// True if the device has given all work back.
    pub fn is_back(&self) -> bool {
        self.done >= self.posted
    }
}
