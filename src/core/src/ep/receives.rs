//! The receives of an endpoint: the state that posting and completing them needs, and the watermarks on them.

use std::collections::VecDeque;
use std::hint::cold_path;
use std::sync::Arc;

use host::diagnostics::COMPLETION;
use host::memory::{self, NoMemory, Room};

use crate::books::Charge;
use crate::counters::Tallies;
use crate::ep::attr::Watermark;
use crate::ep::endpoint::not_ready;
use crate::ep_state::State;
use crate::error::{Arg, Error, Result};
use crate::evd::{Evd, Queued};
use crate::event::{Completion, CompletionFlags, Extended, Feed, Status, Transfer, notifies};
use crate::fifo::Fifo;
use crate::lmr_table::{LmrTable, LocalSegment, SegmentList};
use crate::slab::Handle;
use crate::transport::{Delivery, Place, RecvDone, RecvId, Segment, Special, Taken, Transport};
use crate::users::Use;

/// A receive of the endpoint's own queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posted {
    pub id: RecvId,
    pub cookie: u64,
    /// Whether its completion is not announced.
    pub quiet: bool,
    /// The number of its segments, and the first one: most receives have no other. 0 if the transport keeps them.
    pub count: usize,
    pub first: Segment,
}

/// The segments of a receive that waits for the queue pair to be made.
pub(super) struct Early {
    pub id: RecvId,
    pub segments: Box<[LocalSegment]>,
}

/// A receive that has ended.
#[derive(Clone, Copy)]
pub(super) struct Ended {
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
    fn queued(&self, ep: Handle, cookie: u64, charge: Option<Charge>) -> Queued {
        let RecvDone { status, len, .. } = self.done;
        let completion = Completion { ep, cookie, len, status, transfer: Transfer::Recv };
        match self.special {
            Some(Special::Immediate(value)) if matches!(status, Status::Success) => {
                Queued::extended(completion, Extended::RecvImmediate, value, charge)
            }
            Some(Special::Invalidated(key)) if matches!(status, Status::Success) => {
                Queued::extended(completion, Extended::RecvInvalidated, key, charge)
            }
            _ => Queued::transfer(completion, charge),
        }
    }

    #[inline(always)]
    fn notifies(&self, feed: Feed, quiet: bool) -> bool {
        notifies(feed, quiet, self.done.solicited, self.done.status)
    }
}

impl From<&RecvDone> for Ended {
    #[inline(always)]
    fn from(&done: &RecvDone) -> Self {
        Ended { done, special: None }
    }
}

/// The watermarks that were passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Passed {
    pub soft: bool,
    pub hard: bool,
}

/// The part of an endpoint that is behind the lock on its receives.
pub(super) struct Receives<T: Transport> {
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
        })
    }

    /// Whether a receive of so many segments with these flags can be posted, as far as its memory is not looked at.
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

    pub fn enter(&mut self, state: State) {
        self.connected = matches!(state, State::Connected | State::DisconnectPending);
        self.flush = state == State::Disconnected;
    }

    /// Lets go of the dispatcher.
    pub fn detach(&mut self) {
        if let Some(evd) = self.evd.take() {
            evd.remove_feed(self.feed);
        }
    }

    /// Queues the completion of a receive. `quiet` is the choice of its poster, and `charge` that of a buffer of a shared queue.
    #[inline(always)]
    pub fn complete(&mut self, ep: Handle, cookie: u64, ended: &Ended, quiet: bool, charge: Option<Charge>) {
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

    /// Counts a message that has filled a receive, or tells of a receive that has failed.
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
        for &segment in segments.iter().skip(1) {
            if let Err(segment) = self.others.push(segment) {
                self.others.grow(segment);
            }
        }
    }

    /// Puts a message into the oldest receive, and completes it: see [`EndpointSink::deliver`].
    ///
    /// [`EndpointSink::deliver`]: crate::transport::EndpointSink::deliver
    #[inline(always)]
    pub fn deliver<'s>(
        &mut self,
        ep: Handle,
        len: u64,
        solicited: bool,
        place: impl Place<'s>,
        lmrs: &LmrTable,
    ) -> Delivery {
        let (Some(evd), 0) = (&self.evd, self.given) else { return Delivery::Other };
        let Some(oldest) = self.posted.oldest() else { return Delivery::Other };
        let &Posted { id, count: 1, first, cookie, quiet } = oldest.value() else { return Delivery::Other };
        if len > first.len {
            return Delivery::TooLong(id);
        }
        // SAFETY: the segments of a receive were checked when it was posted.
        let checked = place.section().and_then(|section| unsafe { lmrs.recheck(&first, section) });
        if !place.place(&first, checked) {
            return Delivery::NoMemory(id);
        }
        oldest.skip();
        self.received.count(Transfer::Recv, len);
        let status = Status::Success;
        let completion = || Completion { ep, cookie, len, status, transfer: Transfer::Recv };
        evd.push(|| Queued::transfer(completion(), None), || notifies(self.feed, quiet, solicited, status));
        Delivery::Done
    }

    /// Gives the transport the oldest receive that it has not taken yet; false if there is none.
    pub fn take(&mut self, taken: &mut Taken) -> bool {
        let Some(&Posted { id, count, first, .. }) = self.posted.get(self.given) else { return false };
        self.given += 1;
        taken.begin(id);
        if count > 0 {
            taken.add(first);
        }
        for _ in 1..count {
            let Some(segment) = self.others.pop() else { break };
            taken.add(segment);
        }
        true
    }

    /// Takes the oldest receive of the endpoint's own queue, which the transport has ended. Returns its cookie, and whether its
    /// poster asked for quiet.
    #[inline(always)]
    fn take_oldest(&mut self, id: RecvId) -> Option<(u64, bool)> {
        let Some(&Posted { cookie, quiet, .. }) = self.posted.front().filter(|posted| posted.id == id) else {
            cold_path();
            out_of_order(id);
            return None;
        };
        self.posted.skip();
        self.given = self.given.saturating_sub(1);
        Some((cookie, quiet))
    }

    /// Queues the completion of a receive of the endpoint's own queue that the transport has ended.
    #[inline(always)]
    pub fn finish_one(&mut self, ep: Handle, ended: &Ended) {
        if let Some((cookie, quiet)) = self.take_oldest(ended.done.id) {
            self.complete(ep, cookie, ended, quiet, None);
        }
    }

    /// Does what [`Receives::finish_one`] does, for several receives in order.
    #[inline(never)]
    pub fn finish_own(&mut self, ep: Handle, done: &[RecvDone]) {
        // An endpoint with receives has a dispatcher for them.
        let Some(evd) = self.evd.take() else { return };
        evd.push_all(|batch| {
            for done in done {
                if let Some((cookie, quiet)) = self.take_oldest(done.id) {
                    let ended = Ended::from(done);
                    self.note_end(ep, cookie, &ended);
                    batch.add(ended.queued(ep, cookie, None), ended.notifies(self.feed, quiet));
                }
            }
        });
        self.evd = Some(evd);
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
    log::debug!(target: COMPLETION, "endpoint {ep}: a receive with cookie {cookie:#x} ends: {status:?}");
}

#[cold]
fn out_of_order(id: RecvId) {
    log::error!("a transport completed receive {id} out of order");
}
