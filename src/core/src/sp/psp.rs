//! Public service points, which accept any number of requests.

use std::sync::Arc;

use crate::arena::{Header, Kind};
use crate::counters::ConnStat;
use crate::error::{Arg, Error, Result};
use crate::evd::Evd;
use crate::ia::Ia;
use crate::sp::point::{Provision, ServicePoint};
use crate::transport::Transport;

/// The source of the endpoint that accepts a request. The values are the numbers of the C interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PspMode {
    /// The program passes an endpoint to the accept.
    Consumer = 0,
    /// The provider creates the endpoint when the request arrives.
    Provider = 1,
}

/// A public service point, which accepts any number of requests.
pub struct Psp<T: Transport> {
    pub(crate) header: Header,
    /// The common part of all service points.
    pub point: Arc<ServicePoint<T>>,
    /// The source of the endpoints that accept requests.
    pub mode: PspMode,
}

impl<T: Transport> Psp<T> {
    /// Listens on `qualifier`, or on one that the transport chooses.
    ///
    /// # Errors
    /// [`crate::error::Role::EvdConnectionRequests`] for an EVD that does not accept requests; [`Arg::Qualifier`] for
    /// 0; [`Error::of_listen`].
    pub fn create(ia: &Arc<Ia<T>>, qualifier: Option<u64>, evd: &Arc<Evd<T>>, mode: PspMode) -> Result<Arc<Self>> {
        let point = ServicePoint::new(ia, evd, Provision::Public(mode))?;
        if qualifier == Some(0) {
            return Err(Error::InvalidParameter(Arg::Qualifier));
        }
        let psp = ia.adopt(Psp { header: Header::default(), point, mode })?;
        psp.point.open(psp.header.handle(), qualifier).inspect_err(|_| {
            psp.free();
            ia.discount(Kind::Psp);
        })?;
        if qualifier.is_none() {
            ia.conn_stats.note(ConnStat::AnyQualifier);
        }
        Ok(psp)
    }

    /// Frees the service point, which stops listening. Requests that it has received stay valid.
    pub fn free(&self) {
        self.point.ia.disown(self);
        self.point.shut();
    }
}
