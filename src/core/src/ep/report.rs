//! A transport's reports on the connection of an endpoint.
//!
//! A device may complete a receive before the transport reports the connection as established. Core then holds the
//! completion until the connection event.

use std::sync::Arc;

use host::lock::MutexGuard;
use host::memory::Room;

use crate::arena::Handle;
use crate::counters::ConnStat;
use crate::ep::endpoint::Endpoint;
use crate::ep::receives::{Ended, Receives};
use crate::ep_state::{EpState, Trigger, next};
use crate::event::{ConnectionEvent, Status, Transfer};
use crate::srq::Srq;
use crate::srq_accounting::Completed;
use crate::transport::{
    Closing, ConnectionReport, Delivery, Disconnect, FailedRequest, RecvDone, RecvId, SeqNo, Special, Taken, Transport,
    Verdict,
};

impl<T: Transport> Endpoint<T> {
    #[cold]
    pub(super) fn keep_out_of_time(&self, receives: &mut Receives<T>, life: u64, ended: Ended) {
        if receives.life != life {
            if let Some(srq) = &self.srq {
                self.flush_late(receives, srq, ended.done.id);
            }
        } else if receives.held.room(1).is_err() {
            self.finish(receives, &ended);
        } else {
            receives.held.push(ended);
        }
    }
}

/// The sink for the reports of one queue pair, and thus of one connection or attempt, whose number is `life`.
pub struct EndpointSink<T: Transport> {
    pub(crate) endpoint: Arc<Endpoint<T>>,
    pub(crate) life: u64,
}

impl<T: Transport> EndpointSink<T> {
    /// Returns the handle of the endpoint.
    pub fn ep(&self) -> Handle {
        self.endpoint.header.handle()
    }

    /// Takes the oldest receive of the endpoint's own queue or its SRQ that was not taken before, and stores it in
    /// `taken`. The receive is outstanding until [`EndpointSink::recv_done`]. Returns `None` if there is no receive, or
    /// the connection has ended. For transports with [`Transport::TAKES_RECEIVES`].
    pub fn recv_take(&self, taken: &mut Taken) -> Option<Verdict> {
        let ep = &*self.endpoint;
        let mut receives = ep.receives.lock();
        if receives.life != self.life {
            return None;
        }
        match &ep.srq {
            None => receives.take(taken, 0).then_some(Verdict::Continue),
            Some(srq) => srq.take(taken, 0).then(|| self.hold(receives, srq, taken.id)),
        }
    }

    /// Reports that an arriving message took a buffer of the SRQ. Optional for transports that only see completions.
    #[inline]
    pub fn recv_taken(&self, id: RecvId) -> Verdict {
        let ep = &*self.endpoint;
        let Some(srq) = &ep.srq else { return Verdict::Continue };
        let mut receives = ep.receives.lock();
        if receives.life != self.life {
            ep.flush_late(&mut receives, srq, id);
            return Verdict::Continue;
        }
        srq.taken(id);
        self.hold(receives, srq, id)
    }

    /// Records that the endpoint has taken buffer `id` of the SRQ. Returns [`Verdict::Break`] if this exceeds the hard
    /// watermark, or if there is no memory for the record.
    fn hold(&self, mut receives: MutexGuard<'_, Receives<T>>, srq: &Srq<T>, id: RecvId) -> Verdict {
        let ep = &*self.endpoint;
        if receives.taken.room(1).is_err() {
            ep.flush_late(&mut receives, srq, id);
            return Verdict::Break;
        }
        receives.taken.push(id);
        let passed = receives.watermarks_passed();
        drop(receives);
        ep.tell_of(passed);
        if passed.hard { Verdict::Break } else { Verdict::Continue }
    }

    /// Takes a buffer again, whose memory is no longer registered. The buffer is outstanding until the connection ends.
    #[cold]
    pub(crate) fn hold_again(
        &self,
        receives: MutexGuard<'_, Receives<T>>,
        srq: &Srq<T>,
        completed: Completed,
    ) -> Delivery {
        let id = srq.retake(completed);
        let _ = self.hold(receives, srq, id);
        Delivery::NoMemory(id)
    }

    /// Reports that a receive is complete.
    #[inline]
    pub fn recv_done(&self, done: RecvDone) {
        self.recv_ended(self.endpoint.receives.lock(), done.into());
    }

    #[inline(always)]
    fn recv_ended(&self, mut receives: MutexGuard<'_, Receives<T>>, ended: Ended) {
        let (ep, life) = (&*self.endpoint, self.life);
        if receives.life == life && receives.connected {
            ep.finish(&mut receives, &ended);
        } else {
            ep.keep_out_of_time(&mut receives, life, ended);
        }
    }

    /// Like [`EndpointSink::recv_done`], for a receive with additional data. Calls of both functions keep their order.
    pub fn recv_special(&self, done: RecvDone, what: Special) {
        let (transfer, extra) = match what {
            Special::Immediate(value) => (Transfer::RecvImmediate, value),
            Special::Invalidated(key) => {
                // The transport has revoked the binding. Remove it before a completion reports this.
                self.endpoint.forget_binding(key);
                (Transfer::RecvInvalidated, key)
            }
        };
        self.recv_ended(self.endpoint.receives.lock(), Ended { done, special: Some((transfer, extra)) });
    }

    /// Reports that at least one of the reported receives was solicited. For transports that do not know which of them
    /// ([`crate::transport::QpInit::solicited`]).
    pub fn recv_announced(&self) {
        let (ep, life) = (&*self.endpoint, self.life);
        let mut receives = ep.receives.lock();
        if receives.life != life {
            return;
        }
        // If completions are held until the connection event, the last one holds the announcement, too.
        if let Some(held) = receives.held.last_mut() {
            held.done.solicited = true;
        } else if let Some(evd) = &receives.evd {
            evd.announce();
        }
    }

    /// Reports that all requests up to `reached` have succeeded. Returns `true` if the end of the connection, or the
    /// owner of an internal connection, waited for the last of them. The caller must then call
    /// [`EndpointSink::drained`] without a lock.
    #[inline]
    #[must_use]
    pub fn requests_done(&self, reached: SeqNo) -> bool {
        self.lock_tx().is_some_and(|mut tx| tx.request_done(reached))
    }

    /// Ends a connection that waited for its last request, or notifies the owner of an internal connection.
    pub fn drained(&self) {
        let (ep, life) = (&*self.endpoint, self.life);
        let Some(()) = ep.notify_owner((), |owner, ()| owner.drained()) else { return };
        let mut control = ep.control.lock();
        if control.life != life || control.state != EpState::DisconnectPending {
            return;
        }
        let Some(qp) = control.qp.clone() else { return };
        if ep.ia.transport.disconnect(&qp, Disconnect::Now) == Closing::Done {
            ep.end(&mut control, Some(ConnectionEvent::Disconnected), None, None);
        }
    }

    /// Reports that the connection has failed, with the failed receive or request, if any. Core flushes all other
    /// outstanding work, except requests before a [`FailedRequest::Number`], which have succeeded. The transport must
    /// have released all buffers before the call.
    pub fn failed(&self, recv: Option<RecvDone>, request: Option<(FailedRequest, Status)>) {
        let (ep, life) = (&*self.endpoint, self.life);
        let Some(_) = ep.notify_owner(ConnectionReport::Broken, |owner, report| owner.connection(report)) else {
            return;
        };
        let mut control = ep.control.lock();
        if control.life != life || control.freed {
            return;
        }
        let event = announced(control.state, &ConnectionReport::Broken);
        log::debug!(target: host::diagnostics::CALLBACK, "endpoint {}: {event}", ep.header.handle());
        ep.end(&mut control, Some(event), recv, request);
    }

    /// Reports a change of the connection or attempt. Except for [`ConnectionReport::Established`], the transport must
    /// have released all buffers before the call.
    pub fn connection(&self, report: ConnectionReport) {
        let (ep, life) = (&*self.endpoint, self.life);
        let Some(report) = ep.notify_owner(report, |owner, report| owner.connection(report)) else { return };
        let passed = {
            let mut control = ep.control.lock();
            if control.life != life || control.freed {
                return;
            }
            let event = announced(control.state, &report);
            log::debug!(target: host::diagnostics::CALLBACK, "endpoint {}: {event}", ep.header.handle());
            match report {
                ConnectionReport::Established(private_data) => ep.establish(&mut control, private_data),
                ended => {
                    if next(control.state, Trigger::Ended).is_ok() {
                        if event == ConnectionEvent::Disconnected && control.state == EpState::Connected {
                            ep.ia.conn_stats.note(ConnStat::PeerDisconnect);
                        }
                        if let (ConnectionEvent::PeerRejected, ConnectionReport::PeerRejected(data)) = (event, ended) {
                            control.private_data = (!data.is_empty()).then(|| data.into());
                        }
                        ep.end(&mut control, Some(event), None, None);
                    }
                    return;
                }
            }
        };
        ep.act_on(passed);
    }
}

pub(super) fn announced(state: EpState, report: &ConnectionReport) -> ConnectionEvent {
    match (state, report) {
        (_, ConnectionReport::Established(_)) => ConnectionEvent::Established,
        (EpState::CompletionPending, _) => ConnectionEvent::AcceptCompletionError,
        (EpState::DisconnectPending, _) => ConnectionEvent::Disconnected,
        (EpState::ActiveConnectionPending, ConnectionReport::PeerRejected(_)) => ConnectionEvent::PeerRejected,
        (EpState::ActiveConnectionPending, ConnectionReport::TimedOut) => ConnectionEvent::TimedOut,
        (EpState::ActiveConnectionPending, ConnectionReport::Unreachable) => ConnectionEvent::Unreachable,
        (EpState::ActiveConnectionPending, _) => ConnectionEvent::NonPeerRejected,
        (_, ConnectionReport::Broken) => ConnectionEvent::Broken,
        _ => ConnectionEvent::Disconnected,
    }
}

#[cfg(test)]
mod tests;
