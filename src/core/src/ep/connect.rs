//! Connecting, accepting and disconnecting.

use std::sync::Arc;
use std::time::Duration;

use crate::addr::Address;
use crate::ep::{Control, Endpoint, Next, State, Trigger, next, not_ready};
use crate::error::{AddressFault, Arg, Error, Resource, Result, Role};
use crate::evd::Feed;
use crate::event::{ConnectionEvent, Event};
use crate::transport::{Closing, Connect, ConnectionReport, EndpointSink, QpInit, QpSizes, Transport};

/// Where an endpoint shall connect to, and how.
#[derive(Clone, Copy, Debug)]
pub struct ConnectRequest<'a> {
    /// The host.
    pub address: &'a Address,
    /// The service point.
    pub qualifier: u64,
    /// Time for the whole establishment; `None` for no limit of the program's.
    pub timeout: Option<Duration>,
    /// Bytes for the peer.
    pub private_data: &'a [u8],
}

impl<T: Transport> Endpoint<T> {
    /// Starts to connect (uDAPL 1.2, dat_ep_connect). The outcome is one event on the
    /// connect dispatcher.
    ///
    /// # Errors
    /// [`crate::error::Refusal::Endpoint`] unless unconnected, [`Role::EvdConnect`] without a connect
    /// dispatcher, [`crate::error::Refusal::EndpointNotReady`] without a zone,
    /// [`Arg::PrivateDataSize`], [`Arg::Timeout`] for 0,
    /// [`Error::InsufficientResources`]. The endpoint stays unconnected then.
    pub fn connect(self: &Arc<Self>, request: &ConnectRequest<'_>) -> Result<()> {
        if request.private_data.len() > self.ia.transport().attributes().max_private_data {
            return Err(Error::InvalidParameter(Arg::PrivateDataSize));
        }
        if request.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(Error::InvalidParameter(Arg::Timeout));
        }
        let mut control = self.control.lock();
        let Next::Go(to) = next(control.state, Trigger::Connect)? else { return Err(Error::Internal) };
        self.ready(&control)?;
        if !request.address.is_host() {
            return Err(Error::InvalidAddress(AddressFault::Unsupported));
        }
        self.ia.transport().check_address(request.address)?;
        let qp = self.make_qp(&mut control)?;
        let connect = Connect {
            address: request.address,
            qualifier: request.qualifier,
            private_data: request.private_data,
            timeout: request.timeout,
        };
        if let Err(error) = self.ia.transport().connect(&qp, &connect) {
            self.unmake_qp(&mut control);
            return Err(error);
        }
        control.remote = Some((Arc::new(request.address.clone()), request.qualifier));
        self.enter(&mut control, to);
        Ok(())
    }

    /// Starts to connect to where `like` is connected to (uDAPL 1.2, dat_ep_dup_connect).
    ///
    /// # Errors
    /// As [`Endpoint::connect`]; [`crate::error::Refusal::Endpoint`] with the state of
    /// `like` unless it is connected.
    pub fn dup_connect(
        self: &Arc<Self>,
        like: &Endpoint<T>,
        timeout: Option<Duration>,
        private_data: &[u8],
    ) -> Result<()> {
        let (address, qualifier) = {
            let control = like.control.lock();
            match &control.remote {
                Some(remote) if control.state == State::Connected => remote.clone(),
                _ => return Err(control.state.refusal()),
            }
        };
        self.connect(&ConnectRequest { address: &address, qualifier, timeout, private_data })
    }

    /// Accepts a connection request with this endpoint (uDAPL 1.2, dat_cr_accept).
    /// `trigger` tells whether the request brought the endpoint.
    pub(crate) fn accept(
        self: &Arc<Self>,
        trigger: Trigger,
        incoming: &mut Option<T::Incoming>,
        remote: (&Address, u64),
        private_data: &[u8],
    ) -> Result<()> {
        let mut control = self.control.lock();
        let Next::Go(to) = next(control.state, trigger)? else { return Err(Error::Internal) };
        if self.ready(&control).is_err() {
            return Err(Error::InvalidHandle(Role::Ep));
        }
        let qp = self.make_qp(&mut control)?;
        if let Err(error) = self.ia.transport().accept(incoming, &qp, private_data) {
            self.unmake_qp(&mut control);
            return Err(error);
        }
        control.remote = Some((Arc::new(remote.0.clone()), remote.1));
        self.enter(&mut control, to);
        Ok(())
    }

    /// Ends the connection or the attempt at one (uDAPL 1.2, dat_ep_disconnect). Graceful:
    /// posted requests are carried through first.
    ///
    /// # Errors
    /// [`crate::error::Refusal::Endpoint`] if there is neither.
    pub fn disconnect(&self, graceful: bool) -> Result<()> {
        self.settle_requests();
        let mut control = self.control.lock();
        let trigger = if graceful { Trigger::DisconnectGraceful } else { Trigger::DisconnectAbrupt };
        let Next::Go(to) = next(control.state, trigger)? else { return Ok(()) };
        let Some(qp) = control.qp.clone() else { return Err(Error::Internal) };
        if to == State::DisconnectPending {
            control.state = to;
            let idle = {
                let mut requests = self.requests.lock();
                requests.enter(to);
                requests.flight.is_empty()
            };
            if !idle {
                self.ia.transport().drain(&qp);
                return Ok(());
            }
        }
        match self.ia.transport().disconnect(&qp, false) {
            Closing::Done => self.end(&mut control, Some(ConnectionEvent::Disconnected), None, None),
            Closing::Later => {
                control.state = State::DisconnectPending;
                self.requests.lock().enter(State::DisconnectPending);
            }
        }
        Ok(())
    }

    /// The connection, or the attempt at one, changed.
    pub(crate) fn on_connection(&self, life: u64, report: ConnectionReport) {
        let passed = {
            let mut control = self.control.lock();
            if control.life != life || control.freed {
                return;
            }
            match report {
                ConnectionReport::Established(private_data) => self.establish(&mut control, private_data),
                ended => {
                    let event = ending(control.state, &ended);
                    if next(control.state, Trigger::Ended).is_ok() {
                        self.end(&mut control, Some(event), None, None);
                    }
                    return;
                }
            }
        };
        self.act_on(passed);
    }

    fn establish(&self, control: &mut Control<T>, private_data: Vec<u8>) -> super::recv::Passed {
        let active = control.state == State::ActiveConnectionPending;
        let Ok(Next::Go(to)) = next(control.state, Trigger::Established) else { return Default::default() };
        if let Some(qp) = &control.qp {
            control.local_qualifier = self.ia.transport().local_qualifier(qp);
        }
        // The passive side's event has no private data: programs tell the sides apart by it.
        let private_data: Option<Arc<[u8]>> = (active && !private_data.is_empty()).then(|| private_data.into());
        control.private_data = private_data.clone();
        control.state = to;
        self.requests.lock().enter(to);
        let mut receives = self.receives.lock();
        receives.enter(to);
        if let Some(evd) = &control.connect_evd {
            // Messages may have come already. Whoever sees the event finds them: behind it on the
            // same dispatcher, else there before it.
            let same = receives.evd.as_ref().is_some_and(|recv| Arc::ptr_eq(recv.object(), evd.object()));
            if !same {
                self.release_held(&mut receives);
            }
            let kind = ConnectionEvent::Established;
            evd.push(Event::Connection { ep: self.header.handle(), kind, private_data }, true, None);
        }
        self.release_held(&mut receives);
        receives.watermarks_passed()
    }

    /// What connecting and accepting need.
    fn ready(&self, control: &Control<T>) -> Result<()> {
        if control.connect_evd.is_none() {
            return Err(Error::InvalidHandle(Role::EvdConnect));
        }
        let requests = self.requests.lock().evd.is_some() || control.attr.max_request_dtos == 0;
        let receives = self.receives.lock().evd.is_some() || (self.srq.is_none() && control.attr.max_recv_dtos == 0);
        if control.pz.is_none() || !requests || !receives {
            return Err(not_ready());
        }
        Ok(())
    }

    fn enter(&self, control: &mut Control<T>, state: State) {
        control.state = state;
        self.requests.lock().enter(state);
        self.receives.lock().enter(state);
    }

    /// Makes the queue pair from the attributes as they are now, and hands over the
    /// receives posted so far.
    fn make_qp(self: &Arc<Self>, control: &mut Control<T>) -> Result<Arc<T::Qp>> {
        let transport = self.ia.transport();
        let count = |count: i32| usize::try_from(count).unwrap_or(0);
        let reads = |count: i32| u8::try_from(count).unwrap_or(u8::MAX);
        let attr = &control.attr;
        let mut requests = self.requests.lock();
        let mut receives = self.receives.lock();
        if !requests.flight.reserve(count(attr.max_request_dtos)) {
            return Err(Error::InsufficientResources(Resource::Memory));
        }
        let zone = control.pz.as_ref().ok_or_else(not_ready)?;
        let qp = transport.qp_create(QpInit {
            sink: EndpointSink { ep: self.clone(), life: control.life },
            zone: zone.zone(),
            request_cq: requests.evd.as_ref().and_then(|evd| evd.cq()),
            recv_cq: receives.evd.as_ref().and_then(|evd| evd.cq()),
            srq: self.srq.as_ref().map(|srq| srq.queue()),
            solicited: receives.feed == Feed::Solicited,
            sizes: QpSizes {
                recvs: receives.capacity,
                requests: count(attr.max_request_dtos),
                recv_segments: receives.max_segments,
                request_segments: requests
                    .max_segments
                    .max(requests.max_read_segments)
                    .max(requests.max_write_segments),
                reads_in: reads(attr.max_rdma_read_in),
                reads_out: reads(attr.max_rdma_read_out),
            },
        })?;
        requests.life = control.life;
        receives.life = control.life;
        if let Err(error) = self.hand_over(&mut receives, &qp) {
            let _ = transport.disconnect(&qp, false);
            control.life += 1;
            requests.life = control.life;
            receives.life = control.life;
            self.flush_receives(&mut receives);
            return Err(error);
        }
        requests.qp = Some(qp.clone());
        control.qp = Some(qp.clone());
        Ok(qp)
    }

    /// Undoes [`Endpoint::make_qp`] after a call that failed. Receives that were handed
    /// over are flushed: their segments are gone with the queue pair.
    fn unmake_qp(&self, control: &mut Control<T>) {
        if let Some(qp) = control.qp.take() {
            let _ = self.ia.transport().disconnect(&qp, false);
        }
        control.life += 1;
        let mut requests = self.requests.lock();
        let mut receives = self.receives.lock();
        requests.life = control.life;
        receives.life = control.life;
        requests.qp = None;
        receives.qp = None;
        self.flush_receives(&mut receives);
    }
}

/// The event that ends an endpoint's connection or attempt, by its state.
fn ending(state: State, report: &ConnectionReport) -> ConnectionEvent {
    match (state, report) {
        (State::CompletionPending, _) => ConnectionEvent::AcceptCompletionError,
        (State::DisconnectPending, _) => ConnectionEvent::Disconnected,
        (State::ActiveConnectionPending, ConnectionReport::PeerRejected) => ConnectionEvent::PeerRejected,
        (State::ActiveConnectionPending, ConnectionReport::TimedOut) => ConnectionEvent::TimedOut,
        (State::ActiveConnectionPending, ConnectionReport::Unreachable) => ConnectionEvent::Unreachable,
        (State::ActiveConnectionPending, _) => ConnectionEvent::NonPeerRejected,
        (_, ConnectionReport::Broken) => ConnectionEvent::Broken,
        _ => ConnectionEvent::Disconnected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ending_is_told_in_the_terms_of_the_state() {
        use ConnectionEvent as E;
        use ConnectionReport as R;
        let cases = [
            (State::ActiveConnectionPending, R::PeerRejected, E::PeerRejected),
            (State::ActiveConnectionPending, R::NonPeerRejected, E::NonPeerRejected),
            (State::ActiveConnectionPending, R::TimedOut, E::TimedOut),
            (State::ActiveConnectionPending, R::Unreachable, E::Unreachable),
            (State::ActiveConnectionPending, R::Broken, E::NonPeerRejected),
            (State::CompletionPending, R::AcceptFailed, E::AcceptCompletionError),
            (State::CompletionPending, R::Disconnected, E::AcceptCompletionError),
            (State::Connected, R::Disconnected, E::Disconnected),
            (State::Connected, R::Broken, E::Broken),
            (State::DisconnectPending, R::Broken, E::Disconnected),
        ];
        for (state, report, event) in cases {
            assert_eq!(ending(state, &report), event, "{state:?} {report:?}");
        }
    }
}
