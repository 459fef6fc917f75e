//! Attributes and parameters of endpoints in uDAPL 1.2.

use dat_core::Comm;
use dat_udat12::*;

use crate::ptr::InPtr;

crate::ep_attributes!();
crate::ep_query!(status, c_ep_attributes, {});

/// No bit: endpoints of this version have no socket parameters.
pub(crate) const DAT_EP_FIELD_COMM: DAT_EP_PARAM_MASK = 0;

pub(crate) fn comm(_: InPtr<DAT_EP_PARAM>) -> Option<Comm> {
    None
}

/// Returns whether a service is for datagrams; `None` for an unknown service.
pub(crate) fn datagrams(service: DAT_SERVICE_TYPE) -> Option<bool> {
    (service == DAT_SERVICE_TYPE_RC).then_some(false)
}

#[cfg(test)]
mod tests;
