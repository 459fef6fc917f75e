//! Connecting, accepting and disconnecting.

use std::sync::Arc;
use std::time::Duration;

use host::lock::MutexGuard;
use host::memory;

use crate::addr::Address;
use crate::counters::ConnStat;
use crate::ep::endpoint::{Control, Endpoint};
use crate::ep::receives::{Ended, Passed, Posted, Receives};
use crate::ep::requests::Requests;
use crate::ep_state::{EpState, Next, Trigger, next};
use crate::error::{AddressFault, Arg, Error, Result, Role};
use crate::event::{ConnectionEvent, Event, Feed, Status};
use crate::transport::{Closing, Connect, Disconnect, EndpointSink, QpInit, QpSizes, Transport};
use crate::users::Use;

impl<T: Transport> Endpoint<T> {
    /// Starts to connect. One connection event reports the outcome.
    ///
    /// # Errors
    /// [`crate::error::StateError::Endpoint`] unless unconnected, [`Role::EvdConnect`] without a connect EVD,
    /// [`crate::error::StateError::EndpointNotReady`] without a zone or an EVD for posts, [`Arg::Timeout`] for 0,
    /// [`Error::InvalidAddress`], [`Error::InsufficientResources`], [`Error::InvalidHandle`] if the endpoint is freed.
    /// The endpoint stays unconnected.
    pub fn connect(self: &Arc<Self>, request: &Connect<'_>) -> Result<()> {
        self.start(request, |_| Ok(()))
    }

    /// Starts to connect by socket address: to any kind of service point whose qualifier is the port of `address`.
    ///
    /// # Errors
    /// Errors of [`Endpoint::connect`]; [`AddressFault::Malformed`] if the address has no port or does not match the
    /// endpoint's kind of socket ([`Field::Comm`](super::table::Field::Comm)).
    pub fn common_connect(
        self: &Arc<Self>,
        address: &Address,
        timeout: Option<Duration>,
        private_data: &[u8],
    ) -> Result<()> {
        let request = Connect { address, qualifier: address.port().into(), timeout, private_data };
        self.start(&request, |control| {
            control.comm.check_address(address)?;
            if address.port() == 0 {
                return Err(Error::InvalidAddress(AddressFault::Malformed));
            }
            Ok(())
        })
    }

    fn start(self: &Arc<Self>, request: &Connect<'_>, check: impl FnOnce(&Control<T>) -> Result<()>) -> Result<()> {
        debug_assert!(request.private_data.len() <= self.ia.attributes().max_private_data);
        if !request.address.is_host() {
            return Err(Error::InvalidAddress(AddressFault::Unsupported));
        }
        if request.timeout.is_some_and(|timeout| timeout.is_zero()) {
            return Err(Error::InvalidParameter(Arg::Timeout));
        }
        let mut control = self.live()?;
        let next = if self.has_datagrams() { Ok(Next::Stay) } else { next(control.state, Trigger::Connect) }?;
        self.ready(&control)?;
        check(&control)?;
        self.ia.transport.check_address(request.address)?;
        let Next::Go(to) = next else { return self.ask_peer(&mut control, request) };
        let remote = memory::arc(request.address.clone())?;
        let qp = self.make_qp(&mut control)?;
        if let Err(error) = self.ia.transport.connect(&qp, request) {
            self.unmake_qp(&mut control);
            return Err(error);
        }
        control.remote = Some((remote, request.qualifier));
        control.connects += 1;
        self.ia.conn_stats.note(ConnStat::Connect);
        self.enter(&mut control, to);
        let (ep, Connect { qualifier, address, .. }) = (self.header.handle(), request);
        log::debug!(target: host::diagnostics::CM, "endpoint {ep}: connects to qualifier {qualifier} at {address}");
        Ok(())
    }

    /// Starts to connect to the address and qualifier of the peer to which the endpoint `like` is connected.
    ///
    /// # Errors
    /// Errors of [`Endpoint::connect`]; [`crate::error::StateError::Endpoint`] with the state of `like` unless `like`
    /// is connected.
    pub fn dup_connect(
        self: &Arc<Self>,
        like: &Endpoint<T>,
        timeout: Option<Duration>,
        private_data: &[u8],
    ) -> Result<()> {
        let (address, qualifier) = {
            let control = like.control.lock();
            match &control.remote {
                Some(remote) if control.state == EpState::Connected => remote.clone(),
                _ => return Err(control.state.into()),
            }
        };
        self.connect(&Connect { address: &address, qualifier, timeout, private_data })
    }

    /// Accepts a connection request. `trigger` specifies whether the program or the service point chose the endpoint.
    pub(crate) fn accept(
        self: &Arc<Self>,
        trigger: Trigger,
        incoming: &mut Option<T::Incoming>,
        remote: (Arc<Address>, u64),
        private_data: &[u8],
    ) -> Result<()> {
        let mut control = self.live()?;
        let Next::Go(to) = next(control.state, trigger)? else { return Err(Error::Internal) };
        if self.ready(&control).is_err() {
            return Err(Error::InvalidHandle(Role::Ep));
        }
        let qp = self.make_qp(&mut control)?;
        if let Err(error) = self.ia.transport.accept(incoming, &qp, private_data) {
            self.unmake_qp(&mut control);
            return Err(error);
        }
        log::debug!(target: host::diagnostics::CM, "endpoint {}: accepts a connection request from {}", self.header.handle(), remote.0);
        control.remote = Some(remote);
        control.local_qualifier = self.ia.transport.local_qualifier(&qp);
        self.ia.conn_stats.note(ConnStat::Accept);
        self.enter(&mut control, to);
        Ok(())
    }

    /// Ends the connection or the attempt, if there is one. A graceful end first completes the posted requests.
    ///
    /// # Errors
    /// [`crate::error::StateError::Endpoint`] if the endpoint has neither begun to connect nor accepted a request.
    pub fn disconnect(&self, graceful: bool) -> Result<()> {
        self.drain_completions();
        let mut control = self.live()?;
        if self.has_datagrams() {
            // A datagram endpoint has no connection. Its work in flight continues.
            return Ok(());
        }
        let (trigger, how) = match graceful {
            true => (Trigger::DisconnectGraceful, "gracefully"),
            false => (Trigger::DisconnectAbrupt, "abruptly"),
        };
        let Next::Go(to) = next(control.state, trigger)? else { return Ok(()) };
        let Some(qp) = control.qp.clone() else { return Err(Error::Internal) };
        control.disconnects += 1;
        self.ia.conn_stats.note(ConnStat::Disconnect);
        log::debug!(target: host::diagnostics::CM, "endpoint {}: disconnects, {how}", self.header.handle());
        if to == EpState::DisconnectPending {
            control.state = to;
            let idle = {
                let mut requests = self.requests();
                requests.enter(self.header.handle(), to);
                requests.flight.is_empty()
            };
            if !idle {
                let _ = self.ia.transport.disconnect(&qp, Disconnect::AfterRequests);
                return Ok(());
            }
        }
        let mut closing = self.ia.transport.disconnect(&qp, Disconnect::Now);
        if closing != Closing::Done {
            control.state = EpState::DisconnectPending;
            self.requests().enter(self.header.handle(), EpState::DisconnectPending);
        }
        if closing == Closing::Exposed {
            let life = control.life;
            MutexGuard::unlocked(&mut control, || self.ia.transport.await_end(&qp));
            if control.life != life {
                // The connection has ended while `control` was unlocked.
                return Ok(());
            }
            closing = self.ia.transport.disconnect(&qp, Disconnect::Now);
        }
        if closing == Closing::Done {
            self.end(&mut control, Some(ConnectionEvent::Disconnected), None, None);
        }
        Ok(())
    }

    /// Changes the state to connected. Queues the connection event, and the completions of receives that waited for it.
    /// Returns the exceeded watermarks.
    pub(super) fn establish(&self, control: &mut Control<T>, private_data: Vec<u8>) -> Passed {
        let active = control.state == EpState::ActiveConnectionPending;
        let Ok(Next::Go(to)) = next(control.state, Trigger::Established) else { return Default::default() };
        if let Some(qp) = &control.qp {
            control.local_qualifier = self.ia.transport.local_qualifier(qp);
        }
        // The passive side's event has no private data.
        let private_data: Option<Arc<[u8]>> = (active && !private_data.is_empty()).then(|| private_data.into());
        control.private_data = private_data.clone();
        control.state = to;
        control.was_up = true;
        self.ia.conn_stats.note(if active { ConnStat::ActiveUp } else { ConnStat::PassiveUp });
        self.requests().enter(self.header.handle(), to);
        let mut receives = self.receives.lock();
        receives.enter(to);
        if let Some(evd) = &control.connect_evd {
            // Completions that arrived before the event were held. On the event's EVD, they follow the event. On a
            // different EVD, they precede it, so that a program that takes the event finds them.
            let same = receives.evd.as_ref().is_some_and(|recv| Arc::ptr_eq(recv.object(), evd.object()));
            if !same {
                self.release_held(&mut receives);
            }
            let kind = ConnectionEvent::Established;
            evd.push_connection(Event::Connection { ep: self.header.handle(), kind, private_data });
        }
        self.release_held(&mut receives);
        receives.watermarks_passed()
    }

    pub(super) fn ready(&self, control: &Control<T>) -> Result<()> {
        if control.connect_evd.as_ref().is_none_or(Use::is_gone) {
            return Err(Error::InvalidHandle(Role::EvdConnect));
        }
        let requests = self.requests().evd.is_some() || control.attr.max_request_dtos == 0;
        let receives = self.receives.lock().evd.is_some() || (self.srq.is_none() && control.attr.max_recv_dtos == 0);
        if control.pz.is_none() || !requests || !receives {
            return Err(Error::NOT_READY);
        }
        Ok(())
    }

    pub(super) fn enter(&self, control: &mut Control<T>, state: EpState) {
        control.state = state;
        self.requests().enter(self.header.handle(), state);
        self.receives.lock().enter(state);
    }

    fn make_qp(self: &Arc<Self>, control: &mut Control<T>) -> Result<Arc<T::Qp>> {
        let transport = &self.ia.transport;
        let mut requests = self.requests();
        let mut receives = self.receives.lock();
        requests.flight.reserve(control.attr.max_request_dtos)?;
        let sink = EndpointSink { endpoint: self.clone(), life: control.life };
        let (qp, tx) = transport.qp_create(self.qp_init(control, &requests, &receives, sink)?)?;
        control.qp = Some(qp.clone());
        requests.life = control.life;
        receives.life = control.life;
        requests.qp = Some(qp.clone());
        requests.tx = tx;
        // Ignores whether `post_recv` requires a kick: without a connection, no message can wait for the receive.
        let handed = self.hand_over(&mut receives, |recv| transport.post_recv(&qp, recv).map(|_| ()));
        receives.qp = Some(qp.clone());
        drop(receives);
        drop(requests);
        match handed {
            Ok(()) => Ok(qp),
            Err(error) => {
                self.unmake_qp(control);
                Err(error)
            }
        }
    }

    pub(super) fn qp_init<'a, S>(
        &'a self,
        control: &'a Control<T>,
        requests: &'a Requests<T>,
        receives: &'a Receives<T>,
        sink: S,
    ) -> Result<QpInit<'a, T, S>> {
        let reads = |count: usize| u8::try_from(count).unwrap_or(u8::MAX);
        let attr = &control.attr;
        Ok(QpInit {
            sink,
            zone: &control.pz.as_ref().ok_or(Error::NOT_READY)?.zone,
            request_cq: requests.evd.as_ref().and_then(|evd| evd.cq.as_ref()),
            recv_cq: receives.evd.as_ref().and_then(|evd| evd.cq.as_ref()),
            srq: self.srq.as_ref().map(|srq| &srq.queue),
            solicited: receives.feed == Feed::Solicited,
            extended: self.ia.api_caps.extended,
            sizes: QpSizes {
                recvs: if self.srq.is_some() { 0 } else { attr.max_recv_dtos },
                requests: attr.max_request_dtos,
                usual: attr.usual_queues,
                recv_segments: receives.max_segments,
                request_segments: requests
                    .max_segments
                    .max(requests.max_read_segments)
                    .max(requests.max_write_segments),
                reads_in: reads(attr.max_rdma_read_in),
                reads_out: reads(attr.max_rdma_read_out),
            },
        })
    }

    /// Reverts [`Endpoint::make_qp`].
    fn unmake_qp(&self, control: &mut Control<T>) {
        if let Some(qp) = control.qp.take() {
            let _ = self.ia.transport.disconnect(&qp, Disconnect::Now);
        }
        control.life += 1;
        let mut requests = self.requests();
        let mut receives = self.receives.lock();
        requests.life = control.life;
        receives.life = control.life;
        requests.qp = None;
        requests.tx = T::Tx::default();
        receives.qp = None;
        receives.take_back();
        // Flushes the receives that were posted since [`Endpoint::make_qp`], because only the queue pair has their
        // segments. Earlier receives are stored in `early`.
        let last = receives.early.back().map(|early| early.id);
        while let Some(Posted { cookie, quiet, .. }) =
            receives.posted.remove(|posted| last.is_none_or(|id| posted.id > id))
        {
            receives.complete(self.header.handle(), cookie, &Ended::unfilled(Status::Flushed), quiet, None);
        }
    }
}
