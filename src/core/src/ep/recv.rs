//! Posting receives on the slow path, and completing receives.

use host::lock::MutexGuard;

use crate::ep::attr::Watermark;
use crate::ep::endpoint::Endpoint;
use crate::ep::receives::{Early, Ended, Passed, Posted, Receives};
use crate::error::{Error, Result, StateError};
use crate::event::{AsyncReason, CompletionFlags, Status, Transfer};
use crate::lmr_table::SegmentList;
use crate::mem::Rights;
use crate::probes;
use crate::srq::Srq;
use crate::srq_accounting::Completed;
use crate::transport::{Checked, Datagrams, Poll, Recv, RecvId, Transport};

impl<T: Transport> Endpoint<T> {
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
        let zone = receives.zone_for(completion, segments.count())?;
        let mut checked = Checked::new();
        let total = self.ia.lmrs.check_all(segments, zone, Rights::LOCAL_WRITE, &mut checked)?;
        if receives.flushes_posts {
            probes::posted(self.header.handle(), Transfer::Recv, cookie, total);
            receives.flushed += 1;
            receives.complete(self.header.handle(), cookie, &Ended::unfilled(Status::Flushed), false, None);
            return Ok(());
        }
        if receives.posted.is_full() {
            return Err(Error::NO_MEMORY);
        }
        let id = receives.next_id;
        let recv = Recv { id, segments: &checked };
        let (awaited, handed) = match (&receives.qp, &receives.datagram_qp) {
            (Some(qp), _) => (self.ia.transport.post_recv(qp, &recv)?, true),
            (_, Some(qp)) => (qp.post_recv(&recv).map(|()| false)?, true),
            _ => (receives.keep_early(id, segments)?, false),
        };
        receives.next_id += 1;
        let quiet = completion.contains(CompletionFlags::UNSIGNALLED);
        let kept = if T::TAKES_RECEIVES && handed { &*checked } else { &[] };
        let (count, first) = (kept.len(), kept.first().copied().unwrap_or_default());
        // Cannot fail: the queue is not full.
        let _ = receives.posted.push(Posted { id, cookie, quiet, count, first });
        receives.keep_others(kept);
        probes::posted(self.header.handle(), Transfer::Recv, cookie, total);
        if awaited || receives.watched {
            self.after_recv(receives, awaited);
        }
        Ok(())
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn after_recv(&self, mut receives: MutexGuard<'_, Receives<T>>, awaited: bool) {
        let passed = receives.watermarks_passed();
        let qp = receives.qp.clone().filter(|_| awaited);
        drop(receives);
        self.act_on(passed);
        if let Some(qp) = qp {
            self.ia.transport.kick(&qp);
        }
    }

    /// Flushes a buffer that the endpoint has taken from the SRQ. Called if the buffer's connection has ended, or must
    /// end because there is no memory to record the buffer.
    pub(super) fn flush_late(&self, receives: &mut Receives<T>, srq: &Srq<T>, id: RecvId) {
        if let Some(Completed { cookie, charge }) = srq.complete(id) {
            receives.complete(self.header.handle(), cookie, &Ended::unfilled(Status::Flushed), false, Some(charge));
        }
    }

    pub(super) fn release_held(&self, receives: &mut Receives<T>) {
        for ended in std::mem::take(&mut receives.held) {
            self.finish(receives, &ended);
        }
    }

    #[inline(always)]
    pub(super) fn finish(&self, receives: &mut Receives<T>, ended: &Ended) {
        let (ep, id) = (self.header.handle(), ended.done.id);
        match &self.srq {
            None => {
                if let Some((cookie, quiet)) = receives.take_oldest(id) {
                    receives.complete(ep, cookie, ended, quiet, None);
                }
            }
            // `srq.complete` may raise the event of the low watermark, which must precede the completion if both have
            // the same EVD.
            Some(srq) => {
                receives.give_back(id);
                if let Some(Completed { cookie, charge }) = srq.complete(id) {
                    receives.complete(ep, cookie, ended, false, Some(charge));
                }
            }
        }
    }

    /// Sets and arms the high watermarks on the endpoint's buffers. Without an SRQ, queries return only the soft
    /// watermark.
    ///
    /// # Errors
    /// [`Error::ModelNotSupported`] for a hard watermark on a datagram endpoint, which has no connection to break.
    pub fn set_watermark(&self, soft: Watermark, hard: Watermark) -> Result<()> {
        if self.has_datagrams() && hard.limit().is_some() {
            return Err(Error::ModelNotSupported);
        }
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
        Ok(())
    }

    /// Polls, and returns the number of buffers without a queued completion: receives posted to the endpoint's own
    /// queue, or buffers taken from its SRQ.
    pub fn recv_query(&self) -> usize {
        self.ia.transport.poll(None, Poll::Complete);
        self.receives.lock().buffers()
    }

    /// Reports exceeded watermarks, and breaks the connection for the hard one. Called without a lock.
    pub(super) fn act_on(&self, passed: Passed) {
        self.tell_of(passed);
        if passed.hard {
            self.break_connection();
        }
    }

    /// Reports exceeded watermarks. Called without a lock.
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

    /// Called after a change of the zone. Completes with an error each receive of [`Early`] whose regions are not in
    /// the new zone.
    pub(super) fn recheck_early(&self, receives: &mut Receives<T>) {
        let zone = receives.zone;
        for _ in 0..receives.early.len() {
            let Some(early) = receives.early.pop_front() else { return };
            let mut segments = early.segments.iter().filter(|segment| segment.len > 0);
            if segments.all(|segment| zone.is_some() && self.ia.lmrs.zone_of(segment.context) == zone) {
                receives.early.push_back(early);
            } else {
                receives.refuse(self.header.handle(), early.id);
            }
        }
    }

    /// Posts the stored receives to a new queue pair. A receive whose check fails completes with an error. The others
    /// stay stored until [`Receives::enter`], because the attempt can fail.
    pub(super) fn hand_over(&self, receives: &mut Receives<T>, post: impl Fn(&Recv<'_>) -> Result<()>) -> Result<()> {
        let mut at = 0;
        while let Some(Early { id, segments }) = receives.early.get(at) {
            let (id, zone) = (*id, receives.zone.unwrap_or(0));
            let mut checked = Checked::new();
            match self.ia.lmrs.check_all(&**segments, zone, Rights::LOCAL_WRITE, &mut checked) {
                Ok(_) => {
                    post(&Recv { id, segments: &checked })?;
                    if T::TAKES_RECEIVES {
                        receives.keep_segments(id, &checked);
                    }
                    at += 1;
                }
                Err(_) => {
                    receives.early.remove(at);
                    receives.refuse(self.header.handle(), id);
                }
            }
        }
        Ok(())
    }

    pub(super) fn flush_receives(&self, receives: &mut Receives<T>) {
        let (ep, flushed) = (self.header.handle(), Ended::unfilled(Status::Flushed));
        receives.take_back();
        while let Some(posted) = receives.posted.pop() {
            receives.complete(ep, posted.cookie, &flushed, false, None);
        }
        if let Some(srq) = &self.srq {
            std::mem::take(&mut receives.taken).into_iter().for_each(|id| self.flush_late(receives, srq, id));
        }
    }
}
