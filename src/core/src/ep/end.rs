//! The end of a connection: every outstanding work request completes exactly once, and the program gets exactly one
//! event that says why.
//!
//! However a connection ends, this queues the successes known so far, the failed request or receive, then flushed
//! completions in posting order, and the connection event before or after them as the EVDs demand; where habits ask for
//! it, an asynchronous event says last that the endpoint has left its SRQ. It runs once in each life.

use std::sync::Arc;

use crate::counters::ConnStat;
use crate::ep::datagram::Service;
use crate::ep::endpoint::{Control, Endpoint};
use crate::ep_state::EpState;
use crate::evd::Evd;
use crate::event::{AsyncReason, ConnectionEvent, Event, Status};
use crate::transport::{Closing, FailedRequest, RecvDone, Transport};

impl<T: Transport> Endpoint<T> {
    /// Ends the connection or the attempt at one: the state becomes DISCONNECTED, then
    /// come the completions and the connection event.
    ///
    /// Successful and failed completions come before the event. Flushed ones come after it if they share its
    /// dispatcher. On another dispatcher they come first, so that a program that saw the event finds them there. Remote
    /// memory regions that are bound for this connection alone are unbound before all that. The
    /// asynchronous event for an endpoint that leaves its shared receive queue comes last.
    pub(super) fn end(
        &self,
        control: &mut Control<T>,
        event: Option<ConnectionEvent>,
        recv: Option<RecvDone>,
        request: Option<(FailedRequest, Status)>,
    ) {
        let ep = self.header.handle();
        let was_up = std::mem::take(&mut control.was_up);
        let lane = if let Service::Lane(lane) = &self.service { Some(lane) } else { None };
        let leaves =
            was_up && event.is_some() && self.srq.is_some() && lane.is_none() && self.ia.api_caps.tell_end_of_shared;
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
            self.ia.happenings.note(ConnStat::Ended(kind));
        }
        if let (Some(kind), Some(evd)) = (event, connect) {
            // What came with a rejection was kept when it was reported.
            let rejected = kind == ConnectionEvent::PeerRejected;
            let private_data = control.private_data.clone().filter(|_| rejected);
            let event = match lane {
                Some(lane) => lane.end(ep, kind, private_data, was_up),
                None => Some(Event::Connection { ep, kind, private_data }),
            };
            if let Some(event) = event {
                evd.push_connection(event);
            }
        }
        requests.flush(ep);
        self.flush_receives(&mut receives);
        match &self.service {
            Service::Datagrams(peers) => peers.flush(self, &mut receives),
            Service::Lane(lane) => lane.retire(control),
            Service::Connection => {}
        }
        drop(receives);
        drop(requests);
        if let Some(lane) = lane {
            lane.leave(self);
        }
        if leaves {
            self.ia.raise(ep, AsyncReason::EndpointLeftShared);
        }
        drop(telling);
        drop((request_qp, tx, recv_qp));
    }

    /// Fails the connection from this side, if there is one.
    pub(super) fn break_connection(&self) {
        self.drain_completions();
        let mut control = self.control.lock();
        if !matches!(control.state, EpState::Connected | EpState::DisconnectPending) {
            return;
        }
        let Some(qp) = control.qp.clone() else { return };
        let event = match control.state {
            EpState::DisconnectPending => ConnectionEvent::Disconnected,
            _ => ConnectionEvent::Broken,
        };
        if self.ia.transport.disconnect(&qp, true) == Closing::Done {
            self.end(&mut control, Some(event), None, None);
        }
    }
}
