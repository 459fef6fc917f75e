//! The endpoint itself: its parts, and how it is made and freed.
//!
//! It has three locks, taken in this order: `control` (state, attributes, connection),
//! `requests`, `receives`. Posting takes only the one of its direction.
//!
//! Each connection of an endpoint has a number, its *life*, which the transport's sink carries; a report of an earlier
//! life is dropped. The queue pair is made when the endpoint connects or accepts, from the attributes of that moment.
//! Receives posted earlier wait here with their segments and are handed over then; until then every attribute is plain
//! data.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use host::lock::{Mutex, MutexGuard};
use host::memory;

use crate::addr::{Address, Comm};
use crate::attached_data::AttachedData;
use crate::ep::attr::EpAttributes;
use crate::ep::datagram::{Peers, Service};
use crate::ep::receives::Receives;
use crate::ep::requests::Requests;
use crate::ep_state::{EpState, Next, Trigger, next};
use crate::error::{Error, Resource, Result, Role, StateError};
use crate::evd::Evd;
use crate::ia::Ia;
use crate::pz::Pz;
use crate::slab::{Header, Kind, Object};
use crate::srq::Srq;
use crate::transport::{Closing, Poll, Transport};
use crate::users::{Unusable, Use};

/// The objects that an endpoint is made of.
pub struct EpParts<'a, T: Transport> {
    /// Protection zone.
    pub pz: Option<&'a Arc<Pz<T>>>,
    /// The dispatcher on which receives complete.
    pub recv_evd: Option<&'a Arc<Evd<T>>>,
    /// The dispatcher on which requests complete.
    pub request_evd: Option<&'a Arc<Evd<T>>>,
    /// The dispatcher for connection events.
    pub connect_evd: Option<&'a Arc<Evd<T>>>,
    /// The queue that the endpoint takes buffers from, if it has none of its own.
    pub srq: Option<&'a Arc<Srq<T>>>,
}

impl<T: Transport> Default for EpParts<'_, T> {
    fn default() -> Self {
        EpParts { pz: None, recv_evd: None, request_evd: None, connect_evd: None, srq: None }
    }
}

/// An endpoint.
pub struct Endpoint<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    pub(crate) srq: Option<Arc<Srq<T>>>,
    pub(super) control: Mutex<Control<T>>,
    /// Locked by [`Endpoint::requests`], and by transports with [`Transport::KEEPS_TX`].
    pub(super) requests: Mutex<Requests<T>>,
    /// A thread that found the requests locked left its poll to the holder.
    pub(super) poll_deferred: AtomicBool,
    pub(crate) receives: Mutex<Receives<T>>,
    /// What the face keeps with the endpoint.
    pub kept: AttachedData,
    /// What the face keeps of its counters.
    pub counter_baseline: AttachedData,
    pub(super) service: Service<T>,
}

/// The part of an endpoint that concerns both directions.
pub(super) struct Control<T: Transport> {
    pub state: EpState,
    pub attr: EpAttributes,
    pub pz: Option<Use<Pz<T>>>,
    pub connect_evd: Option<Use<Evd<T>>>,
    pub srq: Option<Use<Srq<T>>>,
    pub qp: Option<Arc<T::Qp>>,
    /// Rises when a connection ends, so that late reports on it can be recognised.
    pub life: u64,
    pub remote: Option<(Arc<Address>, u64)>,
    pub local_qualifier: u64,
    pub comm: Comm,
    pub private_data: Option<Arc<[u8]>>,
    /// Whether the connection of this life was up.
    pub was_up: bool,
    /// How often the program has connected it, and ended that.
    pub connects: u64,
    pub disconnects: u64,
    pub freed: bool,
}

/// The parameters of an endpoint, as a query shows them.
pub struct EpStatus<T: Transport> {
    /// State.
    pub state: EpState,
    /// Attributes.
    pub attr: EpAttributes,
    /// Protection zone.
    pub pz: Option<Arc<Pz<T>>>,
    /// The dispatcher on which receives complete.
    pub recv_evd: Option<Arc<Evd<T>>>,
    /// The dispatcher on which requests complete.
    pub request_evd: Option<Arc<Evd<T>>>,
    /// The dispatcher for connection events.
    pub connect_evd: Option<Arc<Evd<T>>>,
    /// The shared receive queue.
    pub srq: Option<Arc<Srq<T>>>,
    /// The peer's address and qualifier; the endpoint keeps the address in place until it is
    /// connected to another peer, reset or freed.
    pub remote: Option<(Arc<Address>, u64)>,
    /// Local port qualifier; 0 if there is none.
    pub local_qualifier: u64,
    /// The kind of socket by whose addresses it connects in the common model.
    pub comm: Comm,
}

fn used<O: Object>(object: Option<&Arc<O>>, role: Role) -> Result<Option<Use<O>>> {
    object.map(|object| Use::of(object).ok_or(Error::InvalidHandle(role))).transpose()
}

/// What is used; none if that is gone, as the dispatcher of another adapter may be.
fn shared<O: Object>(used: &Option<Use<O>>) -> Option<Arc<O>> {
    used.as_ref().filter(|used| !used.is_gone()).map(|used| used.object().clone())
}

impl<T: Transport> Endpoint<T> {
    /// Makes an endpoint. Without attributes it gets defaults with which it can do everything.
    ///
    /// # Errors
    /// Those of [`EpAttributes::check_new`], and [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>, parts: &EpParts<'_, T>, attr: Option<EpAttributes>) -> Result<Arc<Self>> {
        let limits = ia.transport.attributes();
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
        Self::create_in(ia, parts, attr, EpState::Unconnected)
    }

    /// Makes the endpoint that the provider offers with a connection request: without a
    /// zone and dispatchers, which the program gives it by a modify.
    pub(crate) fn create_tentative(ia: &Arc<Ia<T>>) -> Result<Arc<Self>> {
        let attr = EpAttributes::defaults(ia.transport.attributes());
        Self::create_in(ia, &EpParts::default(), attr, EpState::TentativeConnectionPending)
    }

    fn create_in(ia: &Arc<Ia<T>>, parts: &EpParts<'_, T>, attr: EpAttributes, state: EpState) -> Result<Arc<Self>> {
        ia.room_for(Kind::Ep)?;
        // Endpoints are all that uses a shared queue.
        let most = ia.transport.attributes().max_eps_per_srq;
        let srq = parts.srq.map(|srq| Use::within(srq, most)).transpose();
        let srq = srq.map_err(|refused| match refused {
            Unusable::Gone => Error::InvalidHandle(Role::Srq),
            Unusable::Full => Error::InsufficientResources(Resource::Srq),
        })?;
        let recv_evd = used(parts.recv_evd, Role::EvdRecv)?;
        let request_evd = used(parts.request_evd, Role::EvdRequest)?;
        let service =
            if attr.datagrams { Service::Datagrams(Peers::new(parts.srq.is_none())?) } else { Service::Connection };
        let ep = memory::arc(Endpoint {
            header: Header::default(),
            ia: ia.clone(),
            srq: parts.srq.cloned(),
            control: Mutex::new(Control {
                state,
                attr,
                pz: used(parts.pz, Role::Pz)?,
                connect_evd: used(parts.connect_evd, Role::EvdConnect)?,
                srq,
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
            requests: Mutex::new(Requests::new(request_evd)),
            poll_deferred: AtomicBool::new(false),
            receives: Mutex::new(Receives::new(recv_evd, parts.srq.is_some())?),
            kept: AttachedData::default(),
            counter_baseline: AttachedData::default(),
            service,
        })?;
        {
            let control = ep.control.lock();
            let mut requests = ep.requests();
            let mut receives = ep.receives.lock();
            ep.configure(&control, &mut requests, &mut receives)?;
            requests.enter(ep.header.handle(), state);
            receives.set_watermarks(control.attr.soft_watermark, control.attr.hard_watermark);
            if let Some(evd) = &requests.evd {
                evd.add_feed(requests.feed, true);
            }
            if let Some(evd) = &receives.evd {
                evd.add_feed(receives.feed, false);
            }
        }
        ia.adopt_shared(ep.clone()).inspect_err(|_| {
            ep.requests().detach();
            ep.receives.lock().detach();
        })
    }

    /// Updates the copies of the attributes and the zone that the posting sides keep.
    ///
    /// # Errors
    /// [`Resource::Memory`]; nothing was changed then.
    pub(super) fn configure(
        &self,
        control: &Control<T>,
        requests: &mut Requests<T>,
        receives: &mut Receives<T>,
    ) -> Result<()> {
        let limits = self.ia.transport.attributes();
        let attr = &control.attr;
        if let Service::Datagrams(peers) = &self.service {
            peers.room(attr.max_recv_dtos)?;
        }
        if self.srq.is_none() {
            if T::TAKES_RECEIVES {
                let more = attr.max_recv_dtos.saturating_sub(receives.posted.len());
                receives.others.room(more.saturating_mul(attr.max_recv_iov.saturating_sub(1)))?;
            }
            receives.posted.reserve(attr.max_recv_dtos)?;
            receives.capacity = attr.max_recv_dtos;
            receives.max_segments = attr.max_recv_iov;
        }
        let zone = control.pz.as_ref().map(|pz| pz.id());
        receives.zone = zone;
        receives.feed = attr.recv_feed(self.srq.is_some());

        requests.zone = zone;
        requests.feed = attr.request_feed();
        requests.max_segments = attr.max_request_iov;
        let segments = |asked: usize, most| if asked == 0 { most } else { asked };
        requests.max_read_segments = segments(attr.max_rdma_read_iov, limits.max_segments_read);
        requests.max_write_segments = segments(attr.max_rdma_write_iov, limits.max_segments_write);
        requests.max_transfer = limits.max_transfer;
        Ok(())
    }

    /// Everything about the endpoint.
    pub fn query(&self) -> EpStatus<T> {
        let control = self.control.lock();
        // One lock after the other: the guards of a whole expression would stay to its end.
        let request_evd = shared(&self.requests().evd);
        let recv_evd = shared(&self.receives.lock().evd);
        EpStatus {
            state: control.state,
            attr: control.attr,
            pz: shared(&control.pz),
            recv_evd,
            request_evd,
            connect_evd: shared(&control.connect_evd),
            srq: self.srq.clone(),
            remote: control.remote.clone(),
            local_qualifier: control.local_qualifier,
            comm: control.comm,
        }
    }

    /// The state, and whether no receive and no request is outstanding.
    pub fn status(&self) -> (EpState, bool, bool) {
        self.ia.transport.poll(None, Poll::Complete);
        self.drain_completions();
        let control = self.control.lock();
        let request_idle = self.requests().flight.is_empty();
        let receives = self.receives.lock();
        let recv_idle = self.buffers(&receives) == 0;
        (control.state, recv_idle, request_idle)
    }

    /// The buffers that it has, whose completions were not queued.
    pub(super) fn buffers(&self, receives: &Receives<T>) -> usize {
        let own = if let Service::Datagrams(peers) = &self.service { peers.receives() } else { 0 };
        own + receives.buffers()
    }

    /// Frees the endpoint; a connection ends at once. Work that is outstanding is flushed.
    ///
    /// # Errors
    /// [`StateError::Endpoint`] while a service point or a connection request holds it.
    pub fn free(&self) -> Result<()> {
        self.drain_completions();
        let control = self.control.lock();
        next(control.state, Trigger::Free)?;
        self.reclaim(control);
        Ok(())
    }

    /// Locks what changes, for a call of the program that gives the endpoint something to hold.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if another thread frees the endpoint, or has freed it since the call found it.
    pub(super) fn live(&self) -> Result<MutexGuard<'_, Control<T>>> {
        let control = self.control.lock();
        if control.freed { Err(Error::InvalidHandle(Role::Ep)) } else { Ok(control) }
    }

    /// Frees the endpoint in whatever state.
    pub(crate) fn free_anyway(&self) {
        self.drain_completions();
        self.reclaim(self.control.lock());
    }

    fn reclaim(&self, mut control: MutexGuard<'_, Control<T>>) {
        if std::mem::replace(&mut control.freed, true) {
            // Another thread frees it. The buffers are the program's again when either call returns.
            if let Some(qp) = control.qp.clone() {
                MutexGuard::unlocked(&mut control, || self.ia.transport.await_end(&qp));
            }
            if let Service::Datagrams(peers) = &self.service {
                drop(control);
                peers.each(|lane| lane.free_anyway());
            }
            return;
        }
        while let Some(qp) = control.qp.clone() {
            if self.ia.transport.disconnect(&qp, false) == Closing::Done {
                break;
            }
            // The buffers are the program's again when the call returns.
            MutexGuard::unlocked(&mut control, || self.ia.transport.await_end(&qp));
        }
        if self.has_datagrams() {
            MutexGuard::unlocked(&mut control, || self.bury_lanes());
        }
        self.end(&mut control, None, None, None);
        // Sinks of the queue pair may keep the endpoint itself alive for a while.
        control.qp = None;
        control.pz = None;
        let connect_evd = control.connect_evd.take();
        control.srq = None;
        if let Service::Lane(_) = &self.service {
            // Its endpoint is what feeds the dispatcher, has a handle, and tells what was counted.
            let recv_evd = self.receives.lock().evd.take();
            drop(control);
            drop((connect_evd, recv_evd));
            return;
        }
        self.requests().detach();
        self.receives.lock().detach();
        drop(control);
        // With it may end what is left of another adapter.
        drop(connect_evd);
        self.leave_counters();
        self.ia.disown(self);
    }

    /// Begins to end the connection, so that [`Endpoint::free_anyway`] has less to wait for.
    pub(crate) fn let_go(&self) {
        self.drain_completions();
        let control = self.control.lock();
        if let Some(qp) = &control.qp {
            let _ = self.ia.transport.disconnect(qp, false);
        }
        drop(control);
        if let Service::Datagrams(peers) = &self.service {
            peers.each(|lane| lane.let_go());
        }
    }

    /// Makes the endpoint ready for another connection.
    ///
    /// # Errors
    /// [`StateError::Endpoint`] unless it is unconnected or disconnected; [`Error::InvalidHandle`] if another thread frees it.
    pub fn reset(&self) -> Result<()> {
        let mut control = self.live()?;
        let Next::Go(to) = next(control.state, Trigger::Reset)? else { return Ok(()) };
        let mut requests = self.requests();
        let mut receives = self.receives.lock();
        self.configure(&control, &mut requests, &mut receives)?;
        control.state = to;
        control.remote = None;
        control.local_qualifier = 0;
        control.private_data = None;
        requests.enter(self.header.handle(), to);
        receives.enter(to);
        Ok(())
    }

    /// Changes the state on a trigger that has no other effect.
    pub(crate) fn shift(&self, trigger: Trigger) -> Result<Next> {
        let mut control = match trigger {
            Trigger::Reserve | Trigger::RequestArrived => self.live()?,
            _ => self.control.lock(),
        };
        if trigger == Trigger::Reserve && self.has_datagrams() {
            return Err(Error::ModelNotSupported);
        }
        let to = next(control.state, trigger)?;
        if let Next::Go(state) = to {
            control.state = state;
            self.requests().enter(self.header.handle(), state);
        }
        Ok(to)
    }
}

/// The refusal of a call that needs a zone or a dispatcher that the endpoint lacks.
pub(super) fn not_ready() -> Error {
    Error::InvalidState(StateError::EndpointNotReady)
}
