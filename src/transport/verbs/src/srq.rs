//! Shared receive queues: a queue of the device, and a backlog for further receives.
//!
//! On iWARP there is no backlog, because a message without a receive ends its connection. If such a device cannot
//! resize a queue, the queue is created with spare room, and larger resizes fail.
//!
//! While there is a backlog, the device's SRQ limit event triggers the refill, because possibly no thread polls.
//! `DAT_VERBS_SRQ_BACKLOG=1` forces a backlog for tests. If the device rejects a receive of the backlog, the progress
//! thread retries every 20 ms. Once the device has rejected receives for five seconds and its queue is empty, or once
//! it reports a failed queue, the connections on the queue end, and its UD queue pairs recover. The backlog stays for
//! these and for later connections.
//!
//! Soft-RoCE of Linux 6.12 and 7.3 loses the receive of an interrupted message without a completion. That receive stays
//! counted as posted, because no call shows which receive is lost (docs/dev/kernels.md).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{Recv, RecvQueue, SharedReceives};
use host::lock::Mutex;
use host::memory;

use crate::Verbs;
use crate::channels;
use crate::cq::{CompletionQueue, Reservation};
use crate::device::Device;
use crate::memory::Zone;
use crate::qp::{small, wr};
use crate::status::{exhausted, refused};
use crate::sys::qp::RawSrq;
use crate::work_queue::Refusals;

pub struct SharedQueue {
    pub(crate) raw: Arc<RawSrq>,
    device: Arc<Device>,
    /// Set if the device must have all receives, so there is no backlog.
    strict: bool,
    /// Locked during a resize, and while completion queue entries are reserved for the current size.
    sizing: Mutex<()>,
    state: Mutex<SrqState>,
}

struct SrqState {
    /// Maximum of `room`, because each receive needs an entry in a completion queue.
    most: usize,
    /// Usable length of the device's queue.
    room: usize,
    /// Number of receives on the device.
    posted: usize,
    backlog: RecvQueue,
    refusals: Refusals,
    segments: usize,
    /// Core's watermark: the number of receives below which core needs an event; 0 for none.
    limit: usize,
    /// Set if the device's queue cannot be resized.
    fixed: bool,
    /// Set after the device's limit event, until the receives that caused the event have been reported to core.
    due: bool,
    /// Set if receives of the backlog were posted to the device since its last limit event.
    fed: bool,
    users: usize,
}

/// The attachment of a queue pair to an SRQ.
pub struct Attachment {
    pub(crate) queue: Arc<SharedQueue>,
    ended: AtomicBool,
}

impl Attachment {
    /// Detaches the queue pair, which takes no more buffers.
    pub fn end(&self) {
        if !self.ended.swap(true, Ordering::AcqRel) {
            self.queue.state.lock().users -= 1;
        }
    }
}

impl Drop for Attachment {
    fn drop(&mut self) {
        self.end();
    }
}

impl Drop for SharedQueue {
    fn drop(&mut self) {
        let address = self.raw.address();
        for cq in channels::each(&self.device.cqs) {
            cq.forget_shared(address);
        }
    }
}

impl SharedReceives<Verbs> for Arc<SharedQueue> {
    fn create(verbs: &Verbs, zone: &Zone, depth: usize, segments: usize) -> Result<Self> {
        let device = &verbs.device;
        device.check_device()?;
        let most = device.limits.shared_recvs();
        let strict = !device.limits.repeats();
        let force_backlog = device.force_backlog && !strict;
        let fixed = force_backlog || !device.limits.srq_resize;
        let make = |depth: usize| RawSrq::new(&zone.pd, small(depth), small(segments));
        let made = if fixed && strict {
            // Such a queue can never be resized, so it gets spare room. A receive takes 112 bytes on soft-iWARP, and 32
            // in each completion queue.
            let long = depth.saturating_mul(4).min(depth.saturating_add(16 << 10)).max(256);
            make(long.min(device.attributes.max_recvs_per_srq)).or_else(|_| make(depth))
        } else {
            make(depth.min(most).min(device.attributes.max_recvs_per_srq.max(1)))
        };
        let (raw, room) = made.map_err(exhausted(Resource::Srq))?;
        let room = if force_backlog { depth.min(most) } else { (room as usize).min(most) };
        let mut state = SrqState {
            most,
            room,
            posted: 0,
            backlog: RecvQueue::default(),
            refusals: Refusals::default(),
            segments,
            limit: 0,
            fixed,
            due: false,
            fed: false,
            users: 0,
        };
        state.reserve(depth)?;
        let (device, state) = (device.clone(), Mutex::new(state));
        let queue = memory::arc(SharedQueue { raw, device, strict, sizing: Mutex::default(), state })?;
        channels::add(&mut queue.device.srqs.lock(), &queue)?;
        Ok(queue)
    }

    #[inline(always)]
    fn post(&self, verbs: &Verbs, recv: &Recv<'_>) -> Result<bool> {
        // `false`: core need not resume a message. Without a receive, the sender's device repeats it, or on iWARP the
        // connection ends.
        SharedQueue::post(self, &verbs.padded(recv)).map(|()| false)
    }

    /// Fails with [`Resource::Srq`] if the device must have all receives but lacks room.
    fn resize(&self, _verbs: &Verbs, depth: usize) -> Result<()> {
        let _sizing = self.sizing.lock();
        let wanted = {
            let state = self.state.lock();
            Some(depth.min(state.most)).filter(|wanted| !state.fixed && *wanted > state.room)
        };
        if let Some(wanted) = wanted {
            self.grow(wanted);
        }
        let mut state = self.state.lock();
        if self.strict && depth > state.room {
            log::warn!(
                "shared receive queue: cannot resize from {} to {depth} receives: the device does not support this",
                state.room
            );
            return Err(Error::InsufficientResources(Resource::Srq));
        }
        state.reserve(depth)
    }

    fn arm_limit(&self, verbs: &Verbs, limit: usize) -> Result<()> {
        {
            let mut state = self.state.lock();
            let before = std::mem::replace(&mut state.limit, limit);
            if let Err(error) = self.try_limit(&state) {
                state.limit = before;
                return Err(exhausted(Resource::Srq)(error));
            }
            state.due = false;
        }
        if limit > 0 {
            // The device raises no event for receives that it consumed before, so the progress thread polls for these.
            verbs.device.command(|work| work.drain = true);
        }
        Ok(())
    }

    fn kick(&self, _has_buffers: impl Fn() -> bool) {}
}

impl SharedQueue {
    /// Attaches a queue pair.
    pub fn attach(self: &Arc<Self>) -> Attachment {
        self.state.lock().users += 1;
        Attachment { queue: self.clone(), ended: AtomicBool::new(false) }
    }

    #[inline(always)]
    pub fn post(&self, recv: &Recv<'_>) -> Result<()> {
        let mut state = self.state.lock();
        if self.takes(&state) && state.backlog.is_empty() {
            match self.raw.post(wr::recv(recv.id), recv.segments) {
                Ok(()) => state.posted += 1,
                Err(error) => return Err(refused(state, error)),
            }
            return Ok(());
        }
        self.post_later(&mut state, recv);
        Ok(())
    }

    #[cold]
    #[inline(never)]
    fn post_later(&self, state: &mut SrqState, recv: &Recv<'_>) {
        state.backlog.push(recv);
        if state.backlog.len() == 1 {
            // While receives wait, the device must raise an event before its queue is empty, for the refill.
            self.apply_limit(state);
        }
    }

    /// Returns whether a receive can be posted to the device now.
    #[inline]
    fn takes(&self, state: &SrqState) -> bool {
        state.posted < state.room || self.strict
    }

    #[inline]
    pub fn consumed(&self) {
        let mut state = self.state.lock();
        state.posted = state.posted.saturating_sub(1);
        if !state.backlog.is_empty() || state.posted < state.limit {
            self.feed(&mut state);
        }
    }

    #[cold]
    fn feed(&self, state: &mut SrqState) {
        if state.backlog.is_empty() && state.posted < state.limit {
            // Core counts receives itself, and now raises the event of its watermark. So the device's event is not
            // needed.
            (state.limit, state.due) = (0, false);
        }
        while self.takes(state) {
            match state.backlog.pop_if(|next| self.raw.post(wr::recv(next.id), next.segments())) {
                Ok(true) => {}
                Ok(false) => return,
                Err(error) => {
                    if state.refusals.count(Instant::now()) {
                        log::warn!("shared receive queue: the device rejects a receive, which waits: {error}");
                    }
                    return;
                }
            }
            state.refusals = Refusals::default();
            state.posted += 1;
            state.fed = true;
            if state.backlog.is_empty() {
                self.apply_limit(state);
            }
        }
    }

    /// Reserves entries of `cq` for this queue's receives, and `count` for a queue pair's other work.
    pub fn reserve(&self, cq: &Arc<CompletionQueue>, count: usize, solicited: bool) -> Result<Reservation> {
        let _sizing = self.sizing.lock();
        cq.reserve(&self.device, count, Some((self.raw.address(), self.room())), solicited)
    }

    /// Enlarges the device's queue to `room` receives, if all its completion queues have room for them.
    fn grow(&self, room: usize) {
        let address = self.raw.address();
        // Before the resize, so that no completion queue is ever too short.
        if !channels::each(&self.device.cqs).all(|cq| cq.enlarge_shared(&self.device, address, room)) {
            log::info!(target: host::diagnostics::SRQ, "shared receive queue: cannot enlarge: a completion queue has no room");
            return;
        }
        let mut state = self.state.lock();
        match self.raw.resize(small(room)) {
            Ok(()) => {
                state.room = room;
                self.feed(&mut state);
            }
            Err(error) => {
                log::info!(target: host::diagnostics::SRQ, "shared receive queue: cannot resize on the device: {error}");
                state.fixed = !self.strict;
            }
        }
    }

    /// Handles the device's limit event. Returns whether receives that caused the event are still unreported.
    pub fn limit_reached(&self) -> bool {
        let mut state = self.state.lock();
        if !state.backlog.is_empty() || state.limit > 0 {
            // The device counts a receive when its message begins, and reports it when the message is complete.
            state.due = true;
            state.fed = false;
        }
        self.limit_settled(&mut state)
    }

    /// Returns whether receives that caused the limit event are still unreported.
    pub fn limit_pending(&self) -> bool {
        self.limit_settled(&mut self.state.lock())
    }

    fn limit_settled(&self, state: &mut SrqState) -> bool {
        if state.limit > 0 && state.posted + state.backlog.len() < state.limit {
            // Core knows from completions that fewer receives than its watermark are left, and needs no event.
            state.limit = 0;
            state.due = false;
        }
        if state.backlog.is_empty() {
            state.due &= state.limit > 0;
        } else if !state.due || state.fed {
            state.due = false;
            self.apply_limit(state);
        }
        state.due
    }

    fn apply_limit(&self, state: &SrqState) {
        if let Err(error) = self.try_limit(state) {
            log::warn!("shared receive queue: cannot set its limit: {error}");
        }
    }

    fn try_limit(&self, state: &SrqState) -> std::io::Result<()> {
        let limit = if state.backlog.is_empty() { state.limit } else { state.room.div_ceil(2).max(1) };
        self.raw.set_limit(small(limit.min(state.room)))
    }

    /// Retries rejected receives. Returns whether the connections must end: the device's queue is empty, and it has
    /// rejected receives for too long.
    pub fn try_again(&self) -> bool {
        let mut state = self.state.lock();
        if !state.refusals.any() {
            return false;
        }
        self.feed(&mut state);
        state.posted == 0 && state.refusals.are_hopeless(Instant::now())
    }

    pub fn is_starving(&self) -> bool {
        let state = self.state.lock();
        !state.backlog.is_empty() && state.users > 0
    }

    pub fn room(&self) -> usize {
        self.state.lock().room
    }
}

impl SrqState {
    /// Reserves memory for the backlog of an SRQ with `depth` receives, so that posts never allocate.
    fn reserve(&mut self, depth: usize) -> Result<()> {
        self.backlog.reserve(depth.saturating_sub(self.room), self.segments)
    }
}
