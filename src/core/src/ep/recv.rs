//! Posting receives, their completions, and the watermarks on them.

use std::sync::Arc;

use crate::ep::{Endpoint, Receives, State, WATERMARK_INFINITE, flags, not_ready};
use crate::error::{Arg, Error, Refusal, Resource, Result};
use crate::evd::Feed;
use crate::event::{AsyncReason, Event, Status, Transfer};
use crate::lmr::LocalSegment;
use crate::slab::Handle;
use crate::srq::{Charge, Srq, check_recv};
use crate::transport::{Poll, Recv, RecvDone, RecvId, Transport, Verdict};

/// A receive of the endpoint's own queue.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Posted {
    pub id: RecvId,
    pub cookie: u64,
    pub quiet: bool,
}

/// The segments of a receive that waits for the queue pair to be made.
pub(crate) struct Early {
    pub id: RecvId,
    pub segments: Box<[LocalSegment]>,
}

/// The buffers that an endpoint has (uDAPL 1.2, dat_ep_recv_query).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvInfo {
    /// Buffers allocated to the endpoint whose completion was not generated.
    pub allocated: usize,
    /// Completions that the endpoint would generate if all messages that it is receiving
    /// were complete.
    pub span: usize,
}

/// What a watermark asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Passed {
    pub soft: bool,
    pub hard: bool,
}

impl<T: Transport> Endpoint<T> {
    /// Posts a receive (uDAPL 1.2, dat_ep_post_recv), in any state; when disconnected it
    /// is flushed at once.
    ///
    /// # Errors
    /// [`Refusal::EndpointHasSrq`], [`Refusal::EndpointNotReady`] without zone or
    /// dispatcher, [`Arg::SegmentCount`], [`Arg::Flags`], the errors of
    /// [`crate::lmr::LmrTable::check`], [`Error::InsufficientResources`] if the
    /// receive queue is full.
    pub fn post_recv(&self, segments: &[LocalSegment], cookie: u64, completion: u32) -> Result<()> {
        if self.srq.is_some() {
            return Err(Error::InvalidState(Refusal::EndpointHasSrq));
        }
        let mut receives = self.receives.lock();
        let quiet = completion & flags::UNSIGNALLED != 0;
        if completion & !flags::UNSIGNALLED != 0 || (quiet && receives.feed != Feed::Unsignalled) {
            return Err(Error::InvalidParameter(Arg::Flags));
        }
        let zone = receives.zone.ok_or_else(not_ready)?;
        if receives.evd.is_none() {
            return Err(not_ready());
        }
        if segments.len() > receives.max_segments {
            return Err(Error::InvalidParameter(Arg::SegmentCount));
        }
        let checked = check_recv(&self.ia, segments, zone)?;
        if receives.flush {
            receives.complete(self.header.handle(), cookie, Status::Flushed, 0, true, None);
            return Ok(());
        }
        if receives.posted.len() >= receives.capacity {
            return Err(Error::InsufficientResources(Resource::Memory));
        }
        let id = receives.next_id;
        let qp = receives.qp.clone();
        match &qp {
            Some(qp) => self.ia.transport().post_recv(qp, &Recv { id, segments: &checked })?,
            None => receives.early.push_back(Early { id, segments: segments.into() }),
        }
        receives.posted.push_back(Posted { id, cookie, quiet });
        receives.next_id += 1;
        let passed = receives.watermarks_passed();
        drop(receives);
        self.act_on(passed);
        if let Some(qp) = qp {
            self.ia.transport().recv_kick(&qp);
        }
        Ok(())
    }

    /// The endpoint took a buffer from its shared queue.
    pub(crate) fn on_recv_taken(&self, life: u64, id: RecvId) -> Verdict {
        let Some(srq) = &self.srq else { return Verdict::Continue };
        srq.taken(id);
        let passed = {
            let mut receives = self.receives.lock();
            if receives.life != life {
                self.flush_late(&receives, srq, id);
                return Verdict::Continue;
            }
            receives.taken.push(id);
            receives.watermarks_passed()
        };
        if passed.soft {
            self.ia.raise(self.header.handle(), AsyncReason::EpSoftHighWatermark);
        }
        if passed.hard { Verdict::Break } else { Verdict::Continue }
    }

    /// A receive is complete.
    pub(crate) fn on_recv_done(&self, life: u64, done: RecvDone) {
        let mut receives = self.receives.lock();
        if receives.life != life {
            if let Some(srq) = &self.srq {
                srq.taken(done.id);
                self.flush_late(&receives, srq, done.id);
            }
        } else if receives.connected {
            self.finish_recv(&mut receives, done);
        } else {
            // The transport is ahead of the event that announces the connection.
            receives.held.push(done);
        }
    }

    /// One of the receives reported so far was announced by its sender.
    pub(crate) fn on_recv_announced(&self, life: u64) {
        let receives = self.receives.lock();
        if receives.life == life
            && let Some(evd) = &receives.evd
        {
            evd.announce();
        }
    }

    /// Completes a buffer that was taken for a connection which had ended: it is the program's again.
    fn flush_late(&self, receives: &Receives<T>, srq: &Srq<T>, id: RecvId) {
        if let Some((cookie, charge)) = srq.complete(id) {
            receives.complete(self.header.handle(), cookie, Status::Flushed, 0, true, Some(charge));
        }
    }

    /// Queues the completions that came before the connection was announced.
    pub(super) fn release_held(&self, receives: &mut Receives<T>) {
        for done in std::mem::take(&mut receives.held) {
            self.finish_recv(receives, done);
        }
    }

    /// Queues the completion of a receive that the transport has ended.
    pub(super) fn finish_recv(&self, receives: &mut Receives<T>, done: RecvDone) {
        let ep = self.header.handle();
        match &self.srq {
            Some(srq) => {
                srq.taken(done.id);
                if let Some(at) = receives.taken.iter().position(|&id| id == done.id) {
                    receives.taken.swap_remove(at);
                }
                let Some((cookie, charge)) = srq.complete(done.id) else { return };
                let announce = receives.feed != Feed::Solicited || done.solicited;
                receives.complete(ep, cookie, done.status, done.len, announce, Some(charge));
            }
            None => {
                let Some(posted) = receives.posted.front().copied().filter(|posted| posted.id == done.id) else {
                    log::error!("a transport completed receive {} out of order", done.id);
                    return;
                };
                receives.posted.pop_front();
                let announce = match receives.feed {
                    Feed::Solicited => done.solicited,
                    _ => !posted.quiet,
                };
                receives.complete(ep, posted.cookie, done.status, done.len, announce, None);
            }
        }
    }

    /// Sets and arms the high watermarks on the buffers of the endpoint
    /// (uDAPL 1.2, dat_ep_set_watermark). -1 switches one off.
    ///
    /// # Errors
    /// [`Arg::Watermark`] for another negative soft one, [`Arg::HardWatermark`] for a
    /// hard one.
    pub fn set_watermark(&self, soft: i32, hard: i32) -> Result<()> {
        if soft < WATERMARK_INFINITE {
            return Err(Error::InvalidParameter(Arg::Watermark));
        }
        if hard < WATERMARK_INFINITE {
            return Err(Error::InvalidParameter(Arg::HardWatermark));
        }
        self.ia.transport().poll(None, Poll::Complete);
        let passed = {
            let mut control = self.control.lock();
            let mut receives = self.receives.lock();
            control.attr.srq_soft_hw = soft;
            if self.srq.is_some() {
                control.attr.max_recv_dtos = hard;
            }
            receives.set_watermarks(soft, hard);
            receives.watermarks_passed()
        };
        self.act_on(passed);
        Ok(())
    }

    /// The buffers that the endpoint has at this moment (uDAPL 1.2, dat_ep_recv_query).
    pub fn recv_query(&self) -> RecvInfo {
        self.ia.transport().poll(None, Poll::Complete);
        let receives = self.receives.lock();
        let allocated = receives.buffers();
        RecvInfo { allocated, span: allocated }
    }

    /// Raises what passed watermarks ask for; called without a lock.
    pub(super) fn act_on(&self, passed: Passed) {
        if passed.soft {
            self.ia.raise(self.header.handle(), AsyncReason::EpSoftHighWatermark);
        }
        if passed.hard {
            self.break_connection();
        }
    }

    /// Completes receives posted before the connection that no longer fit the zone
    /// (uDAPL 1.2, dat_ep_modify, protection zone).
    pub(super) fn recheck_early(&self, receives: &mut Receives<T>) {
        let zone = receives.zone;
        let mut failed = Vec::new();
        receives.early.retain(|early| {
            let fits = early
                .segments
                .iter()
                .filter(|segment| segment.len > 0)
                .all(|segment| zone.is_some() && self.ia.lmrs().zone_of(segment.context) == zone);
            if !fits {
                failed.push(early.id);
            }
            fits
        });
        for id in failed {
            let Some(at) = receives.posted.iter().position(|posted| posted.id == id) else { continue };
            if let Some(posted) = receives.posted.remove(at) {
                receives.complete(self.header.handle(), posted.cookie, Status::LocalProtection, 0, true, None);
            }
        }
    }

    /// Hands the receives posted so far to the new queue pair. One whose memory is gone
    /// is completed with an error instead.
    pub(super) fn hand_over(&self, receives: &mut Receives<T>, qp: &Arc<T::Qp>) -> Result<()> {
        while let Some(early) = receives.early.pop_front() {
            let zone = receives.zone.unwrap_or(0);
            match check_recv(&self.ia, &early.segments, zone) {
                Ok(checked) => self.ia.transport().post_recv(qp, &Recv { id: early.id, segments: &checked })?,
                Err(_) => {
                    let at = receives.posted.iter().position(|posted| posted.id == early.id);
                    if let Some(posted) = at.and_then(|at| receives.posted.remove(at)) {
                        receives.complete(self.header.handle(), posted.cookie, Status::LocalProtection, 0, true, None);
                    }
                }
            }
        }
        receives.qp = Some(qp.clone());
        Ok(())
    }

    /// Queues flushed completions for all receives that are outstanding.
    pub(super) fn flush_receives(&self, receives: &mut Receives<T>) {
        let ep = self.header.handle();
        receives.early.clear();
        while let Some(posted) = receives.posted.pop_front() {
            receives.complete(ep, posted.cookie, Status::Flushed, 0, true, None);
        }
        let taken = std::mem::take(&mut receives.taken);
        for id in taken {
            if let Some((cookie, charge)) = self.srq.as_ref().and_then(|srq| srq.complete(id)) {
                receives.complete(ep, cookie, Status::Flushed, 0, true, Some(charge));
            }
        }
    }
}

impl<T: Transport> Receives<T> {
    fn buffers(&self) -> usize {
        self.posted.len() + self.taken.len()
    }

    pub(super) fn complete(
        &self,
        ep: Handle,
        cookie: u64,
        status: Status,
        len: u64,
        announce: bool,
        charge: Option<Charge<T>>,
    ) {
        let Some(evd) = &self.evd else { return };
        let event = Event::Transfer { ep, cookie, status, len, transfer: Transfer::Recv };
        evd.push(event, announce || status != Status::Success, charge);
    }

    pub(super) fn set_watermarks(&mut self, soft: i32, hard: i32) {
        self.soft_watermark = usize::try_from(soft).ok();
        self.hard_watermark = usize::try_from(hard).ok();
        self.soft_armed = self.soft_watermark.is_some();
    }

    /// Which watermarks the buffers exceed; the soft one once an arming, the hard one only
    /// while there is a connection to break.
    pub(super) fn watermarks_passed(&mut self) -> Passed {
        let buffers = self.buffers();
        let soft = self.soft_armed && self.soft_watermark.is_some_and(|soft| buffers > soft);
        self.soft_armed &= !soft;
        let hard = self.connected && self.hard_watermark.is_some_and(|hard| buffers > hard);
        Passed { soft, hard }
    }

    pub(super) fn enter(&mut self, state: State) {
        self.connected = matches!(state, State::Connected | State::DisconnectPending);
        self.flush = state == State::Disconnected;
    }
}
