//! Reserved service points, which accept one request for one endpoint.

use std::sync::Arc;

use crate::arena::{Header, Kind};
use crate::ep::{Endpoint, Trigger};
use crate::error::{Arg, Error, Result};
use crate::evd::Evd;
use crate::ia::Ia;
use crate::sp::point::{Provision, ServicePoint, release};
use crate::transport::Transport;

/// A reserved service point, which accepts one request for the endpoint `ep`.
pub struct Rsp<T: Transport> {
    pub(crate) header: Header,
    /// The common part of all service points.
    pub point: Arc<ServicePoint<T>>,
    /// The reserved endpoint.
    pub ep: Arc<Endpoint<T>>,
}

impl<T: Transport> Rsp<T> {
    /// Listens on `qualifier` for one request for `ep`, and reserves `ep`.
    ///
    /// # Errors
    /// [`crate::error::Role::EvdConnectionRequests`]; [`Arg::Qualifier`] for 0; [`crate::error::StateError::Endpoint`]
    /// unless `ep` is unconnected; [`Error::ModelNotSupported`] for a datagram endpoint; errors of
    /// [`Error::of_listen`].
    pub fn create(ia: &Arc<Ia<T>>, qualifier: u64, ep: &Arc<Endpoint<T>>, evd: &Arc<Evd<T>>) -> Result<Arc<Self>> {
        let point = ServicePoint::new(ia, evd, Provision::Reserved(ep.clone()))?;
        if qualifier == 0 {
            return Err(Error::InvalidParameter(Arg::Qualifier));
        }
        ep.shift(Trigger::Reserve, 0)?;
        let rsp = ia.adopt(Rsp { header: Header::default(), point, ep: ep.clone() }).inspect_err(|_| release(ep))?;
        rsp.point.open(rsp.header.handle(), Some(qualifier)).inspect_err(|_| {
            rsp.free();
            ia.discount(Kind::Rsp);
        })?;
        Ok(rsp)
    }

    /// Frees the service point, which stops listening. If no request has arrived, the endpoint becomes unconnected.
    pub fn free(&self) {
        self.point.ia.disown(self);
        // After a request has arrived, the endpoint may be reserved for a different service point.
        if self.point.shut() {
            release(&self.ep);
        }
    }
}
