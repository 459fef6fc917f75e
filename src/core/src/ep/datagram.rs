//! Endpoints for datagrams: each has many peers, to whom it sends by number.
//!
//! A transport has connections alone. So an endpoint for datagrams owns a *lane* for each peer that it has asked or
//! accepted: an endpoint without a handle of its own, whose connection carries datagrams in both directions
//! ([`QpInit::datagrams`](crate::transport::QpInit::datagrams)). All lanes of an endpoint receive from one shared queue, that
//! of the program or one that the endpoint keeps for the receives posted to it, and their events bear the handle of the
//! endpoint.
//!
//! A send is complete when its bytes are in the lane's [`Backlog`]. While that is full, a post waits for a peer that takes what
//! is there, and for no other one: then the datagram is lost, as it is if the lane has ended. An arriving datagram is lost if
//! there is no receive for it. Both are counted. What waits in backlogs when the endpoint is freed has a moment to leave.
//!
//! A lane that ends after it was established has no event, as nothing on a network would tell of it. A lane lives until its
//! endpoint is freed, or until the program can name the peer no more and that is gone, as far as the transport knows of that
//! ([`Hooks::forget_peer`](crate::transport::Hooks::forget_peer)).

mod backlog;
mod own;

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use host::lock::Mutex;
use host::memory::{self, Room};
use host::pause::Pause;
use once_cell::sync::OnceCell;

use self::backlog::Backlog;
use self::own::Own;
use crate::addr::{Address, Comm};
use crate::attached_data::AttachedData;
use crate::counters::Counters;
use crate::ep::attr::{EpAttributes, Watermark};
use crate::ep::endpoint::{Control, Endpoint};
use crate::ep::receives::Receives;
use crate::ep::report::EndpointSink;
use crate::ep::requests::{InFlight, Requests, Work};
use crate::ep_state::{EpState, Trigger};
use crate::error::{Arg, Error, Result, Role};
use crate::event::{CompletionFlags, ConnectionEvent, Event, Extended, Peer, PeerEvent, Status};
use crate::lmr_table::SegmentList;
use crate::mem::Rights;
use crate::slab::{Handle, Header};
use crate::transport::{Checked, Connect, ConnectionRequestInfo, Poll, Transport};
use crate::users::Use;

/// How long a free of an endpoint waits for peers that take none of what was sent to them: as long as a connection over TCP that
/// ends.
const LEAVE: Duration = Duration::from_millis(100);
/// How long it waits for peers that take a little at a time.
const LEAVE_AT_MOST: Duration = Duration::from_secs(1);

/// The number of the next peer of any endpoint.
static NEXT: AtomicU64 = AtomicU64::new(1);

/// What an endpoint is for.
pub(super) enum Service<T: Transport> {
    /// One connection at a time.
    Connection,
    /// Datagrams to and from many peers.
    Datagrams(Box<Peers<T>>),
    /// One peer of an endpoint for datagrams.
    Lane(Lane<T>),
}

/// The peers of an endpoint for datagrams.
pub(super) struct Peers<T: Transport> {
    /// The receives posted to the endpoint, if it has no shared queue of the program's.
    own: Option<Own<T>>,
    /// What peers know the endpoint by.
    number: u32,
    known: Mutex<Known<T>>,
    /// Datagrams that were not sent, and those that found no receive.
    lost: AtomicU64,
}

struct Known<T: Transport> {
    /// By their numbers, which rise.
    peers: Vec<Entry<T>>,
    /// What the lanes have counted that are gone.
    ended: Counters,
    /// Lanes that are gone, of which the transport may have something still.
    gone: Vec<Weak<Endpoint<T>>>,
}

struct Entry<T: Transport> {
    number: u64,
    lane: Arc<Endpoint<T>>,
    /// The program can send to it.
    handle: bool,
    /// The program has not given back what the connection manager keeps.
    context: bool,
}

impl<T: Transport> Known<T> {
    fn at(&self, number: u64) -> Option<usize> {
        self.peers.binary_search_by_key(&number, |entry| entry.number).ok()
    }

    fn get(&mut self, number: u64) -> Option<&mut Entry<T>> {
        self.at(number).and_then(|at| self.peers.get_mut(at))
    }

    fn remove(&mut self, number: u64) -> Option<Arc<Endpoint<T>>> {
        self.at(number).map(|at| self.peers.remove(at).lane)
    }
}

/// One peer, on the side of its lane.
pub(super) struct Lane<T: Transport> {
    owner: Weak<Endpoint<T>>,
    /// That of the owner.
    number: u32,
    peer: Arc<Peer>,
    /// The peer has asked.
    passive: bool,
    backlog: Backlog<T>,
}

impl<T: Transport> Peers<T> {
    /// No peers yet. `own` says whether receives are posted to the endpoint itself.
    pub fn new(own: bool) -> Result<Box<Self>> {
        let own = own.then(Own::new);
        let known = Mutex::new(Known { peers: Vec::new(), ended: Counters::default(), gone: Vec::new() });
        Ok(memory::boxed(Peers { own, number: endpoint_number(), known, lost: AtomicU64::new(0) })?)
    }

    /// The lane to a peer that the program can send to.
    fn lane(&self, peer: u64) -> Option<Arc<Endpoint<T>>> {
        self.known.lock().get(peer).filter(|entry| entry.handle).map(|entry| entry.lane.clone())
    }

    /// What the lanes have counted. `look` looks at one of them.
    pub fn counters(&self, mut look: impl FnMut(&Endpoint<T>) -> Option<Counters>) -> Option<Counters> {
        let (lanes, mut all) = self.lanes();
        for lane in lanes {
            all.add(&look(&lane)?);
        }
        Some(all)
    }

    /// The lanes, and what those have counted that are gone. A lane may lock this while its own locks are held.
    fn lanes(&self) -> (Vec<Arc<Endpoint<T>>>, Counters) {
        let known = self.known.lock();
        (known.peers.iter().map(|entry| entry.lane.clone()).collect(), known.ended)
    }

    /// Forgets the lanes, which have ended, and what was counted.
    pub fn forget(&self) {
        let mut known = self.known.lock();
        let gone = std::mem::take(&mut known.peers);
        known.ended = Counters::default();
        self.lost.store(0, Ordering::Relaxed);
        drop(known);
        drop(gone);
    }

    /// Calls `f` with each lane.
    pub fn each(&self, f: impl Fn(&Arc<Endpoint<T>>)) {
        self.lanes().0.iter().for_each(f);
    }
}

/// A number for an endpoint, by which peers can tell it from those of other processes: no two processes of a host have the same
/// lower bits of their numbers, as long as these do not go above four million.
fn endpoint_number() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let process = std::process::id() << 10;
    let number = process | (NEXT.fetch_add(1, Ordering::Relaxed) & 0x3ff);
    number.max(1)
}

impl<T: Transport> Lane<T> {
    /// What its peer is to know of it: the number of the endpoint.
    pub fn number_of_owner(&self) -> u32 {
        self.number
    }

    /// The event that announces it, with the answer of a peer that was asked, and the number of its endpoint.
    pub fn established(&self, private_data: Option<Arc<[u8]>>, endpoint: Option<u32>) -> PeerEvent {
        if let Some(endpoint) = endpoint {
            let _ = self.peer.endpoint.set(endpoint);
        }
        if let Some(data) = private_data {
            let _ = self.peer.private_data.set(data);
        }
        if let Some(owner) = self.owner.upgrade() {
            if let Service::Datagrams(peers) = &owner.service {
                if let Some(entry) = peers.known.lock().get(self.peer.number) {
                    (entry.handle, entry.context) = (true, true);
                }
            }
        }
        if self.passive { PeerEvent::Accepted } else { PeerEvent::Answered }
    }

    /// The event about the end; none if the peer was known, as nothing on a network would tell of it.
    pub fn end(
        &self,
        ep: Handle,
        kind: ConnectionEvent,
        private_data: Option<Arc<[u8]>>,
        was_known: bool,
    ) -> Option<Event> {
        let what = match kind {
            _ if was_known => return None,
            ConnectionEvent::TimedOut | ConnectionEvent::Unreachable => {
                return Some(Event::Connection { ep, kind, private_data: None });
            }
            _ if self.passive => PeerEvent::Failed,
            _ => PeerEvent::Rejected,
        };
        if let Some(data) = private_data {
            let _ = self.peer.private_data.set(data);
        }
        Some(self.event(ep, what))
    }

    /// The event.
    pub fn event(&self, ep: Handle, kind: PeerEvent) -> Event {
        Event::Peer { ep, kind, peer: self.peer.clone() }
    }

    /// Gives back the memory of what was sent, because the lane has ended.
    pub fn retire(&self, control: &mut Control<T>) {
        self.backlog.release();
        control.pz = None;
    }

    /// Forgets the lane once it has ended, unless the program can still name it.
    pub fn leave(&self, lane: &Endpoint<T>) {
        let owner = self.owner.upgrade();
        let Some(Service::Datagrams(peers)) = owner.as_ref().map(|owner| &owner.service) else { return };
        let counted = lane.counters();
        let mut known = peers.known.lock();
        if known.get(self.peer.number).is_some_and(|entry| !entry.handle && !entry.context) {
            known.ended.add(&counted);
            known.gone.retain(|gone| gone.strong_count() > 0);
            if known.gone.room(1).is_ok() {
                if let Some(gone) = known.remove(self.peer.number) {
                    known.gone.push(Arc::downgrade(&gone));
                    drop(known);
                    drop(gone);
                }
            }
        }
    }
}

impl<T: Transport> Endpoint<T> {
    /// Whether it is for datagrams.
    pub fn has_datagrams(&self) -> bool {
        matches!(self.service, Service::Datagrams(_))
    }

    /// The datagrams that it has lost.
    pub fn lost_datagrams(&self) -> u64 {
        if let Service::Datagrams(peers) = &self.service { peers.lost.load(Ordering::Relaxed) } else { 0 }
    }

    /// A lane to a peer, which the endpoint does not know yet.
    fn make_lane(
        self: &Arc<Self>,
        control: &Control<T>,
        peers: &Peers<T>,
        address: &Address,
        request: Option<&ConnectionRequestInfo>,
    ) -> Result<Arc<Self>> {
        let attr = EpAttributes {
            max_recv_dtos: 0,
            max_request_dtos: T::LANE,
            // Its datagrams leave from the backlog, in one piece each.
            max_request_iov: 1,
            max_rdma_read_iov: 1,
            max_rdma_write_iov: 1,
            max_rdma_read_in: 0,
            max_rdma_read_out: 0,
            request_completion_flags: CompletionFlags::DEFAULT,
            soft_watermark: Watermark::Infinite,
            hard_watermark: Watermark::Infinite,
            ..control.attr
        };
        let peer = Peer {
            number: NEXT.fetch_add(1, Ordering::Relaxed),
            endpoint: request.and_then(|request| request.datagrams).map_or_else(OnceCell::new, OnceCell::with_value),
            address: address.clone(),
            private_data: request
                .map_or_else(OnceCell::new, |request| OnceCell::with_value(request.private_data.as_slice().into())),
        };
        let lane = Lane {
            owner: Arc::downgrade(self),
            number: peers.number,
            peer: memory::arc(peer)?,
            passive: request.is_some(),
            backlog: Backlog::new(),
        };
        let recv_evd = self.receives.lock().evd.as_ref().and_then(|evd| Use::of(evd.object()));
        let own = peers.own_queue(&self.ia, control.pz.as_ref().map(|pz| pz.object()))?;
        let lane = memory::arc(Endpoint {
            header: Header::part_of(self.header.handle()),
            ia: self.ia.clone(),
            srq: self.srq.clone().or(own),
            control: Mutex::new(Control {
                state: EpState::Unconnected,
                attr,
                pz: control.pz.as_ref().and_then(|pz| Use::of(pz.object())),
                connect_evd: control.connect_evd.as_ref().and_then(|evd| Use::of(evd.object())),
                srq: None,
                qp: None,
                life: 1,
                remote: None,
                local_qualifier: 0,
                comm: Comm::default(),
                private_data: None,
                was_up: false,
                connects: 0,
                disconnects: 0,
                freed: false,
            }),
            requests: Mutex::new(Requests::new(None)),
            poll_deferred: Default::default(),
            receives: Mutex::new(Receives::new(recv_evd, true)?),
            kept: AttachedData::default(),
            counter_baseline: AttachedData::default(),
            service: Service::Lane(lane),
        })?;
        {
            let control = lane.control.lock();
            lane.configure(&control, &mut lane.requests(), &mut lane.receives.lock())?;
        }
        Ok(lane)
    }

    /// Makes a lane to a peer and has `begin` begin its connection; the endpoint is in `state` then.
    fn add_lane(
        self: &Arc<Self>,
        peers: &Peers<T>,
        control: &mut Control<T>,
        (address, qualifier, request): (&Address, u64, Option<&ConnectionRequestInfo>),
        state: EpState,
        begin: impl FnOnce(&Arc<Self>) -> Result<()>,
    ) -> Result<()> {
        let remote = memory::arc(address.clone())?;
        let lane = self.make_lane(control, peers, address, request)?;
        let Service::Lane(Lane { peer, .. }) = &lane.service else { return Err(Error::Internal) };
        let number = peer.number;
        {
            let mut known = peers.known.lock();
            known.peers.room(1)?;
            // Another thread may have got the next number before.
            let at = known.peers.partition_point(|entry| entry.number < number);
            known.peers.insert(at, Entry { number, lane: lane.clone(), handle: false, context: false });
        }
        if let Err(error) = begin(&lane) {
            peers.known.lock().remove(number);
            return Err(error);
        }
        control.remote = Some((remote, qualifier));
        self.enter(control, state);
        Ok(())
    }

    /// Asks a peer for the exchange of datagrams. The outcome is one event on the connect dispatcher.
    pub(super) fn ask_peer(self: &Arc<Self>, control: &mut Control<T>, request: &Connect<'_>) -> Result<()> {
        let Service::Datagrams(peers) = &self.service else { return Err(Error::Internal) };
        let about = (request.address, request.qualifier, None);
        self.add_lane(peers, control, about, EpState::ActiveConnectionPending, |lane| {
            // The program has no limit for the time of datagrams.
            lane.connect(&Connect { timeout: None, ..*request })
        })?;
        control.connects += 1;
        Ok(())
    }

    /// Accepts the request of a peer for the exchange of datagrams.
    ///
    /// # Errors
    /// As [`Endpoint::accept`].
    pub(crate) fn accept_peer(
        self: &Arc<Self>,
        incoming: &mut Option<T::Incoming>,
        request: &ConnectionRequestInfo,
        private_data: &[u8],
    ) -> Result<()> {
        let Service::Datagrams(peers) = &self.service else { return Err(Error::InvalidHandle(Role::Ep)) };
        let mut control = self.live()?;
        if self.ready(&control).is_err() {
            return Err(Error::InvalidHandle(Role::Ep));
        }
        let (address, qualifier) = (&request.remote_address, request.remote_qualifier);
        let about = (address, qualifier, Some(request));
        self.add_lane(peers, &mut control, about, EpState::CompletionPending, |lane| {
            lane.accept(Trigger::AcceptExplicit, incoming, (address, qualifier), private_data)
        })
    }

    /// Posts a datagram to the peer of this number. It is complete at once.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] unless the endpoint is for datagrams; [`Arg::Remote`] for a number that the program has got from
    /// no endpoint of the same adapter and zone, or has given back; [`Error::LengthError`] above the MTU; otherwise those of
    /// [`Endpoint::post_send`].
    pub fn post_datagram<S: SegmentList + ?Sized>(
        &self,
        segments: &S,
        cookie: u64,
        peer: u64,
        completion: CompletionFlags,
    ) -> Result<()> {
        let Service::Datagrams(peers) = &self.service else { return Err(Error::InvalidHandle(Role::Ep)) };
        segments.check()?;
        let mut checked = Checked::new();
        let (zone, len) = {
            let requests = self.requests();
            let zone = requests.zone_of_datagram(completion, segments.count())?;
            (zone, self.ia.lmrs.check_all(segments, zone, Rights::LOCAL_READ, &mut checked)?)
        };
        if len > self.ia.transport.attributes().fabric.mtu as u64 {
            return Err(Error::LengthError);
        }
        // The receiver does not see which endpoint has sent, so the lane of another one will do.
        let lane = peers.lane(peer).or_else(|| self.ia.find(|other: &Self| other.lane_in(zone, peer)));
        let lane = lane.ok_or(Error::InvalidParameter(Arg::Remote))?;
        if !lane.carry(&checked, len, completion.contains(CompletionFlags::SOLICITED_WAIT))? {
            peers.lost.fetch_add(1, Ordering::Relaxed);
        }
        let mut requests = self.requests();
        let work = Work::Extended(Extended::SendDatagram, len);
        work.show_posted(self.header.handle(), cookie);
        requests.count(work);
        let request = InFlight { mark: Default::default(), cookie, flags: completion, work };
        requests.complete(self.header.handle(), &request, Status::Success);
        Ok(())
    }

    /// The lane to a peer that the program can send to, if the endpoint has this protection zone.
    fn lane_in(&self, zone: u32, peer: u64) -> Option<Arc<Self>> {
        let Service::Datagrams(peers) = &self.service else { return None };
        peers.lane(peer).filter(|lane| lane.requests().zone == Some(zone))
    }

    /// Gives back the number of a peer: nothing more can be sent to it. What it sends still comes.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] unless the endpoint is for datagrams; [`Arg::Remote`] for a number that the program has not got
    /// from this endpoint, or has given back.
    pub fn free_peer(&self, number: u64) -> Result<()> {
        self.give_back(number, |entry| &mut entry.handle)
    }

    /// Gives back what is kept of the exchange by which a peer became known.
    ///
    /// # Errors
    /// Those of [`Endpoint::free_peer`].
    pub fn free_exchange(&self, number: u64) -> Result<()> {
        self.give_back(number, |entry| &mut entry.context)
    }

    fn give_back(&self, number: u64, of: impl FnOnce(&mut Entry<T>) -> &mut bool) -> Result<()> {
        let Service::Datagrams(peers) = &self.service else { return Err(Error::InvalidHandle(Role::Ep)) };
        let mut known = peers.known.lock();
        let entry = known.get(number).ok_or(Error::InvalidParameter(Arg::Remote))?;
        let ended = entry.lane.clone();
        if !std::mem::take(of(entry)) {
            return Err(Error::InvalidParameter(Arg::Remote));
        }
        let unknown = !entry.handle && !entry.context;
        drop(known);
        let (over, qp) = {
            let control = ended.control.lock();
            (control.state == EpState::Disconnected, control.qp.clone())
        };
        match (&ended.service, qp) {
            (Service::Lane(lane), _) if over => lane.leave(&ended),
            (_, Some(qp)) if unknown => self.ia.transport.forget_peer(&qp),
            _ => {}
        }
        Ok(())
    }

    /// Ends all lanes, because the endpoint is freed. What was sent leaves before, unless its peers take nothing.
    pub(super) fn bury_lanes(&self) {
        let Service::Datagrams(peers) = &self.service else { return };
        let begun = Instant::now();
        let (mut least, mut since, mut pause) = (usize::MAX, begun, Pause::new());
        loop {
            // The peer may do the same.
            self.ia.transport.poll(None, Poll::IfFree);
            let waiting = peers.lanes().0.iter().map(|lane| lane.still_carried()).sum();
            if waiting < least {
                (least, since) = (waiting, Instant::now());
            }
            if waiting == 0 || since.elapsed() >= LEAVE || begun.elapsed() >= LEAVE_AT_MOST {
                break;
            }
            pause.pass();
        }
        // All begin to end before the end of one is waited for.
        peers.each(|lane| lane.let_go());
        peers.each(|lane| lane.free_anyway());
        // Those that are gone may keep a dispatcher for a moment.
        let gone = std::mem::take(&mut peers.known.lock().gone);
        gone.iter().filter_map(Weak::upgrade).for_each(|lane| lane.free_anyway());
    }
}

impl<T: Transport> EndpointSink<T> {
    /// Reports that a datagram has found no receive, or one that is too short.
    pub fn datagram_lost(&self) {
        if let Service::Lane(lane) = &self.endpoint.service {
            if let Some(owner) = lane.owner.upgrade() {
                if let Service::Datagrams(peers) = &owner.service {
                    peers.lost.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}

impl<T: Transport> Requests<T> {
    /// The zone for the segments of a datagram: as [`Requests::zone_for`], in any state.
    fn zone_of_datagram(&self, completion: CompletionFlags, segments: usize) -> Result<u32> {
        match self.zone {
            _ if !self.has_flags(completion, true) => Err(Error::InvalidParameter(Arg::Flags)),
            _ if segments > self.max_segments => Err(Error::InvalidParameter(Arg::SegmentCount)),
            Some(zone) if self.evd.is_some() => Ok(zone),
            _ => Err(super::endpoint::not_ready()),
        }
    }
}
