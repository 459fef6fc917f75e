//! Endpoints.
//!
//! An endpoint has three locks, taken in this order: `control` (state, attributes,
//! connection), `requests`, `receives`. Posting takes only the one of its direction.

mod attr;
mod connect;
mod end;
mod flight;
pub mod modify;
mod post;
mod recv;
mod state;

use std::collections::VecDeque;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

pub use attr::{EpAttributes, WATERMARK_INFINITE, flags};
pub use connect::ConnectRequest;
pub use recv::RecvInfo;
pub use state::{Gate, Next, State, Trigger, next};

use crate::addr::Address;
use crate::error::{Error, Refusal, Resource, Result, Role};
use crate::evd::{Evd, Feed};
use crate::ia::Ia;
use crate::pz::Pz;
use crate::slab::{Header, Kind, Object};
use crate::srq::Srq;
use crate::transport::{Closing, Poll, RecvDone, Transport};
use crate::users::{Counted, Use};
use flight::Flight;
use recv::{Early, Posted};

/// The objects that an endpoint is made of.
pub struct EpParts<'a, T: Transport> {
    /// Protection zone.
    pub pz: Option<&'a Arc<Pz<T>>>,
    /// Where receives complete.
    pub recv_evd: Option<&'a Arc<Evd<T>>>,
    /// Where requests complete.
    pub request_evd: Option<&'a Arc<Evd<T>>>,
    /// Where connection events go.
    pub connect_evd: Option<&'a Arc<Evd<T>>>,
    /// Where receives come from, if not from the endpoint itself.
    pub srq: Option<&'a Arc<Srq<T>>>,
}

impl<T: Transport> Default for EpParts<'_, T> {
    fn default() -> Self {
        EpParts { pz: None, recv_evd: None, request_evd: None, connect_evd: None, srq: None }
    }
}

/// An endpoint.
pub struct Endpoint<T: Transport> {
    header: Header,
    ia: Arc<Ia<T>>,
    srq: Option<Arc<Srq<T>>>,
    control: Mutex<Control<T>>,
    requests: Mutex<Requests<T>>,
    receives: Mutex<Receives<T>>,
}

struct Control<T: Transport> {
    state: State,
    attr: EpAttributes,
    pz: Option<Use<Pz<T>>>,
    connect_evd: Option<Use<Evd<T>>>,
    srq: Option<Use<Srq<T>>>,
    qp: Option<Arc<T::Qp>>,
    /// Rises when a connection ends, so that late reports on it are told apart.
    life: u64,
    remote: Option<(Arc<Address>, u64)>,
    local_qualifier: u64,
    private_data: Option<Arc<[u8]>>,
    freed: bool,
}

struct Requests<T: Transport> {
    life: u64,
    gate: Gate,
    state: State,
    evd: Option<Use<Evd<T>>>,
    qp: Option<Arc<T::Qp>>,
    zone: Option<u32>,
    flight: Flight,
    feed: Feed,
    max_segments: usize,
    max_read_segments: usize,
    max_write_segments: usize,
    max_message: u64,
    max_rdma: u64,
    /// The state is DISCONNECT_PENDING: the connection ends with the last request.
    draining: bool,
}

struct Receives<T: Transport> {
    life: u64,
    /// The state is DISCONNECTED: what is posted is flushed at once.
    flush: bool,
    connected: bool,
    evd: Option<Use<Evd<T>>>,
    qp: Option<Arc<T::Qp>>,
    zone: Option<u32>,
    /// Receives of the endpoint's own queue, in posting order.
    posted: VecDeque<Posted>,
    /// Segments of those posted before there is a queue pair.
    early: VecDeque<Early>,
    next_id: u64,
    /// Buffers taken from the shared queue and not complete.
    taken: Vec<u64>,
    /// Completions that came before the connection was announced.
    held: Vec<RecvDone>,
    capacity: usize,
    max_segments: usize,
    feed: Feed,
    soft_watermark: Option<usize>,
    hard_watermark: Option<usize>,
    soft_armed: bool,
}

/// What a query shows of an endpoint (uDAPL 1.2, dat_ep_query).
pub struct EpStatus<T: Transport> {
    /// State.
    pub state: State,
    /// Attributes.
    pub attr: EpAttributes,
    /// Protection zone.
    pub pz: Option<Arc<Pz<T>>>,
    /// Where receives complete.
    pub recv_evd: Option<Arc<Evd<T>>>,
    /// Where requests complete.
    pub request_evd: Option<Arc<Evd<T>>>,
    /// Where connection events go.
    pub connect_evd: Option<Arc<Evd<T>>>,
    /// The shared receive queue.
    pub srq: Option<Arc<Srq<T>>>,
    /// The peer's address and qualifier; the endpoint keeps the address in place until
    /// it is connected to another peer, reset or freed.
    pub remote: Option<(Arc<Address>, u64)>,
    /// Local port qualifier; 0 if there is none.
    pub local_qualifier: u64,
}

impl<T: Transport> Object for Endpoint<T> {
    const KIND: Kind = Kind::Ep;

    fn header(&self) -> &Header {
        &self.header
    }
}

fn used<O: Counted>(object: Option<&Arc<O>>, role: Role) -> Result<Option<Use<O>>> {
    object.map(|object| Use::of(object).ok_or(Error::InvalidHandle(role))).transpose()
}

fn shared<O: Counted>(used: &Option<Use<O>>) -> Option<Arc<O>> {
    used.as_ref().map(|used| used.object().clone())
}

impl<T: Transport> Endpoint<T> {
    /// Makes an endpoint (uDAPL 1.2, dat_ep_create and dat_ep_create_with_srq). Without
    /// attributes it gets defaults with which it can do everything.
    ///
    /// # Errors
    /// Those of [`EpAttributes::check_new`], and [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>, parts: &EpParts<'_, T>, attr: Option<EpAttributes>) -> Result<Arc<Self>> {
        let limits = ia.transport().attributes();
        let attr = match attr {
            Some(attr) => attr,
            None => {
                let mut attr = EpAttributes::defaults(limits);
                if parts.recv_evd.is_none() {
                    attr.max_recv_dtos = 0;
                }
                if parts.request_evd.is_none() {
                    attr.max_request_dtos = 0;
                }
                attr
            }
        };
        attr.check_new(limits, parts.recv_evd.is_some(), parts.request_evd.is_some(), parts.srq.is_some())?;
        Self::create_in(ia, parts, attr, State::Unconnected)
    }

    /// Makes the endpoint that the provider offers with a connection request: without a
    /// zone and dispatchers, which the program gives it by a modify.
    pub(crate) fn create_tentative(ia: &Arc<Ia<T>>) -> Result<Arc<Self>> {
        let attr = EpAttributes::defaults(ia.transport().attributes());
        Self::create_in(ia, &EpParts::default(), attr, State::TentativeConnectionPending)
    }

    fn create_in(ia: &Arc<Ia<T>>, parts: &EpParts<'_, T>, attr: EpAttributes, state: State) -> Result<Arc<Self>> {
        let limits = ia.transport().attributes();
        if ia.count(Kind::Ep) >= limits.max_eps {
            return Err(Error::InsufficientResources(Resource::Endpoint));
        }
        if parts.srq.is_some_and(|srq| crate::users::Counted::users(&**srq).count() >= limits.max_eps_per_srq) {
            return Err(Error::InsufficientResources(Resource::Srq));
        }
        let recv_evd = used(parts.recv_evd, Role::EvdRecv)?;
        let request_evd = used(parts.request_evd, Role::EvdRequest)?;
        let ep = Endpoint {
            header: Header::default(),
            ia: ia.clone(),
            srq: parts.srq.cloned(),
            control: Mutex::new(Control {
                state,
                attr,
                pz: used(parts.pz, Role::Pz)?,
                connect_evd: used(parts.connect_evd, Role::EvdConnect)?,
                srq: used(parts.srq, Role::Srq)?,
                qp: None,
                life: 1,
                remote: None,
                local_qualifier: 0,
                private_data: None,
                freed: false,
            }),
            requests: Mutex::new(Requests::new(request_evd)),
            receives: Mutex::new(Receives::new(recv_evd, parts.srq.is_some())),
        };
        {
            let control = ep.control.lock();
            let mut requests = ep.requests.lock();
            let mut receives = ep.receives.lock();
            ep.configure(&control, &mut requests, &mut receives)?;
            let attr = &control.attr;
            receives.set_watermarks(or_infinite(attr.srq_soft_hw), hard_watermark(attr, ep.srq.is_some()));
            if let Some(evd) = &requests.evd {
                evd.add_feed(requests.feed);
            }
            if let Some(evd) = &receives.evd {
                evd.add_feed(receives.feed);
            }
        }
        ia.adopt(ep)
    }

    /// Brings what the posting sides keep of the attributes and the zone up to date.
    fn configure(&self, control: &Control<T>, requests: &mut Requests<T>, receives: &mut Receives<T>) -> Result<()> {
        let limits = self.ia.transport().attributes();
        let attr = &control.attr;
        let zone = control.pz.as_ref().map(|pz| pz.id());
        let count = |count: i32| usize::try_from(count).unwrap_or(0);

        requests.state = control.state;
        requests.gate = state::request_gate(control.state);
        requests.zone = zone;
        requests.feed = attr.request_feed();
        requests.max_segments = count(attr.max_request_iov);
        requests.max_read_segments = attr.read_segments(limits);
        requests.max_write_segments = attr.write_segments(limits);
        requests.max_message = attr.message_limit(limits);
        requests.max_rdma = attr.rdma_limit(limits);

        receives.zone = zone;
        receives.feed = attr.recv_feed(self.srq.is_some());
        if self.srq.is_none() {
            let capacity = count(attr.max_recv_dtos);
            let more = capacity.saturating_sub(receives.posted.len());
            if receives.posted.try_reserve_exact(more).is_err() {
                return Err(Error::InsufficientResources(Resource::Memory));
            }
            receives.capacity = capacity;
            receives.max_segments = count(attr.max_recv_iov);
        }
        Ok(())
    }

    /// The adapter it belongs to.
    pub fn ia(&self) -> &Arc<Ia<T>> {
        &self.ia
    }

    /// Everything about the endpoint (uDAPL 1.2, dat_ep_query).
    pub fn query(&self) -> EpStatus<T> {
        let control = self.control.lock();
        EpStatus {
            state: control.state,
            attr: control.attr,
            pz: shared(&control.pz),
            recv_evd: shared(&self.receives.lock().evd),
            request_evd: shared(&self.requests.lock().evd),
            connect_evd: shared(&control.connect_evd),
            srq: self.srq.clone(),
            remote: control.remote.clone(),
            local_qualifier: control.local_qualifier,
        }
    }

    /// The state, and whether no receive and no request is outstanding
    /// (uDAPL 1.2, dat_ep_get_status).
    pub fn status(&self) -> (State, bool, bool) {
        self.ia.transport().poll(None, Poll::Complete);
        let control = self.control.lock();
        if let Some(qp) = &control.qp {
            let qp = qp.clone();
            drop(control);
            self.ia.transport().reap(&qp);
        } else {
            drop(control);
        }
        let control = self.control.lock();
        let request_idle = self.requests.lock().flight.is_empty();
        let receives = self.receives.lock();
        let recv_idle = receives.posted.is_empty() && receives.taken.is_empty();
        (control.state, recv_idle, request_idle)
    }

    /// Frees the endpoint; a connection ends at once (uDAPL 1.2, dat_ep_free). Work that
    /// is outstanding is flushed.
    ///
    /// # Errors
    /// [`Refusal::Endpoint`] while a service point or a connection request holds it.
    pub fn free(&self) -> Result<()> {
        next(self.control.lock().state, Trigger::Free)?;
        self.free_anyway();
        Ok(())
    }

    /// Frees the endpoint in whatever state.
    pub(crate) fn free_anyway(&self) {
        self.settle_requests();
        {
            let mut control = self.control.lock();
            if std::mem::replace(&mut control.freed, true) {
                return;
            }
            while let Some(qp) = control.qp.clone() {
                if self.ia.transport().disconnect(&qp, false) == Closing::Done {
                    break;
                }
                // The buffers are the program's again when the call returns.
                MutexGuard::unlocked(&mut control, || self.ia.transport().await_end(&qp));
            }
            self.end(&mut control, None, None, None);
            // Sinks of the queue pair may keep the endpoint itself for a while.
            control.qp = None;
            control.pz = None;
            control.connect_evd = None;
            control.srq = None;
            self.requests.lock().detach();
            self.receives.lock().detach();
        }
        self.ia.disown(self);
    }

    /// Begins to end the connection, so that [`Endpoint::free_anyway`] has less to wait for.
    pub(crate) fn let_go(&self) {
        self.settle_requests();
        let control = self.control.lock();
        if let Some(qp) = &control.qp {
            let _ = self.ia.transport().disconnect(qp, false);
        }
    }

    /// Makes the endpoint ready for another connection (uDAPL 1.2, dat_ep_reset).
    ///
    /// # Errors
    /// [`Refusal::Endpoint`] unless it is unconnected or disconnected.
    pub fn reset(&self) -> Result<()> {
        let mut control = self.control.lock();
        let Next::Go(to) = next(control.state, Trigger::Reset)? else { return Ok(()) };
        control.state = to;
        control.remote = None;
        control.local_qualifier = 0;
        control.private_data = None;
        let mut requests = self.requests.lock();
        let mut receives = self.receives.lock();
        self.configure(&control, &mut requests, &mut receives)?;
        receives.flush = false;
        Ok(())
    }

    /// Goes from one state to another on a trigger that brings nothing else about.
    pub(crate) fn shift(&self, trigger: Trigger) -> Result<Next> {
        let mut control = self.control.lock();
        let to = next(control.state, trigger)?;
        if let Next::Go(state) = to {
            control.state = state;
            self.requests.lock().enter(state);
        }
        Ok(to)
    }
}

/// A high watermark that the attributes of a new endpoint set; 0 asks for the default.
fn or_infinite(watermark: i32) -> i32 {
    if watermark == 0 { WATERMARK_INFINITE } else { watermark }
}

/// The hard high watermark that the attributes of a new endpoint set.
fn hard_watermark(attr: &EpAttributes, srq: bool) -> i32 {
    if srq { or_infinite(attr.max_recv_dtos) } else { WATERMARK_INFINITE }
}

impl<T: Transport> Requests<T> {
    fn new(evd: Option<Use<Evd<T>>>) -> Self {
        Requests {
            life: 1,
            gate: Gate::Closed,
            state: State::Unconnected,
            evd,
            qp: None,
            zone: None,
            flight: Flight::default(),
            feed: Feed::Threshold,
            max_segments: 0,
            max_read_segments: 0,
            max_write_segments: 0,
            max_message: 0,
            max_rdma: 0,
            draining: false,
        }
    }

    fn enter(&mut self, state: State) {
        self.state = state;
        self.gate = state::request_gate(state);
        self.draining = state == State::DisconnectPending;
    }

    /// Lets go of the dispatcher.
    fn detach(&mut self) {
        if let Some(evd) = self.evd.take() {
            evd.remove_feed(self.feed);
        }
    }
}

impl<T: Transport> Receives<T> {
    fn new(evd: Option<Use<Evd<T>>>, srq: bool) -> Self {
        Receives {
            life: 1,
            flush: false,
            connected: false,
            evd,
            qp: None,
            zone: None,
            posted: VecDeque::new(),
            early: VecDeque::new(),
            next_id: 0,
            // Few are under way at a time, but taking them must not allocate.
            taken: Vec::with_capacity(if srq { 64 } else { 0 }),
            held: Vec::new(),
            capacity: 0,
            max_segments: 0,
            feed: Feed::Threshold,
            soft_watermark: None,
            hard_watermark: None,
            soft_armed: false,
        }
    }

    /// Lets go of the dispatcher.
    fn detach(&mut self) {
        if let Some(evd) = self.evd.take() {
            evd.remove_feed(self.feed);
        }
    }
}

/// The refusal of a call that needs a zone or a dispatcher that the endpoint lacks.
fn not_ready() -> Error {
    Error::InvalidState(Refusal::EndpointNotReady)
}
