//! The endpoint: its locked parts, creation, reset, free and queries.
//!
//! An endpoint has three locks, taken in this order: `control` (state, attributes, connection), `requests`, `receives`.
//! Most posts of requests lock only `requests`, and most posts of receives only `receives`.
//!
//! Each connection or attempt of an endpoint has a number, its *life*. The sink of a queue pair contains the number of
//! its connection. Once that connection has ended, its reports only flush buffers of an SRQ. A connect or an accept
//! creates the queue pair from the current attributes, and passes it the receives that were posted before.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use host::lock::{Mutex, MutexGuard};
use host::memory;

use crate::addr::{Address, Comm};
use crate::arena::{Header, Kind, Object};
use crate::attached_data::AttachedData;
use crate::ep::attr::EpAttributes;
use crate::ep::receives::Receives;
use crate::ep::requests::Requests;
use crate::ep::service::{Service, UdEndpoint};
use crate::ep_state::{EpState, Next, Trigger, next};
use crate::error::{Arg, Error, Resource, Result, Role};
use crate::evd::Evd;
use crate::ia::Ia;
use crate::pz::Pz;
use crate::srq::Srq;
use crate::transport::{Closing, Disconnect, Poll, Transport};
use crate::users::Use;

/// The objects that a new endpoint uses.
#[allow(missing_docs)] // the objects that their names describe
pub struct EpParts<'a, T: Transport> {
    pub pz: Option<&'a Arc<Pz<T>>>,
    pub recv_evd: Option<&'a Arc<Evd<T>>>,
    pub request_evd: Option<&'a Arc<Evd<T>>>,
    pub connect_evd: Option<&'a Arc<Evd<T>>>,
    /// The SRQ that supplies the receives; `None` if the endpoint has its own receive queue.
    pub srq: Option<&'a Arc<Srq<T>>>,
}

impl<T: Transport> Default for EpParts<'_, T> {
    fn default() -> Self {
        EpParts { pz: None, recv_evd: None, request_evd: None, connect_evd: None, srq: None }
    }
}

/// An endpoint: one end of a connection, or a datagram endpoint with any number of peers.
pub struct Endpoint<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    pub(crate) srq: Option<Arc<Srq<T>>>,
    pub(super) control: Mutex<Control<T>>,
    /// Locked by [`Endpoint::requests`] and by `lock_tx` and `try_lock_tx` of `EndpointSink`. Their guards run the
    /// deferred poll after the unlock.
    pub(super) requests: Mutex<Requests<T>>,
    /// Set by a thread that has found `requests` locked, so that the holder of the lock polls after the unlock.
    pub(super) poll_deferred: AtomicBool,
    pub(crate) receives: Mutex<Receives<T>>,
    /// Data that the API layer attaches to the endpoint.
    pub api_data: AttachedData,
    /// The counter values at the last reset, which the API layer stores and subtracts in queries.
    pub counter_baseline: AttachedData,
    pub(super) service: Service<T>,
}

/// The part of an endpoint under its first lock: state, attributes and connection.
pub(super) struct Control<T: Transport> {
    pub state: EpState,
    pub attr: EpAttributes,
    pub pz: Option<Use<Pz<T>>>,
    pub connect_evd: Option<Use<Evd<T>>>,
    pub srq: Option<Use<Srq<T>>>,
    pub qp: Option<Arc<T::Qp>>,
    /// Number of the connection or attempt, incremented at its end: see the module documentation.
    pub life: u64,
    pub remote: Option<(Arc<Address>, u64)>,
    pub local_qualifier: u64,
    pub comm: Comm,
    pub private_data: Option<Arc<[u8]>>,
    /// Set once the present connection is established; cleared at its end.
    pub was_up: bool,
    pub connects: u64,
    pub disconnects: u64,
    pub freed: bool,
}

impl<T: Transport> Control<T> {
    pub fn new(state: EpState, attr: EpAttributes) -> Self {
        Control {
            state,
            attr,
            pz: None,
            connect_evd: None,
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
        }
    }
}

/// The parameters of an endpoint.
#[allow(missing_docs)]
pub struct EpStatus<T: Transport> {
    pub state: EpState,
    pub attr: EpAttributes,
    pub pz: Option<Arc<Pz<T>>>,
    pub recv_evd: Option<Arc<Evd<T>>>,
    pub request_evd: Option<Arc<Evd<T>>>,
    pub connect_evd: Option<Arc<Evd<T>>>,
    pub srq: Option<Arc<Srq<T>>>,
    /// The peer's address and qualifier. The address stays valid until the next connection, a reset or the free.
    pub remote: Option<(Arc<Address>, u64)>,
    /// Local port qualifier; 0 if there is none.
    pub local_qualifier: u64,
    /// Kind of socket for [`Endpoint::common_connect`].
    pub comm: Comm,
}

fn used<O: Object>(object: Option<&Arc<O>>, role: Role) -> Result<Option<Use<O>>> {
    object.map(|object| Use::of(object).ok_or(Error::InvalidHandle(role))).transpose()
}

/// Returns the object of the use. Returns `None` without a use, or if the object was freed despite the use, as an EVD
/// of another adapter can be.
fn shared<O: Object>(used: &Option<Use<O>>) -> Option<Arc<O>> {
    used.as_ref().filter(|used| !used.is_gone()).map(|used| used.object().clone())
}

impl<T: Transport> Endpoint<T> {
    /// Creates an endpoint. Without `attr`, it has default attributes, but admits only posts for which it has an EVD.
    ///
    /// # Errors
    /// [`Arg::Zone`] if the SRQ cannot serve the zone, errors of [`EpAttributes::check_new`], [`Error::InvalidHandle`]
    /// if one of the objects is being freed, [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>, parts: &EpParts<'_, T>, attr: Option<EpAttributes>) -> Result<Arc<Self>> {
        if parts.srq.zip(parts.pz).is_some_and(|(srq, pz)| !srq.serves(pz)) {
            return Err(Error::InvalidParameter(Arg::Zone));
        }
        let limits = ia.attributes();
        let attr = attr.unwrap_or_else(|| {
            let mut attr = EpAttributes::defaults(limits);
            if parts.recv_evd.is_none() {
                attr.max_recv_dtos = 0;
            }
            if parts.request_evd.is_none() {
                attr.max_request_dtos = 0;
            }
            attr
        });
        attr.check_new(limits, parts.recv_evd.is_some(), parts.request_evd.is_some(), parts.srq.is_some())?;
        Self::create_in(ia, parts, attr, EpState::Unconnected)
    }

    /// Creates the endpoint that the provider supplies for a connection request. The program sets its zone and EVDs
    /// before the accept.
    pub(crate) fn create_tentative(ia: &Arc<Ia<T>>) -> Result<Arc<Self>> {
        let attr = EpAttributes::defaults(ia.attributes());
        Self::create_in(ia, &EpParts::default(), attr, EpState::TentativeConnectionPending)
    }

    fn create_in(ia: &Arc<Ia<T>>, parts: &EpParts<'_, T>, attr: EpAttributes, state: EpState) -> Result<Arc<Self>> {
        ia.room_for(Kind::Ep)?;
        let srq = used(parts.srq, Role::Srq)?;
        // Only endpoints use an SRQ, so this counts its endpoints, including the new one.
        if srq.as_ref().is_some_and(|srq| srq.header.users.count() > ia.attributes().max_eps_per_srq) {
            return Err(Error::InsufficientResources(Resource::Srq));
        }
        let recv_evd = used(parts.recv_evd, Role::EvdRecv)?;
        let request_evd = used(parts.request_evd, Role::EvdRequest)?;
        let service = if attr.datagrams { Service::Datagrams(UdEndpoint::new()?) } else { Service::Connection };
        let pz = used(parts.pz, Role::Pz)?;
        let connect_evd = used(parts.connect_evd, Role::EvdConnect)?;
        let ep = memory::arc(Endpoint {
            header: Header::default(),
            ia: ia.clone(),
            srq: parts.srq.cloned(),
            control: Mutex::new(Control { pz, connect_evd, srq, ..Control::new(state, attr) }),
            requests: Mutex::new(Requests::new(request_evd)),
            poll_deferred: AtomicBool::new(false),
            receives: Mutex::new(Receives::new(recv_evd, parts.srq.is_some())?),
            api_data: AttachedData::default(),
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

    /// Updates the copies of attributes and zone in `requests` and `receives`, and reserves memory for posted receives.
    ///
    /// # Errors
    /// [`Resource::Memory`]. The copies are then unchanged.
    pub(super) fn configure(
        &self,
        control: &Control<T>,
        requests: &mut Requests<T>,
        receives: &mut Receives<T>,
    ) -> Result<()> {
        let limits = self.ia.attributes();
        let attr = &control.attr;
        if self.srq.is_none() {
            if T::TAKES_RECEIVES {
                receives.others.room(attr.max_recv_dtos.saturating_mul(attr.max_recv_iov.saturating_sub(1)))?;
            }
            receives.posted.reserve(attr.max_recv_dtos)?;
            receives.max_segments = attr.max_recv_iov;
        } else {
            receives.set_hard_watermark(attr.hard_watermark);
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

    /// Returns whether the endpoint takes its receives from an SRQ.
    pub fn has_srq(&self) -> bool {
        self.srq.is_some()
    }

    /// Returns the parameters.
    pub fn query(&self) -> EpStatus<T> {
        let control = self.control.lock();
        // Separate statements: each guard is dropped before the next lock.
        let request_evd = shared(&self.requests().evd);
        let recv_evd = shared(&self.receives.lock().evd);
        // The transport may change the local port during an attempt to connect. Afterwards, `control` contains it.
        let attempt = control.qp.as_ref().filter(|_| control.state == EpState::ActiveConnectionPending);
        EpStatus {
            state: control.state,
            attr: control.attr,
            pz: shared(&control.pz),
            recv_evd,
            request_evd,
            connect_evd: shared(&control.connect_evd),
            srq: self.srq.clone(),
            remote: control.remote.clone(),
            local_qualifier: attempt.map_or(control.local_qualifier, |qp| self.ia.transport.local_qualifier(qp)),
            comm: control.comm,
        }
    }

    /// Returns the state, whether no receive is outstanding, and whether no request is outstanding.
    pub fn status(&self) -> (EpState, bool, bool) {
        self.ia.transport.poll(None, Poll::Complete);
        self.drain_completions();
        let control = self.control.lock();
        let request_idle = self.requests().flight.is_empty();
        let receives = self.receives.lock();
        let recv_idle = receives.buffers() == 0;
        (control.state, recv_idle, request_idle)
    }

    /// Frees the endpoint. Its connection ends immediately, and outstanding work is flushed.
    ///
    /// # Errors
    /// [`crate::error::StateError::Endpoint`] while a service point or a connection request uses it.
    pub fn free(&self) -> Result<()> {
        self.drain_completions();
        let control = self.control.lock();
        next(control.state, Trigger::Free)?;
        self.reclaim(control);
        Ok(())
    }

    /// Locks the control part of an endpoint that is not freed.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if another thread has freed the endpoint.
    pub(super) fn live(&self) -> Result<MutexGuard<'_, Control<T>>> {
        let control = self.control.lock();
        if control.freed { Err(Error::InvalidHandle(Role::Ep)) } else { Ok(control) }
    }

    pub(crate) fn free_anyway(&self) {
        self.drain_completions();
        self.reclaim(self.control.lock());
    }

    fn reclaim(&self, mut control: MutexGuard<'_, Control<T>>) {
        if std::mem::replace(&mut control.freed, true) {
            // Another thread has begun to free the endpoint. When either free returns, the program owns the buffers, so
            // this free also waits until no peer can access them.
            if let Some(qp) = control.qp.clone() {
                MutexGuard::unlocked(&mut control, || self.ia.transport.await_end(&qp));
            }
            MutexGuard::unlocked(&mut control, || self.close_datagrams());
            return;
        }
        while let Some(qp) = control.qp.clone() {
            if self.ia.transport.disconnect(&qp, Disconnect::Now) == Closing::Done {
                break;
            }
            // When the free returns, the program owns the buffers, so no peer may still access them.
            MutexGuard::unlocked(&mut control, || self.ia.transport.await_end(&qp));
        }
        MutexGuard::unlocked(&mut control, || self.close_datagrams());
        self.end(&mut control, None, None, None);
        // Ends the uses of other objects now: sinks of the queue pair may keep the endpoint alive, but must not keep
        // these objects in use.
        control.qp = None;
        control.pz = None;
        let connect_evd = control.connect_evd.take();
        control.srq = None;
        self.requests().detach();
        self.receives.lock().detach();
        drop(control);
        // Without a lock: this may drop the last reference to an EVD of another adapter, and with it that adapter.
        drop(connect_evd);
        self.free_handles();
        self.leave_counters();
        // Keeps the handle from reuse until asynchronous events with this handle no longer wait for room in their EVD.
        let _dying = self.ia.disown(self);
        self.ia.forget_late(self.header.handle());
    }

    /// Starts the end of the connection. The close of an adapter calls this for all endpoints first, so that each later
    /// [`Endpoint::free_anyway`] waits less.
    pub(crate) fn let_go(&self) {
        self.drain_completions();
        let control = self.control.lock();
        if let Some(qp) = &control.qp {
            let _ = self.ia.transport.disconnect(qp, Disconnect::Now);
        }
    }

    /// Prepares the endpoint for another connection.
    ///
    /// # Errors
    /// [`crate::error::StateError::Endpoint`] unless the endpoint is unconnected or disconnected;
    /// [`Error::InvalidHandle`] if another thread has freed the endpoint.
    pub fn reset(&self) -> Result<()> {
        let mut control = self.live()?;
        let Next::Go(to) = next(control.state, Trigger::Reset)? else { return Ok(()) };
        let mut requests = self.requests();
        let mut receives = self.receives.lock();
        control.state = to;
        control.remote = None;
        control.local_qualifier = 0;
        control.private_data = None;
        requests.enter(self.header.handle(), to);
        receives.enter(to);
        Ok(())
    }

    /// Stores address and qualifier of the peer whose connection request waits for an accept or a reject.
    pub(crate) fn ask_from(&self, address: Arc<Address>, qualifier: u64) {
        self.control.lock().remote = Some((address, qualifier));
    }

    /// Applies `trigger` to the state. A new state also sets the local port qualifier and removes the stored peer.
    pub(crate) fn shift(&self, trigger: Trigger, local_qualifier: u64) -> Result<Next> {
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
            control.local_qualifier = local_qualifier;
            control.remote = None;
            self.requests().enter(self.header.handle(), state);
        }
        Ok(to)
    }
}
