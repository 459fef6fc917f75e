//! Attributes and parameters of endpoints in the form of uDAPL 1.2.

use dat_core::Comm;
use dat_provider_common::ptr::InPtr;
use dat_udat12::*;

dat_provider_common::ep_attributes!();

/// Endpoints have no kind of socket in this version: no bit of the mask names it.
pub(crate) const DAT_EP_FIELD_COMM: DAT_EP_PARAM_MASK = 0;

pub(crate) fn comm(_: InPtr<DAT_EP_PARAM>) -> Option<Comm> {
    None
}

#[cfg(test)]
mod tests;
