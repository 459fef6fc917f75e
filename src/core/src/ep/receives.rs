//! The receives of an endpoint: the state that posting and completing them needs, and the watermarks on them.

use std::collections::VecDeque;
use std::sync::Arc;

use host::diagnostics::COMPLETION;
use host::memory::{self, NoMemory, Room};

use crate::counters::{Specials, Tallies};
use crate::ep::attr::Watermark;
use crate::ep::endpoint::not_ready;
use crate::ep_state::EpState;
use crate::error::{Arg, Error, Result};
use crate::evd::{Evd, Queued};
use crate::event::{Completion, CompletionFlags, Extended, Feed, Status, Transfer, notifies};
use crate::fifo::Fifo;
use crate::lmr_table::{LocalSegment, SegmentList};
use crate::slab::Handle;
use crate::srq_accounting::OutstandingRecv;
use crate::transport::{LEAD, RecvDone, RecvId, Segment, Special, Taken, Transport};
use crate::users::Use;

/// A receive of the endpoint's own queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub id: RecvId,
    pub cookie: u64,
    /// Whether its completion is not announced.
    pub quiet: bool,
    /// The number of its segments, and the first one: most receives have no other. 0 if the transport keeps them.
    pub count: usize,
    pub first: Segment,
}

/// The segments of a receive that waits for the queue pair to be made.
pub(crate) struct Early {
    pub id: RecvId,
    pub segments: Box<[LocalSegment]>,
}

/// A receive that has ended.
#[derive(Clone, Copy)]
pub(crate) struct Ended {
    pub done: RecvDone,
    /// What its message has brought beside its bytes.
    pub special: Option<Special>,
}

impl Ended {
    /// One that the core ends itself, with this status.
    pub fn unfilled(status: Status) -> Self {
        Ended { done: RecvDone { id: 0, status, len: 0, solicited: false }, special: None }
    }

    /// Its completion. `charge` is that of a buffer of a shared queue.
    #[inline(always)]
    fn queued(&self, ep: Handle, cookie: u64, charge: Option<OutstandingRecv>) -> Queued {
        let RecvDone { status, len, .. } = self.done;
        let completion = Completion { ep, cookie, len, status, transfer: Transfer::Recv };
        match self.special {
            Some(Special::Immediate(value)) if matches!(status, Status::Success) => {
                Queued::extended(completion, Extended::RecvImmediate, value, charge)
            }
            Some(Special::Invalidated(key)) if matches!(status, Status::Success) => {
                Queued::extended(completion, Extended::RecvInvalidated, key, charge)
            }
            Some(Special::Datagram) if matches!(status, Status::Success) => {
                let completion = Completion { len: len + LEAD, ..completion };
                Queued::extended(completion, Extended::RecvDatagram, 0, charge)
            }
            _ => Queued::transfer(completion, charge),
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

/// The watermarks that were passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub soft: bool,
    pub hard: bool,
}

/// The part of an endpoint that is behind the lock on its receives.
pub(crate) struct Receives<T: Transport> {
    pub life: u64,
    /// Set in state DISCONNECTED: posted receives are flushed at once.
    pub flush: bool,
    pub connected: bool,
    pub evd: Option<Use<Evd<T>>>,
    pub qp: Option<Arc<T::Qp>>,
    pub zone: Option<u32>,
    /// Receives of the endpoint's own queue, in posting order.
    pub posted: Fifo<Posted>,
    /// How many of them, the oldest ones, the transport has taken ([`Transport::TAKES_RECEIVES`]).
    pub given: usize,
    /// The segments behind the first one of the others.
    pub others: Fifo<Segment>,
    /// Segments of those posted before there is a queue pair.
    pub early: VecDeque<Early>,
    pub next_id: RecvId,
    /// Buffers taken from the shared queue and not complete.
    pub taken: Vec<RecvId>,
    /// Completions that came before the connection was announced.
    pub held: Vec<Ended>,
    pub capacity: usize,
    pub max_segments: usize,
    pub feed: Feed,
    soft_limit: Option<usize>,
    hard_limit: Option<usize>,
    soft_armed: bool,
    /// Whether a watermark can be passed: the soft one is armed, or there is a hard one.
    pub watched: bool,
    /// Messages that have filled receives.
    pub received: Tallies,
    /// Those of them that brought more than their bytes.
    pub specials: Specials,
    /// Receives that were flushed as they were posted, and have no number.
    pub flushed: u64,
}

impl<T: Transport> Receives<T> {
    pub fn new(evd: Option<Use<Evd<T>>>, srq: bool) -> std::result::Result<Self, NoMemory> {
        Ok(Receives {
            life: 1,
            flush: false,
            connected: false,
            evd,
            qp: None,
            zone: None,
            posted: Fifo::default(),
            given: 0,
            others: Fifo::default(),
            early: VecDeque::new(),
            next_id: 0,
            // Few buffers are taken at a time, but taking one must not allocate.
            taken: memory::vec(if srq { 64 } else { 0 })?,
            held: Vec::new(),
            capacity: 0,
            max_segments: 0,
            feed: Feed::Threshold,
            soft_limit: None,
            hard_limit: None,
            soft_armed: false,
            watched: false,
            received: Tallies::default(),
            specials: Specials::default(),
            flushed: 0,
        })
    }

    /// Whether a receive of this many segments with these flags can be posted, apart from its memory.
    pub fn admits(&self, segments: usize, completion: CompletionFlags) -> bool {
        let flags = completion.is_empty()
            || (completion == CompletionFlags::UNSIGNALLED && matches!(self.feed, Feed::Unsignalled));
        flags && self.evd.is_some() && segments <= self.max_segments
    }

    /// The reason why a receive is not admitted, or there is no zone for it.
    #[cold]
    pub fn refusal(&self, completion: CompletionFlags) -> Error {
        let quiet = completion == CompletionFlags::UNSIGNALLED && matches!(self.feed, Feed::Unsignalled);
        if !completion.is_empty() && !quiet {
            Error::InvalidParameter(Arg::Flags)
        } else if self.zone.is_none() || self.evd.is_none() {
            not_ready()
        } else {
            Error::InvalidParameter(Arg::SegmentCount)
        }
    }

    /// Keeps a receive until there is a queue pair. No message can wait for it yet, which is what this returns.
    ///
    /// # Errors
    /// [`crate::error::Resource::Memory`].
    #[cold]
    pub fn keep_early<S: SegmentList + ?Sized>(&mut self, id: RecvId, segments: &S) -> Result<bool> {
        self.early.room(1)?;
        let mut kept = memory::vec(segments.count())?;
        kept.extend((0..segments.count()).map(|at| segments.segment(at)));
        self.early.push_back(Early { id, segments: kept.into_boxed_slice() });
        Ok(false)
    }

    pub fn enter(&mut self, state: EpState) {
        self.connected = matches!(state, EpState::Connected | EpState::DisconnectPending);
        self.flush = state == EpState::Disconnected;
    }

    /// Releases the dispatcher.
    pub fn detach(&mut self) {
        if let Some(evd) = self.evd.take() {
            evd.remove_feed(self.feed, false);
        }
    }

    /// Queues the completion of a receive. `quiet` is the choice of its poster, and `charge` that of a buffer of a shared queue.
    #[inline(always)]
    pub fn complete(&mut self, ep: Handle, cookie: u64, ended: &Ended, quiet: bool, charge: Option<OutstandingRecv>) {
        self.note_end(ep, cookie, ended);
        if let Some(evd) = &self.evd {
            evd.push(|| ended.queued(ep, cookie, charge), || ended.notifies(self.feed, quiet));
        }
    }

    /// Completes a receive that the transport does not get, because its memory is gone or of another zone.
    pub fn refuse(&mut self, ep: Handle, id: RecvId) {
        if let Some(posted) = self.posted.remove(|posted| posted.id == id) {
            self.complete(ep, posted.cookie, &Ended::unfilled(Status::LocalProtection), false, None);
        }
    }

    /// Counts a message that has filled a receive, or logs a receive that has failed.
    #[inline(always)]
    fn note_end(&mut self, ep: Handle, cookie: u64, ended: &Ended) {
        match ended.done.status {
            Status::Success => self.received.count(Transfer::Recv, ended.done.len),
            Status::Flushed => {}
            status => tell_failed(ep, cookie, status),
        }
    }

    /// Keeps the segments of the receive `id`, which was posted before there was a queue pair. Such receives come in their
    /// order.
    pub fn keep_segments(&mut self, id: RecvId, segments: &[Segment]) {
        if let Some(posted) = self.posted.find_mut(|posted| posted.id == id) {
            posted.count = segments.len();
            posted.first = segments.first().copied().unwrap_or_default();
            self.keep_others(segments);
        }
    }

    /// Keeps the segments of a receive that is posted, all but the first one.
    pub fn keep_others(&mut self, segments: &[Segment]) {
        segments.iter().skip(1).for_each(|&segment| self.others.add(segment));
    }

    /// Gives the transport the oldest receive that it has not taken yet; false if there is none.
    pub fn take(&mut self, taken: &mut Taken) -> bool {
        let Some(&Posted { id, count, first, .. }) = self.posted.get(self.given) else { return false };
        self.given += 1;
        taken.set(id, count, first, || self.others.pop());
        true
    }

    /// Takes the oldest receive of the endpoint's own queue, which the transport has ended. Returns its cookie, and whether its
    /// poster asked for quiet.
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

    /// Notes that a buffer taken from the shared queue is complete.
    #[inline(always)]
    pub fn give_back(&mut self, id: RecvId) {
        if let Some(at) = self.taken.iter().position(|&taken| taken == id) {
            self.taken.swap_remove(at);
        }
    }

    /// The buffers that the endpoint has.
    pub fn buffers(&self) -> usize {
        self.posted.len() + self.taken.len()
    }

    /// Sets both watermarks and arms the event of the soft one.
    pub fn set_watermarks(&mut self, soft: Watermark, hard: Watermark) {
        self.soft_limit = soft.limit();
        self.hard_limit = hard.limit();
        self.soft_armed = self.soft_limit.is_some();
        self.watched = self.soft_armed || self.hard_limit.is_some();
    }

    /// The watermarks that the buffers exceed: the soft one once for each arming, the hard one only while there is a
    /// connection to break.
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
    log::error!("a transport completed receive {id} out of order");
}
