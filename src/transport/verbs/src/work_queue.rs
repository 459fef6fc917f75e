//! Work of one direction of a queue pair: the part that the device has, and the part that waits for room there.
//!
//! A program may ask for longer queues than the device has. Then the device gets as many requests or receives as it has
//! room for, in order, and the next one whenever one is done.
//!
//! Queues are halved until the device can make them. If it refuses a piece of work though it has room, the thread tries
//! again every 20 ms, and after five seconds in which the device had none it ends the connection, so that all that
//! waits completes as flushed.

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use dat_core::Handle;
use dat_core::error::Result;
use dat_core::probes::Stall;
use dat_core::transport::{Gauge, Operation, Segment};
use host::memory::{self, Room};

use crate::qp::wr;
use crate::sys::qp::RawQp;
use crate::window::Kept;

/// The longest time for which a device may refuse work from a backlog while it has none.
const HOPE: Duration = Duration::from_secs(5);

/// The time since when the device refuses the next piece of work of a backlog, though it should have room. A refusal
/// may pass, as lack of memory does, so the thread of the adapter tries again.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refusals(Option<Instant>);

impl Refusals {
    /// Notes a refusal; true for the first one.
    pub fn count(&mut self, now: Instant) -> bool {
        let first = self.0.is_none();
        self.0.get_or_insert(now);
        first
    }

    /// Whether the device has refused the work.
    pub fn any(&self) -> bool {
        self.0.is_some()
    }

    /// True once the device has refused for too long; the time begins anew then.
    pub fn are_hopeless(&mut self, now: Instant) -> bool {
        let hopeless = self.0.is_some_and(|since| now.saturating_duration_since(since) > HOPE);
        if hopeless {
            self.0 = Some(now);
        }
        hopeless
    }
}

/// Gives the device a request, or a receive if there is no operation.
#[inline(always)]
pub fn post(raw: &RawQp, id: u64, operation: Option<&Operation>, segments: &[Segment], fence: bool) -> io::Result<()> {
    match operation {
        Some(operation) => raw.post_send(wr::send(id), operation, segments, fence),
        None => raw.post_recv(wr::recv(id), segments),
    }
}

/// Work of one direction.
pub struct WorkQueue {
    open: bool,
    posted: u64,
    done: u64,
    room: u64,
    /// How many requests are posted up to the last one that waits for those before it.
    fenced: u64,
    /// That one is on the list of the thread.
    fence_noted: bool,
    backlog: VecDeque<Waiting>,
    refusals: Refusals,
    /// The endpoint, what the work is, and whether some of it waits.
    ep: Handle,
    work: Stall,
    pub stalls: Gauge,
    /// Objects that binds need which are under way, by the numbers of these.
    pub binds: VecDeque<(u64, Kept)>,
}

/// A request or a receive that the device has no room for yet.
struct Waiting {
    id: u64,
    /// None for a receive.
    operation: Option<Operation>,
    segments: Box<[Segment]>,
    fence: bool,
}

impl WorkQueue {
    /// A direction of the endpoint `ep` for `work`, for which the device's queue has `len` entries. One of them stays free,
    /// because a completion comes a little before the device can use its entry again.
    pub fn new(ep: Handle, work: Stall, len: usize) -> Self {
        let room = len.saturating_sub(1).max(1) as u64;
        WorkQueue {
            open: true,
            posted: 0,
            done: 0,
            room,
            fenced: 0,
            fence_noted: false,
            backlog: VecDeque::new(),
            refusals: Refusals::default(),
            ep,
            work,
            stalls: Gauge::default(),
            binds: VecDeque::new(),
        }
    }

    /// True while work is taken. The end of the connection completes work that comes later.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// True if the device has no room now.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.posted - self.done >= self.room || !self.backlog.is_empty()
    }

    /// The device has taken a request or a receive.
    #[inline]
    pub fn posted(&mut self) {
        self.posted += 1;
    }

    /// Keeps a request, or a receive if there is no operation, until the device has room for it.
    #[cold]
    #[inline(never)]
    pub fn wait(&mut self, id: u64, operation: Option<Operation>, segments: &[Segment], fence: bool) -> Result<()> {
        self.backlog.room(1)?;
        self.backlog.push_back(Waiting { id, operation, segments: memory::copied(segments)?, fence });
        self.note_stall();
        Ok(())
    }

    /// Notes whether work waits.
    fn note_stall(&self) {
        self.stalls.set(self.ep, self.work, !self.backlog.is_empty());
    }

    /// The device has taken a bind, which needs `kept` until it is done.
    pub fn posted_bind(&mut self, id: u64, kept: Kept) {
        self.posted();
        self.binds.push_back((id, kept));
    }

    /// The last request waits for those before it. True if the queue pair must be added to the list of the thread, where
    /// it stays until [`WorkQueue::fence_waits`] is false.
    pub fn note_fence(&mut self) -> bool {
        self.fenced = self.posted + self.backlog.len() as u64;
        !std::mem::replace(&mut self.fence_noted, true)
    }

    /// Whether a request waits for those before it, or did so until its completion, which was not fetched.
    pub fn fence_waits(&mut self) -> bool {
        self.fence_noted = self.open && self.done < self.fenced;
        self.fence_noted
    }

    /// `count` requests or receives are done. True if [`WorkQueue::go_on`] has something to do.
    #[inline(always)]
    #[must_use]
    pub fn done(&mut self, count: usize) -> bool {
        self.done += count as u64;
        !self.binds.is_empty() || !self.backlog.is_empty()
    }

    /// Goes on after work that is done, the last of which has the number `last`: those that come next in the backlog take
    /// their places. True if the device refuses that for the first time: then [`WorkQueue::try_again`] must be called after a
    /// while.
    #[cold]
    pub fn go_on(&mut self, last: u64, raw: &RawQp) -> bool {
        while self.binds.front().is_some_and(|(bind, _)| *bind <= last) {
            self.binds.pop_front();
        }
        !self.backlog.is_empty() && self.feed(raw)
    }

    /// Hands over work of the backlog as far as there is room. True if the device refuses for the first time.
    fn feed(&mut self, raw: &RawQp) -> bool {
        while self.open && self.posted - self.done < self.room {
            let Some(next) = self.backlog.pop_front() else { break };
            let posted = post(raw, next.id, next.operation.as_ref(), &next.segments, next.fence);
            if let Err(error) = posted {
                self.backlog.push_front(next);
                let first = self.refusals.count(Instant::now());
                if first {
                    log::warn!("queue pair {}: work goes on waiting: {error}", raw.number());
                }
                return first;
            }
            self.refusals = Refusals::default();
            self.posted += 1;
        }
        self.note_stall();
        false
    }

    /// Hands over work that the device refused before. Gives whether it refuses again; and whether it has, though it has no
    /// work, for too long: then the connection must end.
    pub fn try_again(&mut self, raw: &RawQp) -> (bool, bool) {
        if self.open && self.refusals.any() {
            self.feed(raw);
        }
        (self.refusals.any(), self.is_back() && self.refusals.are_hopeless(Instant::now()))
    }

    /// Ends the queue. The core completes the work that waits.
    pub fn close(&mut self) {
        self.open = false;
        self.backlog.clear();
        self.note_stall();
        self.refusals = Refusals::default();
    }

    /// True if the device has given all work back.
    pub fn is_back(&self) -> bool {
        self.done >= self.posted
    }
}

#[cfg(test)]
mod tests;
