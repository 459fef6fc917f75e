//! Common service points: public ones that programs name by the address of a socket.
//!
//! Its qualifier is the port of the address, in the one space of qualifiers that all service points share; connecting
//! to an address is connecting to the qualifier that equals its port. So endpoints and service points of both models,
//! and of both versions of the interface, meet.

use std::sync::{Arc, OnceLock};

use crate::addr::{Address, Comm};
use crate::error::{Error, Resource, Result};
use crate::evd::Evd;
use crate::ia::Ia;
use crate::slab::{Header, Kind};
use crate::sp::point::{Provision, ServicePoint};
use crate::transport::Transport;

/// A common service point. Its port is the qualifier of a service point like any other, so that endpoints of either model of
/// connections reach it.
pub struct Csp<T: Transport> {
    pub(crate) header: Header,
    /// The part that all service points have.
    pub point: Arc<ServicePoint<T>>,
    /// The kind of socket whose address it has; it stays in place.
    pub comm: Comm,
    /// The address without the port, which is not known before it listens.
    host: Address,
    address: OnceLock<Address>,
}

impl<T: Transport> Csp<T> {
    /// Listens on the port of `address`, or on one that the transport chooses if that is 0. The any-address stands for that of
    /// the adapter.
    ///
    /// # Errors
    /// [`crate::error::Role::EvdConnectionRequests`] for a dispatcher that does not admit requests,
    /// [`Error::CommNotSupported`], [`crate::error::AddressFault::Malformed`] for an address of another family than that of
    /// `comm`, [`crate::error::AddressFault::Unreachable`] for one that the adapter does not have, [`Error::PortInUse`],
    /// [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>, comm: Comm, address: &Address, evd: &Arc<Evd<T>>) -> Result<Arc<Self>> {
        let point = ServicePoint::new(ia, evd, Provision::Common)?;
        comm.check()?;
        comm.check_address(address)?;
        let address = ia.transport.attributes().address.named_by(address)?;
        let wanted = (address.port() > 0).then(|| address.port().into());
        let host = address.with_port(0);
        let csp = ia.adopt(Csp { header: Header::default(), point, comm, host, address: OnceLock::new() })?;
        csp.listen(wanted).inspect_err(|_| {
            csp.free();
            ia.discount(Kind::Csp);
        })?;
        Ok(csp)
    }

    fn listen(&self, wanted: Option<u64>) -> Result<()> {
        self.point.open(self.header.handle(), wanted).map_err(|error| match error {
            Error::QualifierInUse => Error::PortInUse,
            Error::QualifierUnavailable => Error::InsufficientResources(Resource::Memory),
            other => other,
        })?;
        // A transport chooses among those that are ports.
        let port = u16::try_from(self.point.qualifier()).map_err(|_| Error::Internal)?;
        let _ = self.address.set(self.host.with_port(port));
        Ok(())
    }

    /// Stops listening. Requests announced before stay valid.
    pub fn free(&self) {
        self.point.ia.disown(self);
        self.point.shut();
    }

    /// Its address, with the port on which it listens; it stays in place.
    pub fn address(&self) -> &Address {
        self.address.get().unwrap_or(&self.host)
    }
}
