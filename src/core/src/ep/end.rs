//! The end of a connection: each outstanding work request completes exactly once, and one event reports the end.
//!
//! [`Endpoint::end`] runs at most once per life, that is per connection or attempt ([`super::endpoint`]).

use std::sync::Arc;

use crate::counters::ConnStat;
use crate::ep::endpoint::{Control, Endpoint};
use crate::ep::report::announced;
use crate::ep_state::EpState;
use crate::evd::Evd;
use crate::event::{AsyncReason, ConnectionEvent, Event, Status};
use crate::transport::{Closing, ConnectionReport, Disconnect, FailedRequest, RecvDone, Transport};

impl<T: Transport> Endpoint<T> {
    /// Ends the connection or the attempt: sets the state, then queues completions and the event. `event` is `None` for
    /// a free of the endpoint. `recv` or `request` is the work whose failure has ended the connection, if any.
    ///
    /// First, remote memory regions that were bound for this connection only are unbound. Then follow, in this order:
    /// known successes; the failed request or receive; the event; flushed completions, in posting order; an
    /// asynchronous event for an endpoint with an SRQ. Flushed completions on a different EVD than the event precede
    /// the event, so that a program that takes the event finds them.
    pub(super) fn end(
        &self,
        control: &mut Control<T>,
        event: Option<ConnectionEvent>,
        recv: Option<RecvDone>,
        request: Option<(FailedRequest, Status)>,
    ) {
        let ep = self.header.handle();
        let was_up = std::mem::take(&mut control.was_up);
        let leaves = was_up && event.is_some() && self.srq.is_some() && self.ia.api_caps.tell_end_of_shared;
        control.state = EpState::Disconnected;
        control.life += 1;
        control.qp = None;
        let mut requests = self.requests();
        let mut receives = self.receives.lock();
        requests.life = control.life;
        receives.life = control.life;
        requests.enter(ep, EpState::Disconnected);
        receives.enter(EpState::Disconnected);
        let request_qp = requests.qp.take();
        let tx = std::mem::take(&mut requests.tx);
        let recv_qp = receives.qp.take();
        let datagram_qp = (requests.datagram_qp.take(), receives.datagram_qp.take());
        if let Some(qp) = &request_qp {
            requests.counters.flow.add(self.ia.transport.flow(qp, &tx));
        }

        requests.forget_windows(&self.ia, ep);
        requests.drain(ep, request);
        self.release_held(&mut receives);
        if let Some(done) = recv {
            self.finish(&mut receives, &done.into());
        }
        let connect: Option<&Arc<Evd<T>>> = control.connect_evd.as_ref().map(|evd| evd.object());
        let with_connect = |evd: Option<&Arc<Evd<T>>>| match (evd, connect) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            _ => false,
        };
        let requests_later = with_connect(requests.evd.as_ref().map(|evd| evd.object()));
        let receives_later = with_connect(receives.evd.as_ref().map(|evd| evd.object()));
        if !requests_later {
            requests.flush(ep);
        }
        if !receives_later {
            self.flush_receives(&mut receives);
        }
        let telling = leaves.then(|| self.ia.telling_end.lock());
        if let Some(kind) = event {
            self.ia.conn_stats.note(ConnStat::Ended(kind));
        }
        if let (Some(kind), Some(evd)) = (event, connect) {
            // `EndpointSink::connection` has stored the private data of a rejection.
            let rejected = kind == ConnectionEvent::PeerRejected;
            let private_data = control.private_data.clone().filter(|_| rejected);
            evd.push_connection(Event::Connection { ep, kind, private_data });
        }
        requests.flush(ep);
        self.flush_receives(&mut receives);
        drop(receives);
        drop(requests);
        if leaves {
            self.ia.raise(ep, AsyncReason::EndpointLeftShared);
        }
        drop(telling);
        drop((request_qp, tx, recv_qp, datagram_qp));
    }

    pub(super) fn break_connection(&self) {
        self.drain_completions();
        let mut control = self.control.lock();
        if !matches!(control.state, EpState::Connected | EpState::DisconnectPending) {
            return;
        }
        let Some(qp) = control.qp.clone() else { return };
        let event = announced(control.state, &ConnectionReport::Broken);
        if self.ia.transport.disconnect(&qp, Disconnect::Broken) == Closing::Done {
            self.end(&mut control, Some(event), None, None);
        }
    }
}
