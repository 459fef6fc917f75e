//! Common service points (CSPs): public service points with a socket address.
//!
//! The qualifier of a CSP is the port of its address. So an endpoint can connect to any kind of service point, by
//! qualifier or by socket address, in both uDAPL versions.

use std::sync::{Arc, OnceLock};

use crate::addr::{Address, Comm};
use crate::arena::{Header, Kind};
use crate::error::{Error, Result};
use crate::evd::Evd;
use crate::ia::Ia;
use crate::sp::point::{Provision, ServicePoint};
use crate::transport::{FabricKind, Transport};

/// A common service point: a public service point with a socket address.
pub struct Csp<T: Transport> {
    pub(crate) header: Header,
    /// The common part of all service points.
    pub point: Arc<ServicePoint<T>>,
    /// The kind of socket. The result of a query points to this field.
    pub comm: Comm,
    host: Address,
    address: OnceLock<Address>,
}

impl<T: Transport> Csp<T> {
    /// Listens on the port of `address`. For port 0, the transport chooses the port. The wildcard address means the
    /// address of the adapter.
    ///
    /// # Errors
    /// [`crate::error::Role::EvdConnectionRequests`] for an EVD that does not accept requests;
    /// [`Error::CommNotSupported`]; [`crate::error::AddressFault::Malformed`] if the family differs from `comm`;
    /// [`crate::error::AddressFault::Unreachable`] if the adapter does not have the address; [`Error::PortInUse`];
    /// [`Error::ListenForbidden`]; [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>, comm: Comm, address: &Address, evd: &Arc<Evd<T>>) -> Result<Arc<Self>> {
        let point = ServicePoint::new(ia, evd, Provision::Common)?;
        comm.check()?;
        comm.check_address(address)?;
        let limits = ia.attributes();
        let address = limits.address.named_by(address, limits.fabric.kind == FabricKind::Memory)?;
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
            Error::QualifierUnavailable => Error::NO_MEMORY,
            other => other,
        })?;
        u16::try_from(self.point.qualifier()).map(drop).map_err(|_| Error::Internal)
    }

    /// Frees the service point, which then receives no requests. Requests that it has received stay valid.
    pub fn free(&self) {
        self.point.ia.disown(self);
        self.point.shut();
    }

    /// Returns the address on which the service point listens, including the port. The reference stays valid while the
    /// service point exists.
    pub fn address(&self) -> &Address {
        match u16::try_from(self.point.qualifier()) {
            Ok(port @ 1..) => self.address.get_or_init(|| self.host.with_port(port)),
            _ => &self.host,
        }
    }
}
