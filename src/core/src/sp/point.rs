//! The common part of all service points.

use std::sync::Arc;

use host::lock::Mutex;
use host::memory;

use crate::arena::{Handle, Object};
use crate::counters::ConnStat;
use crate::ep::{Endpoint, Trigger};
use crate::error::{Error, Result, Role};
use crate::evd::Evd;
use crate::event::{Event, Streams};
use crate::ia::Ia;
use crate::sp::cr::{Cr, dismiss};
use crate::sp::psp::PspMode;
use crate::transport::{ConnectionRequestInfo, Transport};
use crate::users::Use;

pub(super) enum Provision<T: Transport> {
    /// A public service point; the mode determines who creates the endpoint.
    Public(PspMode),
    /// A common service point; the program supplies the endpoint when it accepts.
    Common,
    /// A reserved service point, which accepts one request for this endpoint.
    Reserved(Arc<Endpoint<T>>),
}

/// The part of a service point that listens and receives requests.
pub struct ServicePoint<T: Transport> {
    /// The adapter.
    pub ia: Arc<Ia<T>>,
    provision: Provision<T>,
    state: Mutex<PointState<T>>,
}

struct PointState<T: Transport> {
    handle: Handle,
    /// `None` after the free.
    evd: Option<Use<Evd<T>>>,
    qualifier: u64,
    listener: Option<T::Listener>,
    open: bool,
}

impl<T: Transport> ServicePoint<T> {
    pub(super) fn new(ia: &Arc<Ia<T>>, evd: &Arc<Evd<T>>, provision: Provision<T>) -> Result<Arc<Self>> {
        let bad = Error::InvalidHandle(Role::EvdConnectionRequests);
        if !evd.streams.contains(Streams::CONNECTION_REQUESTS) || !Arc::ptr_eq(evd.ia(), ia) {
            return Err(bad);
        }
        let evd = Some(Use::of(evd).ok_or(bad)?);
        let state = PointState { handle: Handle::NULL, evd, qualifier: 0, listener: None, open: false };
        Ok(memory::arc(ServicePoint { ia: ia.clone(), provision, state: Mutex::new(state) })?)
    }

    pub(super) fn open(self: &Arc<Self>, handle: Handle, qualifier: Option<u64>) -> Result<()> {
        {
            let mut state = self.state.lock();
            state.handle = handle;
            state.open = state.evd.is_some();
        }
        let (listener, qualifier) = self.ia.transport.listen(qualifier, self.clone())?;
        let mut state = self.state.lock();
        state.qualifier = qualifier;
        // While `listen` ran, the service point may have been closed: its only request has arrived, or the adapter is
        // being closed.
        let unwanted = if state.open { state.listener.replace(listener) } else { Some(listener) };
        let shut = state.evd.is_none();
        drop(state);
        drop(unwanted);
        if shut {
            return Err(Error::InvalidHandle(Role::Ia));
        }
        Ok(())
    }

    /// Stops listening. Returns whether the service point was open, so that it would have accepted a request.
    fn close(&self) -> bool {
        let (was_open, listener) = {
            let mut state = self.state.lock();
            (std::mem::take(&mut state.open), state.listener.take())
        };
        drop(listener);
        was_open
    }

    /// Like [`ServicePoint::close`], but permanent: a concurrent or later [`ServicePoint::open`] fails.
    pub(super) fn shut(&self) -> bool {
        let evd = self.state.lock().evd.take();
        let was_open = self.close();
        drop(evd);
        was_open
    }

    /// Returns the connection qualifier; 0 until the service point listens.
    pub fn qualifier(&self) -> u64 {
        self.state.lock().qualifier
    }

    pub(super) fn listens_on(&self, qualifier: u64) -> bool {
        let state = self.state.lock();
        state.open && state.qualifier == qualifier
    }

    /// Returns the EVD of requests, or `None` after the free.
    pub fn evd(&self) -> Option<Arc<Evd<T>>> {
        self.state.lock().evd.as_ref().map(|evd| evd.object().clone())
    }

    /// Returns whether requests for datagrams are accepted: the API version must have datagrams, and the program must
    /// supply the endpoint.
    pub fn takes_datagrams(&self) -> bool {
        let named = matches!(self.provision, Provision::Public(PspMode::Consumer) | Provision::Common);
        named && self.ia.api_caps.extended && self.ia.attributes().datagrams
    }

    /// Reports a connection request to the program.
    ///
    /// # Errors
    /// Returns the request if the service point is closed, if its EVD is full, or if resources for the request or its
    /// endpoint are exhausted. Also returns a request for datagrams if the service point accepts none.
    pub fn request(&self, incoming: T::Incoming, info: ConnectionRequestInfo) -> std::result::Result<(), T::Incoming> {
        let reserved = matches!(self.provision, Provision::Reserved(_));
        let datagrams = info.datagrams.is_some();
        if datagrams && !self.takes_datagrams() {
            return Err(incoming);
        }
        let (evd, handle) = {
            let mut state = self.state.lock();
            let evd = state.evd.as_ref().filter(|_| state.open).map(|evd| evd.object().clone());
            let Some(evd) = evd else { return Err(incoming) };
            if evd.queue().events.is_full() {
                drop(state);
                self.note_full(&evd);
                return Err(incoming);
            }
            state.open = !reserved;
            // The transport may report a request before its `listen` returns, so `open` may not have stored the
            // qualifier yet.
            state.qualifier = info.qualifier;
            (evd, state.handle)
        };
        let qualifier = info.qualifier;
        log::debug!(target: host::diagnostics::CM, "service point {qualifier}: connection request from {}", info.remote_address);
        let ep = match &self.provision {
            Provision::Public(PspMode::Consumer) | Provision::Common => None,
            Provision::Public(PspMode::Provider) => match Endpoint::create_tentative(&self.ia) {
                Ok(ep) => Some(ep),
                Err(_) => return Err(incoming),
            },
            Provision::Reserved(ep) => match ep.shift(Trigger::RequestArrived, qualifier) {
                Ok(_) => Some(ep.clone()),
                Err(_) => return Err(incoming),
            },
        };
        let common = matches!(self.provision, Provision::Common);
        let cr = match Cr::create(&self.ia, incoming, info, ep.clone(), common) {
            Ok(cr) => cr,
            Err(incoming) => {
                dismiss(ep);
                self.reserve_again();
                return Err(incoming);
            }
        };
        if reserved {
            self.close();
        }
        let event =
            Event::ConnectionRequest { point: handle, reserved, datagrams, qualifier, cr: cr.header().handle() };
        if let Some(ep) = &cr.ep {
            ep.ask_from(cr.remote_address.clone(), cr.remote_qualifier);
        }
        self.ia.conn_stats.note(ConnStat::Request);
        if evd.offer(event) {
            return Ok(());
        }
        self.note_full(&evd);
        cr.take().map_or(Ok(()), Err)
    }

    /// Reopens a reserved service point, and reserves its endpoint, after resources for a request were exhausted.
    #[cold]
    fn reserve_again(&self) {
        let Provision::Reserved(ep) = &self.provision else { return };
        let listens = |state: &PointState<T>| state.evd.is_some() && state.listener.is_some();
        if !listens(&self.state.lock()) || ep.shift(Trigger::Reserve, 0).is_err() {
            self.close();
            return;
        }
        let mut state = self.state.lock();
        state.open = listens(&state);
        // A concurrent `shut` releases the endpoint only of an open service point.
        if !state.open {
            drop(state);
            release(ep);
        }
    }

    /// Counts a request that is rejected because the EVD is full.
    #[cold]
    fn note_full(&self, evd: &Evd<T>) {
        self.ia.conn_stats.note(ConnStat::NoRoom);
        evd.note_rejection();
    }
}

/// Changes a reserved endpoint back to unconnected.
pub(super) fn release<T: Transport>(ep: &Endpoint<T>) {
    let _ = ep.shift(Trigger::Release, 0);
}

/// The sink for the connection requests of a [`Transport::Listener`].
pub type ListenerSink<T> = Arc<ServicePoint<T>>;
