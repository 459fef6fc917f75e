//! Public service points: they take any number of requests.

use std::sync::Arc;

use crate::counters::ConnStat;
use crate::error::{Arg, Error, Result};
use crate::evd::Evd;
use crate::ia::Ia;
use crate::slab::{Header, Kind};
use crate::sp::point::{Provision, ServicePoint};
use crate::transport::Transport;

/// The source of the endpoints of a public service point's requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PspMode {
    /// The program names one when it accepts.
    Consumer,
    /// The provider makes one for each request.
    Provider,
}

/// A public service point.
pub struct Psp<T: Transport> {
    pub(crate) header: Header,
    /// The part that all service points have.
    pub point: Arc<ServicePoint<T>>,
    /// The source of the endpoints.
    pub mode: PspMode,
}

impl<T: Transport> Psp<T> {
    /// Listens on `qualifier`, or on one that the transport chooses.
    ///
    /// # Errors
    /// [`crate::error::Role::EvdConnectionRequests`] for a dispatcher that does not admit requests,
    /// [`Arg::Qualifier`] for qualifier 0, [`Error::QualifierInUse`],
    /// [`Error::QualifierUnavailable`], [`Error::InsufficientResources`].
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
            ia.happenings.note(ConnStat::AnyQualifier);
        }
        Ok(psp)
    }

    /// Stops listening. Requests announced before stay valid.
    pub fn free(&self) {
        self.point.ia.disown(self);
        self.point.shut();
    }
}
