//! Posting receives, and completing them.

use std::hint::cold_path;
use std::sync::Arc;

use host::lock::MutexGuard;

use crate::books::Completed;
use crate::ep::attr::Watermark;
use crate::ep::endpoint::{Endpoint, refused};
use crate::ep::receives::{Ended, Passed, Posted, Receives};
use crate::error::{Error, Refusal, Resource, Result};
use crate::event::{AsyncReason, CompletionFlags, Status, Transfer};
use crate::lmr_table::SegmentList;
use crate::mem::Rights;
use crate::probes;
use crate::srq::Srq;
use crate::transport::{Awaited, Checked, Poll, Recv, RecvDone, RecvId, Segment, Transport};

/// The buffers that an endpoint has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecvInfo {
    /// Buffers allocated to the endpoint whose completion was not generated.
    pub allocated: usize,
    /// Completions that the endpoint would generate if all messages that it is receiving
    /// were complete.
    pub span: usize,
}

impl<T: Transport> Endpoint<T> {
    /// Posts a receive, in any state; when disconnected it is flushed at once.
    ///
    /// # Errors
    /// [`Refusal::EndpointHasSrq`], [`Refusal::EndpointNotReady`] without zone or
    /// dispatcher, [`crate::error::Arg::SegmentCount`], [`crate::error::Arg::Flags`], the errors of
    /// [`crate::lmr_table::LmrTable::check`], [`Error::InsufficientResources`] if the
    /// receive queue is full.
    #[inline(always)]
    pub fn post_recv<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        // A receive of one segment with a queue pair and room for it: the queue of an endpoint that shares one has none.
        let mut receives = self.receives.lock();
        if segments.is_single()
            && completion.is_empty()
            && receives.max_segments >= 1
            && receives.evd.is_some()
            && let Receives { qp: Some(qp), zone: Some(zone), posted, next_id, .. } = &mut *receives
            && let Some(place) = posted.vacancy()
            && let Some(piece) = self.ia.lmrs.check_single(&segments.segment(0), *zone, Rights::LOCAL_WRITE)
        {
            let id = *next_id;
            let awaited = match self.ia.transport.post_recv(qp, &Recv { id, segments: &[piece] }) {
                Ok(awaited) => awaited,
                Err(error) => return Err(refused(receives, error)),
            };
            *next_id = id + 1;
            let (count, first) = if T::TAKES_RECEIVES { (1, piece) } else { (0, Segment::default()) };
            place.fill(Posted { id, cookie, quiet: false, count, first });
            probes::posted(self.header.handle(), Transfer::Recv, cookie, piece.len);
            if awaited || receives.watched {
                cold_path();
                self.after_recv(receives, awaited);
                return Ok(());
            }
            drop(receives);
            return Ok(());
        }
        cold_path();
        self.post_recv_otherwise(receives, segments, cookie, completion)
    }

    /// Posts a receive that [`Endpoint::post_recv`] cannot post in the quickest way.
    #[inline(never)]
    fn post_recv_otherwise<S: SegmentList + ?Sized>(
        &self,
        mut receives: MutexGuard<'_, Receives<T>>,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        segments.check()?;
        if self.srq.is_some() {
            return Err(Error::InvalidState(Refusal::EndpointHasSrq));
        }
        let zone = match receives.zone {
            Some(zone) if receives.admits(segments.count(), completion) => zone,
            _ => return Err(receives.refusal(completion)),
        };
        let mut checked = Checked::new();
        let total = self.ia.lmrs.check_all(segments, zone, Rights::LOCAL_WRITE, &mut checked)?;
        if receives.flush {
            probes::posted(self.header.handle(), Transfer::Recv, cookie, total);
            receives.complete(self.header.handle(), cookie, &Ended::unfilled(Status::Flushed), false, None);
            return Ok(());
        }
        if receives.posted.is_full() {
            return Err(Error::InsufficientResources(Resource::Memory));
        }
        let id = receives.next_id;
        let awaited = match &receives.qp {
            Some(qp) => self.ia.transport.post_recv(qp, &Recv { id, segments: &checked })?,
            None => receives.keep_early(id, segments)?,
        };
        receives.next_id += 1;
        let quiet = completion.contains(CompletionFlags::UNSIGNALLED);
        let kept = if T::TAKES_RECEIVES && receives.qp.is_some() { &*checked } else { &[] };
        let (count, first) = (kept.len(), kept.first().copied().unwrap_or_default());
        // There is room, as was just found.
        let _ = receives.posted.push(Posted { id, cookie, quiet, count, first });
        receives.keep_others(kept);
        probes::posted(self.header.handle(), Transfer::Recv, cookie, total);
        if awaited || receives.watched {
            self.after_recv(receives, awaited);
        }
        Ok(())
    }

    /// What a receive brings about, once the lock is free: the consequences of watermarks, and the progress of a
    /// message that waited for it.
    #[cold]
    #[inline(never)]
    fn after_recv(&self, mut receives: MutexGuard<'_, Receives<T>>, awaited: bool) {
        let passed = receives.watermarks_passed();
        let qp = receives.qp.clone().filter(|_| awaited);
        drop(receives);
        self.act_on(passed);
        if let Some(qp) = qp {
            self.ia.transport.kick(Awaited::Qp(&qp));
        }
    }

    /// Completes a buffer that was taken for a connection that has ended: it belongs to the program again.
    pub(super) fn flush_late(&self, receives: &mut Receives<T>, srq: &Srq<T>, id: RecvId) {
        if let Some(Completed { cookie, charge }) = srq.complete(id) {
            receives.complete(self.header.handle(), cookie, &Ended::unfilled(Status::Flushed), false, Some(charge));
        }
    }

    /// Queues the completions that came before the connection was announced.
    pub(super) fn release_held(&self, receives: &mut Receives<T>) {
        for ended in std::mem::take(&mut receives.held) {
            self.finish(receives, ended);
        }
    }

    /// Queues the completions of receives that the transport has ended.
    #[inline(always)]
    pub(super) fn finish_recvs(&self, receives: &mut Receives<T>, done: &[RecvDone]) {
        match (done, &self.srq) {
            ([done], None) => receives.finish_one(self.header.handle(), &done.into()),
            ([done], Some(srq)) => self.finish_shared(receives, srq, &done.into()),
            _ => {
                cold_path();
                self.finish_several(receives, done);
            }
        }
    }

    /// Does what [`Endpoint::finish_recvs`] does, where it is not one receive.
    #[inline(never)]
    fn finish_several(&self, receives: &mut Receives<T>, done: &[RecvDone]) {
        match &self.srq {
            Some(srq) => done.iter().for_each(|done| self.finish_shared(receives, srq, &done.into())),
            None => receives.finish_own(self.header.handle(), done),
        }
    }

    /// Queues the completion of a receive, which may have brought more than its bytes.
    pub(super) fn finish(&self, receives: &mut Receives<T>, ended: Ended) {
        match &self.srq {
            None => receives.finish_one(self.header.handle(), &ended),
            Some(srq) => self.finish_shared(receives, srq, &ended),
        }
    }

    /// Queues the completion of a receive of the shared queue. Its event comes after that of a watermark which it brings
    /// about, and these may have one dispatcher.
    #[inline(always)]
    fn finish_shared(&self, receives: &mut Receives<T>, srq: &Srq<T>, ended: &Ended) {
        receives.give_back(ended.done.id);
        let Some(Completed { cookie, charge }) = srq.complete(ended.done.id) else { return };
        receives.complete(self.header.handle(), cookie, ended, false, Some(charge));
    }

    /// Sets and arms the high watermarks on the buffers of the endpoint. The attributes of an
    /// endpoint without a shared receive queue show the soft one only.
    pub fn set_watermark(&self, soft: Watermark, hard: Watermark) {
        self.ia.transport.poll(None, Poll::Complete);
        let passed = {
            let mut control = self.control.lock();
            let mut receives = self.receives.lock();
            control.attr.soft_watermark = soft;
            if self.srq.is_some() {
                control.attr.hard_watermark = hard;
            }
            receives.set_watermarks(soft, hard);
            receives.watermarks_passed()
        };
        self.act_on(passed);
    }

    /// The buffers that the endpoint has at this moment.
    pub fn recv_query(&self) -> RecvInfo {
        self.ia.transport.poll(None, Poll::Complete);
        let receives = self.receives.lock();
        let allocated = receives.buffers();
        RecvInfo { allocated, span: allocated }
    }

    /// Does what passed watermarks call for; called without a lock.
    pub(super) fn act_on(&self, passed: Passed) {
        self.tell_of(passed);
        if passed.hard {
            self.break_connection();
        }
    }

    /// Tells the program, and whoever traces it, of passed watermarks; called without a lock.
    pub(super) fn tell_of(&self, passed: Passed) {
        let ep = self.header.handle();
        if passed.soft {
            probes::watermark(ep, probes::Mark::EpSoft);
            self.ia.raise(ep, AsyncReason::EpSoftHighWatermark);
        }
        if passed.hard {
            probes::watermark(ep, probes::Mark::EpHard);
        }
    }

    /// Completes receives posted before the connection that no longer fit the zone.
    pub(super) fn recheck_early(&self, receives: &mut Receives<T>) {
        let zone = receives.zone;
        let mut failed = Vec::new();
        receives.early.retain(|early| {
            let fits = early
                .segments
                .iter()
                .filter(|segment| segment.len > 0)
                .all(|segment| zone.is_some() && self.ia.lmrs.zone_of(segment.context) == zone);
            if !fits {
                failed.push(early.id);
            }
            fits
        });
        for id in failed {
            receives.refuse(self.header.handle(), id);
        }
    }

    /// Hands the receives posted so far to the new queue pair. One whose memory is gone
    /// is completed with an error instead.
    pub(super) fn hand_over(&self, receives: &mut Receives<T>, qp: &Arc<T::Qp>) -> Result<()> {
        while let Some(early) = receives.early.pop_front() {
            let zone = receives.zone.unwrap_or(0);
            let mut checked = Checked::new();
            match self.ia.lmrs.check_all(&*early.segments, zone, Rights::LOCAL_WRITE, &mut checked) {
                Ok(_) => {
                    // Nothing waits before there is a connection.
                    self.ia.transport.post_recv(qp, &Recv { id: early.id, segments: &checked })?;
                    if T::TAKES_RECEIVES {
                        receives.keep_segments(early.id, &checked);
                    }
                }
                Err(_) => receives.refuse(self.header.handle(), early.id),
            }
        }
        receives.qp = Some(qp.clone());
        Ok(())
    }

    /// Queues flushed completions for all receives that are outstanding.
    pub(super) fn flush_receives(&self, receives: &mut Receives<T>) {
        let (ep, flushed) = (self.header.handle(), Ended::unfilled(Status::Flushed));
        receives.early.clear();
        receives.given = 0;
        while receives.others.pop().is_some() {}
        while let Some(posted) = receives.posted.pop() {
            receives.complete(ep, posted.cookie, &flushed, false, None);
        }
        let taken = std::mem::take(&mut receives.taken);
        for id in taken {
            if let Some(Completed { cookie, charge }) = self.srq.as_ref().and_then(|srq| srq.complete(id)) {
                receives.complete(ep, cookie, &flushed, false, Some(charge));
            }
        }
    }
}
