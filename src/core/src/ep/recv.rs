//! Posting receives, and completing them.

use std::sync::Arc;

use host::lock::MutexGuard;

use crate::ep::attr::Watermark;
use crate::ep::datagram::Service;
use crate::ep::endpoint::Endpoint;
use crate::ep::receives::{Ended, Passed, Posted, Receives};
use crate::error::{Error, Resource, Result, StateError};
use crate::event::{AsyncReason, CompletionFlags, Status, Transfer};
use crate::lmr_table::SegmentList;
use crate::mem::Rights;
use crate::probes;
use crate::srq::Srq;
use crate::srq_accounting::Completed;
use crate::transport::{Awaited, Checked, Poll, Recv, RecvId, Transport};

impl<T: Transport> Endpoint<T> {
    /// Posts a receive of any kind.
    #[inline(never)]
    pub(crate) fn post_any_recv<S: SegmentList + ?Sized>(
        &self,
        mut receives: MutexGuard<'_, Receives<T>>,
        segments: &S,
        cookie: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        segments.check()?;
        if self.srq.is_some() {
            return Err(Error::InvalidState(StateError::EndpointHasSrq));
        }
        if let Service::Datagrams(peers) = &self.service {
            drop(receives);
            return self.post_datagram_recv(peers, segments, cookie, completion);
        }
        let zone = match receives.zone {
            Some(zone) if receives.admits(segments.count(), completion) => zone,
            _ => return Err(receives.refusal(completion)),
        };
        let mut checked = Checked::new();
        let total = self.ia.lmrs.check_all(segments, zone, Rights::LOCAL_WRITE, &mut checked)?;
        if receives.flush {
            probes::posted(self.header.handle(), Transfer::Recv, cookie, total);
            receives.flushed += 1;
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

    /// Frees the lock after a post, then acts on watermarks that it has passed and lets a message go on that waited for the
    /// receive.
    #[cold]
    #[inline(never)]
    pub(crate) fn after_recv(&self, mut receives: MutexGuard<'_, Receives<T>>, awaited: bool) {
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
            let charge = Some(charge).filter(|_| !srq.is_of_endpoint());
            receives.complete(self.header.handle(), cookie, &Ended::unfilled(Status::Flushed), false, charge);
        }
    }

    /// Queues the completions that came before the connection was announced.
    pub(super) fn release_held(&self, receives: &mut Receives<T>) {
        for ended in std::mem::take(&mut receives.held) {
            self.finish(receives, &ended);
        }
    }

    /// Queues the completion of a receive, which may have brought more than its bytes.
    #[inline(always)]
    pub(super) fn finish(&self, receives: &mut Receives<T>, ended: &Ended) {
        let (ep, id) = (self.header.handle(), ended.done.id);
        match &self.srq {
            None => {
                if let Some((cookie, quiet)) = receives.take_oldest(id) {
                    receives.complete(ep, cookie, ended, quiet, None);
                }
            }
            // Its event comes after that of a watermark which it brings about, and these may have one dispatcher.
            Some(srq) => {
                receives.give_back(id);
                if let Some(Completed { cookie, charge }) = srq.complete(id) {
                    receives.complete(ep, cookie, ended, false, Some(charge).filter(|_| !srq.is_of_endpoint()));
                }
            }
        }
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

    /// The number of buffers that the endpoint has and whose completions were not queued yet. It would queue as many if all
    /// messages that it is receiving were complete.
    pub fn recv_query(&self) -> usize {
        self.ia.transport.poll(None, Poll::Complete);
        self.buffers(&self.receives.lock())
    }

    /// Reports passed watermarks, and breaks the connection for the hard one; called without a lock.
    pub(super) fn act_on(&self, passed: Passed) {
        self.tell_of(passed);
        if passed.hard {
            self.break_connection();
        }
    }

    /// Reports passed watermarks to the program and to tracers; called without a lock.
    pub(super) fn tell_of(&self, passed: Passed) {
        let ep = self.header.handle();
        if passed.soft {
            probes::watermark(ep, probes::WatermarkKind::EpSoft);
            self.ia.raise(ep, AsyncReason::EpSoftHighWatermark);
        }
        if passed.hard {
            probes::watermark(ep, probes::WatermarkKind::EpHard);
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
        if let Some(srq) = &self.srq {
            std::mem::take(&mut receives.taken).into_iter().for_each(|id| self.flush_late(receives, srq, id));
        }
    }
}
