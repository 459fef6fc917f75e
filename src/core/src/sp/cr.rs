//! Connection requests that are not yet accepted or rejected.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use host::lock::Mutex;
use host::memory;

use crate::addr::Address;
use crate::arena::Header;
use crate::counters::ConnStat;
use crate::ep::{Endpoint, Next, Trigger};
use crate::error::{Arg, Error, Result, Role};
use crate::evd::Evd;
use crate::event::Event;
use crate::ia::Ia;
use crate::sp::csp::Csp;
use crate::sp::point::ServicePoint;
use crate::sp::psp::Psp;
use crate::sp::rsp::Rsp;
use crate::transport::{ConnectionRequestInfo, Rejection, Transport};

/// A connection request that the program has not yet accepted or rejected.
pub struct Cr<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    incoming: Mutex<Option<T::Incoming>>,
    /// Address of the peer.
    pub remote_address: Arc<Address>,
    /// Port qualifier of the peer.
    pub remote_qualifier: u64,
    /// Private data of the peer. Programs may change the bytes in place.
    pub private_data: Box<[AtomicU8]>,
    /// The endpoint that the service point supplied; `None` if the program passes an endpoint to the accept.
    pub ep: Option<Arc<Endpoint<T>>>,
    common: bool,
    datagrams: Option<u32>,
}

impl<T: Transport> Cr<T> {
    pub(super) fn create(
        ia: &Arc<Ia<T>>,
        incoming: T::Incoming,
        info: ConnectionRequestInfo,
        ep: Option<Arc<Endpoint<T>>>,
        common: bool,
    ) -> std::result::Result<Arc<Self>, T::Incoming> {
        #[expect(
            clippy::disallowed_methods,
            reason = "it is asked below, where the transport can have the request back"
        )]
        let cr = Arc::new(Cr {
            header: Header::default(),
            ia: ia.clone(),
            incoming: Mutex::new(Some(incoming)),
            remote_address: Arc::new(info.remote_address),
            remote_qualifier: info.remote_qualifier,
            private_data: info.private_data.into_iter().map(AtomicU8::new).collect(),
            ep,
            common,
            datagrams: info.datagrams,
        });
        // Memory of the reserve (`is_lent`) must not outlive this call. Without other memory, the transport gets the
        // request back.
        let lent = memory::is_lent(&*cr) || memory::is_lent(&*cr.remote_address) || memory::is_lent(&*cr.private_data);
        let adopted = if lent { None } else { ia.adopt_shared(cr.clone()).ok() };
        adopted.ok_or_else(|| {
            let Some(incoming) = cr.incoming.lock().take() else { unreachable!("it was put there above") };
            incoming
        })
    }

    /// Accepts the request with `ep`, or with the endpoint that the service point supplied. If this fails, the request
    /// stays pending.
    ///
    /// # Errors
    /// * [`Role::Cr`] if the request is no longer pending
    /// * [`Role::Ep`] if there are both endpoints or neither, if the endpoint lacks a zone or an EVD, or if only one of
    ///   request and endpoint is for datagrams
    /// * [`crate::error::StateError::Endpoint`] if the state of the endpoint does not allow it
    pub fn accept(&self, ep: Option<&Arc<Endpoint<T>>>, private_data: &[u8]) -> Result<()> {
        let (ep, trigger) = match (ep, &self.ep) {
            (Some(ep), None) => (ep, Trigger::AcceptExplicit),
            (None, Some(ep)) => (ep, Trigger::AcceptImplicit),
            _ => return Err(Error::InvalidHandle(Role::Ep)),
        };
        debug_assert!(private_data.len() <= self.ia.attributes().max_private_data);
        if ep.has_datagrams() != self.datagrams.is_some() {
            return Err(Error::InvalidHandle(Role::Ep));
        }
        let mut incoming = self.incoming.lock();
        if incoming.is_none() {
            return Err(Error::InvalidHandle(Role::Cr));
        }
        if self.datagrams.is_some() {
            ep.accept_peer(&mut incoming, &self.info(0), private_data)?;
        } else {
            ep.accept(trigger, &mut incoming, (self.remote_address.clone(), self.remote_qualifier), private_data)?;
        }
        drop(incoming);
        self.ia.disown(self);
        Ok(())
    }

    /// Rejects the request. `private_data` has at most
    /// [`AdapterAttributes::max_reject_data`](crate::transport::AdapterAttributes::max_reject_data) bytes.
    ///
    /// # Errors
    /// [`Role::Cr`] if the request is no longer pending.
    pub fn reject(&self, private_data: &[u8]) -> Result<()> {
        debug_assert!(private_data.len() <= self.ia.attributes().max_reject_data);
        let incoming = self.take()?;
        self.ia.transport.reject(incoming, Rejection::Consumer, private_data);
        self.ia.conn_stats.note(ConnStat::Reject);
        log::debug!(target: host::diagnostics::CM, "connection request from {}: rejected", self.remote_address);
        Ok(())
    }

    /// Rejects a pending request that the program can no longer answer.
    pub(crate) fn abandon(&self) {
        if let Ok(incoming) = self.take() {
            self.ia.transport.reject(incoming, Rejection::Provider, &[]);
        }
    }

    /// Passes the request to the service point at `qualifier`. Rejects the request if there is no such service point,
    /// or if that service point does not accept it.
    ///
    /// # Errors
    /// [`crate::error::Role::Cr`] if the request is no longer pending; [`Arg::Qualifier`] for qualifier 0;
    /// [`Error::ModelNotSupported`] for a request that arrived at a common service point.
    pub fn handoff(&self, qualifier: u64) -> Result<()> {
        if qualifier == 0 {
            return Err(Error::InvalidParameter(Arg::Qualifier));
        }
        if self.common {
            return Err(Error::ModelNotSupported);
        }
        let incoming = self.take()?;
        let refused = match point_on(&self.ia, qualifier) {
            Some(point) => point.request(incoming, self.info(qualifier)).err(),
            None => Some(incoming),
        };
        if let Some(incoming) = refused {
            self.ia.transport.reject(incoming, Rejection::Provider, &[]);
        }
        Ok(())
    }

    fn info(&self, qualifier: u64) -> ConnectionRequestInfo {
        ConnectionRequestInfo {
            qualifier,
            remote_address: (*self.remote_address).clone(),
            remote_qualifier: self.remote_qualifier,
            private_data: self.private_data.iter().map(|byte| byte.load(Ordering::Relaxed)).collect(),
            datagrams: self.datagrams,
        }
    }

    pub(super) fn take(&self) -> Result<T::Incoming> {
        let incoming = self.incoming.lock().take().ok_or(Error::InvalidHandle(Role::Cr))?;
        self.ia.disown(self);
        // A tentative endpoint is freed. The endpoint of a reserved service point returns to the unconnected state.
        dismiss(self.ep.clone());
        Ok(incoming)
    }
}

impl<T: Transport> Evd<T> {
    /// Frees the EVD. Rejects connection requests among its queued events.
    ///
    /// # Errors
    /// [`StateError::EvdInUse`](crate::error::StateError::EvdInUse) while an endpoint, a service point or an adapter
    /// uses it, [`StateError::EvdWaiter`](crate::error::StateError::EvdWaiter) if only a waiting thread uses it.
    pub fn free(&self) -> Result<()> {
        let mut events = self.free_unused()?;
        while let Some(queued) = events.pop() {
            let Event::ConnectionRequest { cr, .. } = queued.settle() else { continue };
            self.ia.arena.get(cr).inspect(|cr: &Arc<Cr<T>>| cr.abandon());
        }
        Ok(())
    }
}

pub(super) fn dismiss<T: Transport>(ep: Option<Arc<Endpoint<T>>>) {
    let Some(ep) = ep else { return };
    if ep.shift(Trigger::RequestAnswered, 0) == Ok(Next::Destroy) {
        ep.free_anyway();
    }
}

fn point_on<T: Transport>(ia: &Ia<T>, qualifier: u64) -> Option<Arc<ServicePoint<T>>> {
    let listens = |point: &Arc<ServicePoint<T>>| point.listens_on(qualifier).then(|| point.clone());
    ia.find(|psp: &Psp<T>| listens(&psp.point))
        .or_else(|| ia.find(|rsp: &Rsp<T>| listens(&rsp.point)))
        .or_else(|| ia.find(|csp: &Csp<T>| listens(&csp.point)))
}
