//! Attributes and parameters of endpoints in the form of uDAPL 2.0.

use std::mem::offset_of;

use dat_core::{Comm, EpAttributes};
use dat_udat20::*;

use crate::ptr::{InPtr, read_field};

crate::ep_attributes!();
crate::ep_query!(status, c_attributes, {
    comm: DAT_COMM { domain: status.comm.domain, r#type: status.comm.kind, protocol: status.comm.protocol },
});

/// Converts attributes like [`ep_attributes`], but also accepts the datagram service.
pub(crate) fn attributes(attr: &DAT_EP_ATTR, srq: bool) -> Option<EpAttributes> {
    let datagrams = datagrams(attr.service_type)?;
    let attr = DAT_EP_ATTR { service_type: DAT_SERVICE_TYPE_RC, ..*attr };
    ep_attributes(&attr, srq).map(|attr| EpAttributes { datagrams, ..attr })
}

/// Returns whether a service is for datagrams; `None` for an unknown service.
pub(crate) fn datagrams(service: DAT_SERVICE_TYPE) -> Option<bool> {
    match service {
        DAT_SERVICE_TYPE_RC => Some(false),
        DAT_IB_SERVICE_TYPE_UD => Some(true),
        _ => None,
    }
}

pub(crate) fn c_attributes(attr: &EpAttributes, srq: bool) -> DAT_EP_ATTR {
    let service_type = if attr.datagrams { DAT_IB_SERVICE_TYPE_UD } else { DAT_SERVICE_TYPE_RC };
    DAT_EP_ATTR { service_type, ..c_ep_attributes(attr, srq) }
}

pub(crate) fn comm(param: InPtr<DAT_EP_PARAM>) -> Option<Comm> {
    read_field!(param, comm).map(core_comm)
}

pub(crate) fn core_comm(comm: DAT_COMM) -> Comm {
    Comm { domain: comm.domain, kind: comm.r#type, protocol: comm.protocol }
}

// Queries of common service points return a pointer to core's structure, so both must have the same layout.
const _: () = {
    assert!(size_of::<Comm>() == size_of::<DAT_COMM>() && align_of::<Comm>() == align_of::<DAT_COMM>());
    assert!(offset_of!(Comm, domain) == offset_of!(DAT_COMM, domain));
    assert!(offset_of!(Comm, kind) == offset_of!(DAT_COMM, r#type));
    assert!(offset_of!(Comm, protocol) == offset_of!(DAT_COMM, protocol));
};

#[cfg(test)]
mod tests;
