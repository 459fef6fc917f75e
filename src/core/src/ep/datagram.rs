//! Datagram endpoints.
//!
//! Such an endpoint has any number of peers. Its queue pair is created by the first exchange, or by the first send with
//! an address handle that another endpoint obtained. The endpoint's free closes the queue pair. The transport reports
//! completions and lost datagrams to a [`DatagramSink`].
//!
//! Each exchange ends with one event ([`Exchange`]). After a success, the event contains an address handle ([`Ah`]),
//! which exists until the program frees handle and exchange, or the endpoint. No event reports the end of a peer.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use host::lock::MutexGuard;
use host::memory::{self, ArcRoom, Room};

use crate::addr::Address;
use crate::ah::{Ah, Claim};
use crate::arena::Handle;
use crate::counters::ConnStat;
use crate::ep::endpoint::{Control, Endpoint};
use crate::ep::receives::{Ended, Receives};
use crate::ep::report::announced;
use crate::ep::requests::{InFlight, Requests, Work};
use crate::ep::service::{Service, UdEndpoint};
use crate::ep_state::EpState;
use crate::error::{Arg, Error, Result, Role};
use crate::event::{CompletionFlags, ConnectionEvent, Event, Peer, PeerEvent, Status, Transfer};
use crate::lmr_table::SegmentList;
use crate::mem::Rights;
use crate::transport::datagrams::{Datagrams, LEAD, PeerOf};
use crate::transport::{
    Checked, Connect, ConnectionReport, ConnectionRequestInfo, FailedRequest, Operation, Poll, RecvDone, Request,
    Segment, SeqNo, Taken, Transport,
};

impl<T: Transport> Endpoint<T> {
    /// Returns whether the endpoint is for datagrams.
    pub fn has_datagrams(&self) -> bool {
        self.datagrams().is_ok()
    }

    pub(super) fn datagrams(&self) -> Result<&UdEndpoint<T>> {
        if let Service::Datagrams(own) = &self.service { Ok(own) } else { Err(Error::InvalidHandle(Role::Ep)) }
    }

    /// Returns the number of datagrams that were lost after their completion, or arrived without a receive that fits.
    pub fn lost_datagrams(&self) -> u64 {
        self.datagrams().map_or(0, |own| own.lost.load(Ordering::Relaxed))
    }

    pub(crate) fn datagram_qp(&self) -> Option<Arc<T::DatagramQp>> {
        self.requests().datagram_qp.clone()
    }

    /// Returns the datagram queue pair. The first call creates it and posts the stored receives.
    fn make_datagram_qp(self: &Arc<Self>, control: &mut Control<T>) -> Result<Arc<T::DatagramQp>> {
        let transport = &self.ia.transport;
        let mut requests = self.requests();
        if let Some(qp) = &requests.datagram_qp {
            return Ok(qp.clone());
        }
        let mut receives = self.receives.lock();
        requests.flight.reserve(control.attr.max_request_dtos)?;
        let sink = DatagramSink { endpoint: self.clone() };
        let qp = T::DatagramQp::create(transport, self.qp_init(control, &requests, &receives, sink)?)?;
        if let Err(error) = self.hand_over(&mut receives, |recv| qp.post_recv(recv)) {
            receives.take_back();
            drop((receives, requests));
            T::DatagramQp::close(transport, &[qp]);
            return Err(error);
        }
        receives.datagram_qp = Some(qp.clone());
        requests.datagram_qp = Some(qp.clone());
        control.state = EpState::ActiveConnectionPending;
        requests.enter(self.header.handle(), control.state);
        receives.enter(control.state);
        Ok(qp)
    }

    /// Requests an exchange from the service point of `request`. One event reports the outcome.
    pub(super) fn ask_peer(self: &Arc<Self>, control: &mut Control<T>, request: &Connect<'_>) -> Result<()> {
        let remote = memory::arc(request.address.clone())?;
        let exchange = Exchange::new(self, request.address, None)?;
        let qp = self.make_datagram_qp(control)?;
        // No timeout, because the transport chooses the time limit of an exchange.
        qp.resolve(&self.ia.transport, &Connect { timeout: None, ..*request }, exchange)?;
        control.remote = Some((remote, request.qualifier));
        control.connects += 1;
        self.ia.conn_stats.note(ConnStat::Connect);
        self.enter(control, EpState::ActiveConnectionPending);
        Ok(())
    }

    /// Accepts the request `incoming` of a peer for an exchange. One event reports the outcome.
    ///
    /// # Errors
    /// Errors of [`Endpoint::accept`].
    pub(crate) fn accept_peer(
        self: &Arc<Self>,
        incoming: &mut Option<T::Incoming>,
        info: &ConnectionRequestInfo,
        private_data: &[u8],
    ) -> Result<()> {
        let mut control = self.live()?;
        if self.ready(&control).is_err() {
            return Err(Error::InvalidHandle(Role::Ep));
        }
        let remote = memory::arc(info.remote_address.clone())?;
        let request = Some((info.datagrams.unwrap_or(0), info.private_data.as_slice().into()));
        let exchange = Exchange::new(self, &info.remote_address, request)?;
        let qp = self.make_datagram_qp(&mut control)?;
        qp.answer(&self.ia.transport, incoming, private_data, exchange)?;
        control.remote = Some((remote, info.remote_qualifier));
        self.ia.conn_stats.note(ConnStat::Accept);
        self.enter(&mut control, EpState::CompletionPending);
        Ok(())
    }

    /// Posts a send of a datagram to the peer of the address handle `to`.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] unless the endpoint is for datagrams; [`Arg::Remote`] unless `to` is a live address
    /// handle of this adapter and zone; [`Error::LengthError`] above the MTU; errors of [`Endpoint::post`].
    pub fn post_datagram<S: SegmentList + ?Sized>(
        self: &Arc<Self>,
        segments: &S,
        cookie: u64,
        to: Option<&Ah<T>>,
        completion: CompletionFlags,
    ) -> Result<()> {
        self.datagrams()?;
        segments.check()?;
        let transport = &self.ia.transport;
        if let Some(to) = to {
            T::DatagramQp::poll_if_queued(transport, &to.way);
        }
        let mut requests = self.requests();
        let zone = match requests.zone {
            _ if !requests.has_flags(completion, true) => return Err(Error::InvalidParameter(Arg::Flags)),
            _ if segments.count() > requests.max_segments => return Err(Error::InvalidParameter(Arg::SegmentCount)),
            Some(zone) if requests.evd.is_some() => zone,
            _ => return Err(Error::NOT_READY),
        };
        let mut checked = Checked::new();
        let len = self.ia.lmrs.check_all(segments, zone, Rights::LOCAL_READ, &mut checked)?;
        if len > self.ia.attributes().fabric.mtu as u64 {
            return Err(Error::LengthError);
        }
        let to = to.filter(|to| to.admits(&self.ia, zone)).ok_or(Error::InvalidParameter(Arg::Remote))?;
        if requests.datagram_qp.is_none() {
            requests.unlocked(|| self.make_datagram_qp(&mut *self.live()?).map(drop))?;
        }
        if requests.flight.is_full() {
            let evd = requests.evd.as_ref().map(|evd| evd.object().clone());
            requests.unlocked(|| transport.poll(evd.as_ref().and_then(|evd| evd.cq.as_ref()), Poll::Complete));
        }
        let Requests { datagram_qp: Some(qp), flight, .. } = &mut *requests else { return Err(Error::NOT_READY) };
        let Some((id, place)) = flight.next_place() else { return Err(Error::NO_MEMORY) };
        let operation = Operation::Send { solicited: completion.contains(CompletionFlags::SOLICITED_WAIT) };
        let request = Request { id, operation, segments: &checked, len, fence: false, signalled: false };
        let handed = qp.send_to(&to.way, &request)?;
        let work = Work::Transfer(Transfer::SendDatagram, len);
        place.fill(InFlight { mark: handed.mark, cookie, flags: completion, work });
        self.note_posted(&mut requests, handed, cookie, work);
        Ok(())
    }

    /// Frees a [`Claim`]: the handle of a peer, or the record of the exchange. Datagrams of the peer still arrive.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] unless the endpoint is for datagrams; [`Arg::Remote`] if another endpoint obtained
    /// `ah`, or if the program has already freed the claim.
    pub fn free_peer(&self, ah: &Ah<T>, claim: Claim) -> Result<()> {
        let mut handles = self.datagrams()?.handles.lock();
        let at = handles.iter().position(|known| ptr::eq(&**known, ah)).ok_or(Error::InvalidParameter(Arg::Remote))?;
        if ah.release(claim)? {
            let last = handles.swap_remove(at);
            drop(handles);
            self.ia.disown(&*last);
        }
        Ok(())
    }

    pub(super) fn free_handles(&self) {
        let handles = self.datagrams().map_or_else(|_| Vec::new(), |own| std::mem::take(&mut *own.handles.lock()));
        for ah in handles {
            self.ia.disown(&*ah);
        }
    }

    /// Closes the datagram queue pair. Called without a lock.
    pub(super) fn close_datagrams(&self) {
        if let Some(qp) = self.datagram_qp() {
            T::DatagramQp::close(&self.ia.transport, &[qp]);
        }
    }
}

/// An exchange of address handles in progress, through which the transport reports the outcome. A drop without a report
/// ends the exchange without an event.
pub struct Exchange<T: Transport> {
    endpoint: Arc<Endpoint<T>>,
    address: Address,
    /// Number of the peer's endpoint and private data of its request; `None` on the active side.
    request: Option<(u32, Arc<[u8]>)>,
    /// Memory for the event's [`Peer`], allocated at the start, so that a failure can be reported even without memory.
    place: ArcRoom<Peer>,
}

impl<T: Transport> Exchange<T> {
    fn new(endpoint: &Arc<Endpoint<T>>, address: &Address, request: Option<(u32, Arc<[u8]>)>) -> Result<Self> {
        let place = ArcRoom::new()?;
        Ok(Exchange { endpoint: endpoint.clone(), address: address.clone(), request, place })
    }

    /// Reports that datagrams can be sent to the peer. On the active side, `number` is the number of the peer's
    /// endpoint ([`DatagramSink::number`]) and `private_data` its reply; the passive side ignores both. Without memory
    /// for the handle, reports a failure.
    pub fn established(self, way: PeerOf<T>, number: u32, private_data: Vec<u8>) {
        let ep = self.endpoint.clone();
        let (kind, what) = match self.request {
            Some(_) => (PeerEvent::Accepted, ConnStat::PassiveUp),
            None => (PeerEvent::Answered, ConnStat::ActiveUp),
        };
        let (number, private_data) = self.request.clone().unwrap_or_else(|| (number, private_data.into()));
        let private_data = Some(private_data).filter(|data| !data.is_empty());
        let Some(zone) = ep.requests().zone else { return };
        let Ok(ah) = ep.ia.adopt(Ah::new(&ep.ia, zone, way, private_data.clone())) else {
            return self.failed(ConnectionReport::Unreachable);
        };
        let control = ep.control.lock();
        if let (false, Ok(own)) = (control.freed, ep.datagrams()) {
            let mut handles = own.handles.lock();
            if handles.room(1).is_ok() {
                let handle = ah.header.handle();
                handles.push(ah);
                drop(handles);
                let peer = self.place.fill(Peer { handle, number, address: self.address, private_data });
                ep.ia.conn_stats.note(what);
                ep.announce(&control, Event::Peer { ep: ep.header.handle(), kind, peer });
                return;
            }
        }
        drop(control);
        ep.ia.disown(&*ah);
        self.failed(ConnectionReport::Unreachable);
    }

    /// Reports that the exchange has failed. `report` specifies the reason.
    pub fn failed(self, report: ConnectionReport) {
        let Exchange { endpoint: ep, address, request, place } = self;
        let state = if request.is_some() { EpState::CompletionPending } else { EpState::ActiveConnectionPending };
        let ended = announced(state, &report);
        let handle = ep.header.handle();
        let private_data: Option<Arc<[u8]>> = match report {
            ConnectionReport::PeerRejected(data) if !data.is_empty() => Some(data.into()),
            _ => None,
        };
        let kept = private_data.clone();
        let event = match ended {
            ConnectionEvent::TimedOut | ConnectionEvent::Unreachable => {
                Event::Connection { ep: handle, kind: ended, private_data: None }
            }
            _ => {
                let kind = if request.is_some() { PeerEvent::Failed } else { PeerEvent::Rejected };
                let peer = place.fill(Peer { handle: Handle::NULL, number: 0, address, private_data });
                Event::Peer { ep: handle, kind, peer }
            }
        };
        let mut control = ep.control.lock();
        if !control.freed {
            // Keeps the private data of a rejection alive: the program gets a pointer to it from the event.
            control.private_data = kept.or(control.private_data.take());
            ep.ia.conn_stats.note(ConnStat::Ended(ended));
            ep.announce(&control, event);
        }
    }
}

impl<T: Transport> Endpoint<T> {
    fn announce(&self, control: &Control<T>, event: Event) {
        if let Some(evd) = &control.connect_evd {
            evd.push_connection(event);
        }
    }
}

/// The sink for the reports of a datagram endpoint's queue pair.
pub struct DatagramSink<T: Transport> {
    pub(crate) endpoint: Arc<Endpoint<T>>,
}

impl<T: Transport> Clone for DatagramSink<T> {
    fn clone(&self) -> Self {
        DatagramSink { endpoint: self.endpoint.clone() }
    }
}

impl<T: Transport> DatagramSink<T> {
    /// Returns the number by which peers distinguish this endpoint from others; never 0.
    pub fn number(&self) -> u32 {
        self.endpoint.datagrams().map_or(0, |own| own.number.get())
    }

    /// Completes the oldest receive of the endpoint's own queue or its SRQ with a datagram of `len` bytes. `place`
    /// stores the datagram in the segments after [`LEAD`], or returns `false` if they are no longer registered: the
    /// receive then completes with an error. Returns `false` if there is no receive, or the oldest is too short. For
    /// transports with [`Transport::TAKES_RECEIVES`].
    pub fn deliver(&self, len: u64, solicited: bool, place: impl FnOnce(&[Segment]) -> bool) -> bool {
        let (ep, least, mut taken) = (&*self.endpoint, len.saturating_add(LEAD), Taken::default());
        let mut receives = ep.receives.lock();
        let found = match &ep.srq {
            None => receives.take(&mut taken, least),
            Some(srq) => srq.take(&mut taken, least),
        };
        if found {
            taken.skip(LEAD);
            let status = if place(taken.segments()) { Status::Success } else { Status::LocalProtection };
            self.complete(receives, RecvDone { id: taken.id, status, len, solicited });
        }
        found
    }

    /// Reports a completed receive of the endpoint's own queue or its SRQ. `done.len` does not include [`LEAD`].
    pub fn received(&self, done: RecvDone) {
        self.complete(self.endpoint.receives.lock(), done);
    }

    fn complete(&self, mut receives: MutexGuard<'_, Receives<T>>, done: RecvDone) {
        let (ep, ended) = (&*self.endpoint, Ended { done, special: Some((Transfer::RecvDatagram, 0)) });
        if ep.srq.is_none() {
            // The receive may not be the oldest: after a reset of the queue pair, earlier receives may never complete.
            if let Some((cookie, quiet)) = receives.remove(done.id) {
                receives.complete(ep.header.handle(), cookie, &ended, quiet, None);
            }
            return;
        }
        // The buffer counts as taken by this endpoint until `finish` below, so that the check of the soft watermark
        // includes it.
        receives.taken.push(done.id);
        let passed = receives.watermarks_passed();
        ep.finish(&mut receives, &ended);
        drop(receives);
        ep.tell_of(passed);
    }

    /// Reports that at least one of the reported receives was solicited, like
    /// [`EndpointSink::recv_announced`](super::EndpointSink::recv_announced).
    pub fn announced(&self) {
        if let Some(evd) = &self.endpoint.receives.lock().evd {
            evd.announce();
        }
    }

    /// Reports that all datagrams up to position `reached` were sent.
    pub fn sent(&self, reached: SeqNo) {
        let ep = &*self.endpoint;
        let _ = ep.requests().complete_several(ep.header.handle(), reached);
    }

    /// Completes the oldest outstanding datagram with `status`, because it was not sent.
    pub fn not_sent(&self, status: Status) {
        let ep = &*self.endpoint;
        ep.requests().drain(ep.header.handle(), Some((FailedRequest::Oldest, status)));
    }

    /// Adds `count` to the number of datagrams that were lost after completion, or arrived without a receive that fits.
    pub fn lost(&self, count: u64) {
        if let Ok(own) = self.endpoint.datagrams() {
            own.lost.fetch_add(count, Ordering::Relaxed);
        }
    }
}
