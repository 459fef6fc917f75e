//! Passing a connection request on to another service point.

use std::sync::Arc;

use crate::error::{Arg, Error, Result};
use crate::ia::Ia;
use crate::sp::cr::Cr;
use crate::sp::csp::Csp;
use crate::sp::point::ServicePoint;
use crate::sp::psp::Psp;
use crate::sp::rsp::Rsp;
use crate::transport::{Rejection, Transport};

impl<T: Transport> Cr<T> {
    /// Passes the request to the service point on `qualifier`, where it arrives as a new one. If no service point
    /// listens there, the request is refused.
    ///
    /// # Errors
    /// [`crate::error::Role::Cr`] if it was answered already, [`Arg::Qualifier`] for
    /// qualifier 0, [`Error::ModelNotSupported`] for a request that came to a common service point.
    pub fn handoff(&self, qualifier: u64) -> Result<()> {
        if qualifier == 0 {
            return Err(Error::InvalidParameter(Arg::Qualifier));
        }
        if self.is_common() {
            return Err(Error::ModelNotSupported);
        }
        let incoming = self.take()?;
        let refused = match point_on(self.ia(), qualifier) {
            Some(point) => point.request(incoming, self.info(qualifier)).err(),
            None => Some(incoming),
        };
        if let Some(incoming) = refused {
            self.ia().transport().reject(incoming, Rejection::Provider, &[]);
        }
        Ok(())
    }
}

/// The service point that listens on `qualifier`.
fn point_on<T: Transport>(ia: &Ia<T>, qualifier: u64) -> Option<Arc<ServicePoint<T>>> {
    let listens = |point: &Arc<ServicePoint<T>>| point.listens_on(qualifier).then(|| point.clone());
    ia.find(|psp: &Psp<T>| listens(psp.point()))
        .or_else(|| ia.find(|rsp: &Rsp<T>| listens(rsp.point())))
        .or_else(|| ia.find(|csp: &Csp<T>| listens(csp.point())))
}
