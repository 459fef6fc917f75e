//! The outstanding requests or receives of a queue pair: posted to the device, or in a backlog.
//!
//! A program may request longer queues than the device supports. Work without room waits in the backlog, in order.
//!
//! While a fenced request is outstanding, later requests go through the backlog, too. They are posted if there is room.
//! The device starts them in order, so they wait for the same reads. As these may still write the data, no request is
//! posted inline.
//!
//! If the device rejects work although it has room, the progress thread retries every 20 ms. Once the device has
//! rejected it for five seconds and no work is outstanding, the thread ends the connection, which flushes the backlog.

use std::collections::VecDeque;
use std::io;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use dat_core::Handle;
use dat_core::error::Result;
use dat_core::probes::Stall;
use dat_core::transport::{Gauge, Operation, Request, Segment};
use host::memory::{self, Room};

use crate::qp::{Qp, wr};
use crate::sys::qp::{RawQp, Start};
use crate::window::{BoundWindow, Shown};

/// Maximum time for which the device may reject the work of a queue. Afterwards, connections end as soon as the device
/// has completed all posted work of the queue.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(5);

/// The time since which the device rejects the next work of a backlog although it has room, perhaps for lack of memory.
/// `None` after a success.
#[derive(Clone, Copy, Debug, Default)]
pub struct Refusals(Option<Instant>);

impl Refusals {
    /// Records a refusal. Returns whether it is the first since the last success.
    pub fn count(&mut self, now: Instant) -> bool {
        let first = self.0.is_none();
        self.0.get_or_insert(now);
        first
    }

    pub fn any(&self) -> bool {
        self.0.is_some()
    }

    /// Returns whether the device has rejected work for more than [`REFUSAL_TIMEOUT`]. If so, restarts the time.
    pub fn are_hopeless(&mut self, now: Instant) -> bool {
        let timed_out = self.0.is_some_and(|since| now.saturating_duration_since(since) > REFUSAL_TIMEOUT);
        if timed_out {
            self.0 = Some(now);
        }
        timed_out
    }
}

/// Posts a request to the device, or a receive if `operation` is `None`.
#[inline(always)]
pub fn post(raw: &RawQp, id: u64, operation: Option<&Operation>, segments: &[Segment], start: Start) -> io::Result<()> {
    match operation {
        Some(operation) => raw.post_send(wr::send(id), operation, segments, start),
        None => raw.post_recv(wr::recv(id), segments),
    }
}

pub struct WorkQueue {
    open: bool,
    posted: u64,
    done: u64,
    /// Usable entries of the device's queue.
    entries: u64,
    /// Maximum outstanding work for the fast path: `entries`, or 0 while the backlog has work or a fenced request is
    /// outstanding, according to the completions polled so far.
    room: u64,
    fenced: u64,
    /// The queue pair, while a fenced request is outstanding.
    fenced_by: Option<Weak<Qp>>,
    /// Set while `Work::fenced` contains the queue pair.
    fence_noted: bool,
    backlog: VecDeque<Waiting>,
    refusals: Refusals,
    /// Endpoint for which `stalls` is reported.
    ep: Handle,
    work: Stall,
    pub stalls: Gauge,
    /// Numbers of outstanding binds, oldest first, with the objects that they need; `None` while a thread frees these.
    binds: VecDeque<(u64, Option<BoundWindow>)>,
    /// Number of the last request up to which the device has completed all. Recorded only while `watched`.
    reached: Option<u64>,
    /// Outstanding reads; `None` except on soft-iWARP.
    reads: Option<Box<Reads>>,
    /// Set if completions need [`WorkQueue::resume`].
    watched: bool,
}

/// Outstanding reads on soft-iWARP, which may complete later requests before a read (Linux 6.1, 6.12, 7.3). Reads
/// complete in order among themselves, and so do all other requests.
#[derive(Default)]
struct Reads {
    ids: VecDeque<u64>,
    /// Highest completed request.
    last: u64,
}

impl Reads {
    /// Records completions. Returns the number of the last request up to which all have completed, if any.
    fn reached(&mut self, completed: impl Iterator<Item = u64>) -> Option<u64> {
        for id in completed {
            self.last = self.last.max(id);
            if self.ids.front() == Some(&id) {
                self.ids.pop_front();
            }
        }
        self.ids.front().map_or(Some(self.last), |read| read.checked_sub(1).map(|before| before.min(self.last)))
    }
}

struct Waiting {
    id: u64,
    /// `None` for a receive or a bind.
    operation: Option<Operation>,
    segments: Box<[Segment]>,
    start: Start,
    /// The binding to post, if this is a bind.
    bind: Option<Arc<Shown>>,
}

impl WorkQueue {
    /// Creates a queue of `ep` for a device queue of `len` entries. One entry stays unused, because a completion can
    /// arrive before the device can reuse its entry.
    pub fn new(ep: Handle, work: Stall, len: usize) -> Self {
        let entries = len.saturating_sub(1).max(1) as u64;
        WorkQueue {
            open: true,
            posted: 0,
            done: 0,
            entries,
            room: entries,
            fenced: 0,
            fenced_by: None,
            fence_noted: false,
            backlog: VecDeque::new(),
            refusals: Refusals::default(),
            ep,
            work,
            stalls: Gauge::default(),
            binds: VecDeque::new(),
            reached: None,
            reads: None,
            watched: false,
        }
    }

    /// Prepares for a device that completes reads after later requests.
    pub fn expect_late_reads(&mut self) -> Result<()> {
        let mut reads = memory::boxed(Reads::default())?;
        reads.ids.room(self.entries as usize)?;
        self.reads = Some(reads);
        self.watched = true;
        Ok(())
    }

    /// Returns whether the queue accepts work. Core flushes work that is posted to a closed queue when the connection
    /// ends.
    #[inline]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// Returns whether to call [`WorkQueue::wait`]: the queue is full, work waits, or a fenced request is outstanding.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.posted - self.done >= self.room
    }

    /// Returns whether work can be posted now.
    pub fn has_room(&self) -> bool {
        self.posted - self.done < self.entries && self.backlog.is_empty()
    }

    /// Returns how to start a request now. While a fenced request is outstanding, a later request waits for the same
    /// reads.
    fn start(&self, start: Start) -> Start {
        if start == Start::InTurn && self.fenced_by.is_some() { Start::Behind } else { start }
    }

    /// Records work that was posted to the device: a receive or a bind if `operation` is `None`.
    #[inline(always)]
    pub fn posted(&mut self, id: u64, operation: Option<&Operation>) {
        self.posted += 1;
        if let (Some(Operation::Read(_)), Some(reads)) = (operation, &mut self.reads) {
            reads.ids.push_back(id);
        }
    }

    /// Returns `id`, the number of a failed request, or the oldest outstanding read if that precedes `id`. Core treats
    /// requests before the returned number as successful.
    pub fn oldest(&self, id: u64) -> u64 {
        let read = self.reads.as_ref().and_then(|reads| reads.ids.front());
        read.map_or(id, |read| id.min(*read))
    }

    /// Adds work to the backlog. While a fenced request is outstanding, also posts as much of the backlog as the device
    /// accepts.
    #[cold]
    #[inline(never)]
    pub fn wait(&mut self, id: u64, operation: Option<Operation>, segments: &[Segment], start: Start) -> Result<()> {
        self.backlog.room(1)?;
        self.push(Waiting { id, operation, segments: memory::copied(segments)?, start, bind: None });
        if let Some(qp) = self.fenced_by.as_ref().and_then(Weak::upgrade) {
            // If the device rejects the request, the completion of the fenced request retries the post.
            self.feed(&qp.raw);
        }
        Ok(())
    }

    fn push(&mut self, waiting: Waiting) {
        self.backlog.push_back(waiting);
        self.note_room();
        self.note_stall();
    }

    fn note_stall(&self) {
        self.stalls.set(self.ep, self.work, !self.backlog.is_empty());
    }

    /// Records a posted bind, which needs `kept` until it has completed.
    pub fn posted_bind(&mut self, id: u64, kept: BoundWindow) {
        self.posted += 1;
        self.binds.push_back((id, Some(kept)));
        self.watched = true;
    }

    pub fn room_for_bind(&mut self) -> Result<()> {
        Ok(self.backlog.room(1)?)
    }

    /// Adds a bind to the backlog, or an unbind if `bind` is `None`. [`WorkQueue::room_for_bind`] has made room.
    pub fn wait_with_bind(&mut self, request: &Request<'_>, bind: Option<Arc<Shown>>, kept: BoundWindow) {
        let id = request.id;
        let (operation, start) = match bind {
            Some(_) => (None, Start::Alone),
            None => (Some(request.operation), if request.fence { Start::Fenced } else { Start::InTurn }),
        };
        self.push(Waiting { id, operation, segments: Box::default(), start, bind });
        self.binds.push_back((id, Some(kept)));
    }

    /// Records that the last request is fenced. Returns whether `Work::fenced` lacks the queue pair, so that the caller
    /// adds it if the device may forget the request. It stays there until [`WorkQueue::fence_waits`] returns `false`.
    pub fn note_fence(&mut self, qp: &Arc<Qp>) -> bool {
        self.fenced_by = Some(Arc::downgrade(qp));
        self.fenced = self.posted + self.backlog.len() as u64;
        self.note_room();
        !std::mem::replace(&mut self.fence_noted, true)
    }

    fn note_room(&mut self) {
        if self.done >= self.fenced {
            self.fenced_by = None;
        }
        let usual = self.fenced_by.is_none() && self.backlog.is_empty();
        self.room = if usual { self.entries } else { 0 };
        self.watched |= !usual;
    }

    /// Returns whether a fenced request is outstanding, according to the completions polled so far.
    pub fn fence_waits(&mut self) -> bool {
        self.fence_noted = self.open && self.done < self.fenced;
        self.fence_noted
    }

    /// Records `count` completions. Returns whether to call [`WorkQueue::resume`].
    #[inline(always)]
    #[must_use]
    pub fn done(&mut self, count: usize) -> bool {
        self.done += count as u64;
        self.watched
    }

    /// Records successful completions, and posts work of the backlog. Returns [`WorkQueue::finished`], and `true` if
    /// the device rejects such work for the first time; the caller must then call [`WorkQueue::try_again`] later.
    #[cold]
    pub fn resume(&mut self, completed: impl Iterator<Item = u64>, raw: &RawQp) -> (Option<u64>, bool) {
        let reached = match &mut self.reads {
            Some(reads) => reads.reached(completed),
            None => completed.last(),
        };
        self.reached = self.reached.max(reached);
        let refused = !self.backlog.is_empty() && self.feed(raw);
        self.watched = self.reads.is_some() || !self.binds.is_empty();
        self.note_room();
        (self.finished(), refused)
    }

    /// Returns the last work up to which all has finished. A bind has finished once the device has completed it and its
    /// objects have been freed: then peers can no longer use the old binding.
    fn finished(&self) -> Option<u64> {
        match self.binds.front() {
            Some((bind, _)) if Some(*bind) <= self.reached => bind.checked_sub(1),
            _ => self.reached,
        }
    }

    /// Returns whether [`WorkQueue::take_completed_bind`] would return objects.
    pub fn has_completed_bind(&self) -> bool {
        self.binds.front().is_some_and(|(bind, kept)| Some(*bind) <= self.reached && kept.is_some())
    }

    /// Returns the objects of the oldest bind, if the device has completed it. The caller drops them without a lock,
    /// because that can block, and then calls [`WorkQueue::bind_freed`].
    pub fn take_completed_bind(&mut self) -> Option<BoundWindow> {
        if self.has_completed_bind() { self.binds.front_mut()?.1.take() } else { None }
    }

    /// Removes the bind whose objects were freed. Returns the last work up to which all has finished; `None` if the
    /// connection has ended.
    pub fn bind_freed(&mut self) -> Option<u64> {
        if !matches!(self.binds.front(), Some((_, None))) {
            return None;
        }
        self.binds.pop_front();
        self.finished()
    }

    /// Returns whether binds are outstanding.
    pub fn has_binds(&self) -> bool {
        !self.binds.is_empty()
    }

    /// Removes all binds. The caller drops them without a lock.
    pub fn take_binds(&mut self) -> impl Sized + use<> {
        std::mem::take(&mut self.binds)
    }

    /// Posts work of the backlog. Returns whether the device has rejected such work for the first time.
    fn feed(&mut self, raw: &RawQp) -> bool {
        while self.open && self.posted - self.done < self.entries {
            if self.backlog.front().is_some_and(|next| next.start == Start::Alone) && !self.is_back() {
                break;
            }
            let Some(next) = self.backlog.pop_front() else { break };
            let posted = match &next.bind {
                Some(bind) => bind.post(raw, (wr::send(next.id), false)),
                None => post(raw, next.id, next.operation.as_ref(), &next.segments, self.start(next.start)),
            };
            if let Err(error) = posted {
                self.backlog.push_front(next);
                let first = self.refusals.count(Instant::now());
                if first {
                    log::warn!("queue pair {}: the device rejects a request, which waits: {error}", raw.number());
                }
                return first;
            }
            self.refusals = Refusals::default();
            self.posted(next.id, next.operation.as_ref());
        }
        self.note_room();
        self.note_stall();
        false
    }

    /// Retries rejected work. Returns whether the device still rejects it, and whether the connection must end.
    pub fn try_again(&mut self, raw: &RawQp) -> (bool, bool) {
        if self.open && self.refusals.any() {
            self.feed(raw);
        }
        (self.refusals.any(), self.is_back() && self.refusals.are_hopeless(Instant::now()))
    }

    /// Closes the queue and discards the backlog, which core completes as flushed.
    pub fn close(&mut self) {
        self.open = false;
        self.backlog.clear();
        self.note_stall();
        self.refusals = Refusals::default();
    }

    /// Returns whether the device has completed all posted work.
    pub fn is_back(&self) -> bool {
        self.done >= self.posted
    }
}

#[cfg(test)]
mod tests;
