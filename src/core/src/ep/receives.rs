//! The receives of an endpoint, with their watermarks.

use std::collections::VecDeque;
use std::sync::Arc;

use host::diagnostics::COMPLETION;
use host::memory::{self, NoMemory, Room};

use crate::arena::Handle;
use crate::counters::Tallies;
use crate::ep::attr::Watermark;
use crate::ep_state::EpState;
use crate::error::{Arg, Error, Result};
use crate::evd::{Evd, Queued};
use crate::event::{Completion, CompletionFlags, Feed, Status, Transfer, notifies};
use crate::fifo::Fifo;
use crate::lmr_table::{LocalSegment, SegmentList};
use crate::srq_accounting::OutstandingRecv;
use crate::transport::datagrams::LEAD;
use crate::transport::{RecvDone, RecvId, Segment, Taken, Transport};
use crate::users::Use;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub id: RecvId,
    pub cookie: u64,
    /// `true` if a successful completion is not a notification event.
    pub quiet: bool,
    /// Number of segments; 0 if [`Early`] or the transport stores them. [`Receives::others`] contains all but the
    /// first.
    pub count: usize,
    pub first: Segment,
}

/// The segments of a receive that was posted before the queue pair existed.
pub(crate) struct Early {
    pub id: RecvId,
    pub segments: Box<[LocalSegment]>,
}

#[derive(Clone, Copy)]
pub(crate) struct Ended {
    pub done: RecvDone,
    /// Kind and extra value of an extended or datagram completion ([`Event::Transfer`](crate::event::Event::Transfer));
    /// `None` for an ordinary receive. Ignored if the receive failed.
    pub special: Option<(Transfer, u32)>,
}

impl Ended {
    pub fn unfilled(status: Status) -> Self {
        Ended::from(RecvDone { id: 0, status, len: 0, solicited: false })
    }

    /// Returns the completion for an EVD. `charge` is the SRQ's entry that the receive occupies; `None` for the
    /// endpoint's own queue.
    #[inline(always)]
    fn queued(&self, ep: Handle, cookie: u64, charge: Option<OutstandingRecv>) -> Queued {
        let RecvDone { status, len, .. } = self.done;
        let completion = Completion { ep, cookie, len, status, transfer: Transfer::Recv };
        match self.special.filter(|_| matches!(status, Status::Success)) {
            None => Queued::transfer(completion, charge),
            Some((transfer @ Transfer::RecvDatagram, _)) => {
                Queued::transfer(Completion { len: len + LEAD, transfer, ..completion }, charge)
            }
            Some((transfer, extra)) => Queued::extended(Completion { transfer, ..completion }, extra, charge),
        }
    }

    #[inline(always)]
    fn notifies(&self, feed: Feed, quiet: bool) -> bool {
        notifies(feed, quiet, self.done.solicited, self.done.status)
    }
}

impl From<RecvDone> for Ended {
    #[inline(always)]
    fn from(done: RecvDone) -> Self {
        Ended { done, special: None }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub soft: bool,
    pub hard: bool,
}

/// The part of an endpoint under the lock on its receives.
pub(crate) struct Receives<T: Transport> {
    pub life: u64,
    /// Set in state DISCONNECTED, where a receive is flushed when it is posted.
    pub flushes_posts: bool,
    pub connected: bool,
    pub evd: Option<Use<Evd<T>>>,
    pub qp: Option<Arc<T::Qp>>,
    pub datagram_qp: Option<Arc<T::DatagramQp>>,
    pub zone: Option<u32>,
    /// Receives of the endpoint's own queue, in posting order.
    pub posted: Fifo<Posted>,
    /// Number of receives that the transport has taken for messages, the oldest of `posted`
    /// ([`Transport::TAKES_RECEIVES`]).
    pub given: usize,
    /// All but the first segments of each stored receive that the transport has not taken.
    pub others: Fifo<Segment>,
    pub early: VecDeque<Early>,
    pub next_id: RecvId,
    /// Buffers of the SRQ that messages for this endpoint took, and whose completion is not queued.
    pub taken: Vec<RecvId>,
    /// Completions that arrived before the connection event, and wait for it.
    pub held: Vec<Ended>,
    pub max_segments: usize,
    pub feed: Feed,
    soft_limit: Option<usize>,
    hard_limit: Option<usize>,
    soft_armed: bool,
    /// `true` if the soft watermark is armed, or a hard watermark is set.
    pub watched: bool,
    pub received: Tallies,
    /// Number of receives that were flushed when they were posted. `next_id` does not count them.
    pub flushed: u64,
}

impl<T: Transport> Receives<T> {
    pub fn new(evd: Option<Use<Evd<T>>>, srq: bool) -> std::result::Result<Self, NoMemory> {
        Ok(Receives {
            life: 1,
            flushes_posts: false,
            connected: false,
            evd,
            qp: None,
            datagram_qp: None,
            zone: None,
            posted: Fifo::default(),
            given: 0,
            others: Fifo::default(),
            early: VecDeque::new(),
            next_id: 0,
            // With this room, taking a buffer rarely allocates, because few are taken concurrently.
            taken: memory::vec(if srq { 64 } else { 0 })?,
            held: Vec::new(),
            max_segments: 0,
            feed: Feed::Threshold,
            soft_limit: None,
            hard_limit: None,
            soft_armed: false,
            watched: false,
            received: Tallies::default(),
            flushed: 0,
        })
    }

    /// Checks flags, endpoint and number of segments, in this order. Returns the zone for the segments.
    pub fn zone_for(&self, completion: CompletionFlags, segments: usize) -> Result<u32> {
        let quiet = completion == CompletionFlags::UNSIGNALLED && matches!(self.feed, Feed::Unsignalled);
        if !completion.is_empty() && !quiet {
            return Err(Error::InvalidParameter(Arg::Flags));
        }
        let zone = self.zone.filter(|_| self.evd.is_some()).ok_or(Error::NOT_READY)?;
        if segments > self.max_segments { Err(Error::InvalidParameter(Arg::SegmentCount)) } else { Ok(zone) }
    }

    /// Stores a receive until there is a queue pair. Returns `false`, because no message can wait for the receive.
    #[cold]
    pub fn keep_early<S: SegmentList + ?Sized>(&mut self, id: RecvId, segments: &S) -> Result<bool> {
        self.early.room(1)?;
        let mut kept = memory::vec(segments.count())?;
        kept.extend((0..segments.count()).map(|at| segments.segment(at)));
        self.early.push_back(Early { id, segments: kept.into_boxed_slice() });
        Ok(false)
    }

    /// Resets `given` and `others`: the transport has taken no receive, and no segments are stored.
    pub fn take_back(&mut self) {
        self.given = 0;
        while self.others.pop().is_some() {}
    }

    pub fn enter(&mut self, state: EpState) {
        self.early.clear();
        self.connected = matches!(state, EpState::Connected | EpState::DisconnectPending);
        self.flushes_posts = state == EpState::Disconnected;
    }

    pub fn detach(&mut self) {
        if let Some(evd) = self.evd.take() {
            evd.remove_feed(self.feed, false);
        }
    }

    /// Queues the completion of a receive. `quiet` is `true` if the poster requested no notification event.
    #[inline(always)]
    pub fn complete(&mut self, ep: Handle, cookie: u64, ended: &Ended, quiet: bool, charge: Option<OutstandingRecv>) {
        self.note_end(ep, cookie, ended);
        if let Some(evd) = &self.evd {
            evd.push(|| ended.queued(ep, cookie, charge), || ended.notifies(self.feed, quiet));
        }
    }

    /// Completes a receive of [`Early`] with an error, because a later check of its memory has failed.
    pub fn refuse(&mut self, ep: Handle, id: RecvId) {
        if let Some((cookie, _)) = self.remove(id) {
            self.complete(ep, cookie, &Ended::unfilled(Status::LocalProtection), false, None);
        }
    }

    #[inline(always)]
    fn note_end(&mut self, ep: Handle, cookie: u64, ended: &Ended) {
        match ended.done.status {
            Status::Success => {
                self.received.count(ended.special.map_or(Transfer::Recv, |(transfer, _)| transfer), ended.done.len)
            }
            Status::Flushed => {}
            status => tell_failed(ep, cookie, status),
        }
    }

    /// Stores the segments of receive `id`, which was posted before the queue pair existed. Called in posting order.
    pub fn keep_segments(&mut self, id: RecvId, segments: &[Segment]) {
        if let Some(posted) = self.posted.find_mut(|posted| posted.id == id) {
            posted.count = segments.len();
            posted.first = segments.first().copied().unwrap_or_default();
            self.keep_others(segments);
        }
    }

    pub fn keep_others(&mut self, segments: &[Segment]) {
        segments.iter().skip(1).for_each(|&segment| self.others.add(segment));
    }

    /// Takes the oldest receive that the transport has not taken. Returns `false` if there is none, or if it is shorter
    /// than `least` bytes.
    pub fn take(&mut self, taken: &mut Taken, least: u64) -> bool {
        let Some(&Posted { id, count, first, .. }) = self.posted.get(self.given) else { return false };
        taken.set(id, count, first, &self.others);
        if taken.capacity < least {
            return false;
        }
        self.given += 1;
        for _ in 1..count {
            self.others.pop();
        }
        true
    }

    /// Removes the completed receive `id`, and returns its cookie and [`Posted::quiet`]. Returns `None` unless the
    /// receive is the oldest.
    #[inline(always)]
    pub fn take_oldest(&mut self, id: RecvId) -> Option<(u64, bool)> {
        let Some(oldest) = self.posted.oldest().filter(|oldest| oldest.value().id == id) else {
            out_of_order(id);
            return None;
        };
        let &Posted { cookie, quiet, .. } = oldest.value();
        oldest.skip();
        self.given = self.given.saturating_sub(1);
        Some((cookie, quiet))
    }

    /// Like [`Receives::take_oldest`], but the receive need not be the oldest.
    pub fn remove(&mut self, id: RecvId) -> Option<(u64, bool)> {
        if self.posted.front().is_some_and(|oldest| oldest.id == id) {
            return self.take_oldest(id);
        }
        self.posted.remove(|posted| posted.id == id).map(|posted| (posted.cookie, posted.quiet))
    }

    #[inline(always)]
    pub fn give_back(&mut self, id: RecvId) {
        if let Some(at) = self.taken.iter().position(|&taken| taken == id) {
            self.taken.swap_remove(at);
        }
    }

    pub fn buffers(&self) -> usize {
        self.posted.len() + self.taken.len()
    }

    pub fn set_watermarks(&mut self, soft: Watermark, hard: Watermark) {
        self.soft_limit = soft.limit();
        self.soft_armed = self.soft_limit.is_some();
        self.set_hard_watermark(hard);
    }

    /// Sets the hard watermark. The soft watermark stays armed or disarmed.
    pub fn set_hard_watermark(&mut self, hard: Watermark) {
        self.hard_limit = hard.limit();
        self.watched = self.soft_armed || self.hard_limit.is_some();
    }

    /// Returns the exceeded watermarks: the soft one once per arming, the hard one only while connected.
    pub fn watermarks_passed(&mut self) -> Passed {
        if self.watched { self.compare() } else { Passed::default() }
    }

    fn compare(&mut self) -> Passed {
        let buffers = self.buffers();
        let soft = self.soft_armed && self.soft_limit.is_some_and(|soft| buffers > soft);
        self.soft_armed &= !soft;
        self.watched = self.soft_armed || self.hard_limit.is_some();
        let hard = self.connected && self.hard_limit.is_some_and(|hard| buffers > hard);
        Passed { soft, hard }
    }
}

#[cold]
fn tell_failed(ep: Handle, cookie: u64, status: Status) {
    log::debug!(target: COMPLETION, "endpoint {ep}: a receive with cookie {cookie:#x} ends: {status}");
}

#[cold]
fn out_of_order(id: RecvId) {
    log::error!("endpoint: the transport completed receive {id} out of order");
}
