//! Public service points and connection requests.

use std::net::SocketAddr;
use std::ptr;

use dat_udat20::*;

use crate::abi::{Own, address, bytes};
use crate::object::{Handle, Object};
use crate::{Ep, Evd, Ia, Result};

/// A public service point, on which a server listens.
pub struct Psp {
    _object: Object,
    /// The qualifier on which the service point listens.
    pub qualifier: u64,
}

impl Psp {
    /// Listens on `qualifier`, or on any free qualifier if it is `None`. Connection requests arrive at `evd`.
    pub fn new(ia: &Ia, qualifier: Option<u64>, evd: &Evd) -> Result<Self> {
        let calls = &ia.library().calls().common;
        let mut chosen = qualifier.unwrap_or(0);
        let name = if qualifier.is_some() { "dat_psp_create" } else { "dat_psp_create_any" };
        #[expect(clippy::multiple_unsafe_ops_per_block, reason = "the same condition covers both functions")]
        let object = Object::new(ia, name, calls.dat_psp_free, vec![evd.0.clone()], |handle| {
            let (ia, evd) = (ia.raw(), evd.raw());
            // SAFETY: adapter and dispatcher are live, and the places are local or the caller's.
            unsafe {
                match qualifier {
                    Some(qualifier) => (calls.dat_psp_create)(ia, qualifier, evd, DAT_PSP_CONSUMER_FLAG, handle),
                    None => (calls.dat_psp_create_any)(ia, &mut chosen, evd, DAT_PSP_CONSUMER_FLAG, handle),
                }
            }
        })?;
        Ok(Self { _object: object, qualifier: chosen })
    }
}

/// A connection request, which is rejected if it is dropped without [`accept`](Self::accept).
pub struct Cr {
    ia: Ia,
    handle: Handle,
    accepted: bool,
}

/// The peer that requests a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// IP address of the peer, if it has one.
    pub address: Option<SocketAddr>,
    /// Private data. Some transports append zeros.
    pub private_data: Vec<u8>,
}

impl Cr {
    #[cold]
    pub(crate) fn new(ia: &Ia, handle: DAT_CR_HANDLE) -> Self {
        Cr { ia: ia.clone(), handle: Handle::new(handle, ia.owner()), accepted: false }
    }

    /// Returns the peer that requests the connection.
    pub fn query(&self) -> Result<Peer> {
        let mut param = DAT_CR_PARAM {
            remote_ia_address_ptr: ptr::null_mut(),
            remote_port_qual: 0,
            private_data_size: 0,
            private_data: ptr::null_mut(),
            local_ep_handle: DAT_HANDLE_NULL,
        };
        let query = self.ia.library().calls().common.dat_cr_query;
        // SAFETY: the request is pending, and the structure is local.
        let code = unsafe { query(self.handle.raw(), DAT_CR_FIELD_ALL, &mut param) };
        self.ia.library().check("dat_cr_query", code)?;
        // SAFETY: NULL, or an address that is valid until the request ends.
        let address = unsafe { address(param.remote_ia_address_ptr) };
        // SAFETY: NULL, or bytes that are valid until the request ends.
        let private_data = unsafe { bytes(param.private_data, param.private_data_size) };
        Ok(Peer { address, private_data })
    }

    /// Accepts the request for an endpoint. An event reports the connection. If the call fails, the request is
    /// rejected.
    pub fn accept(mut self, ep: &Ep, private_data: &[u8]) -> Result<()> {
        let accept = self.ia.library().calls().common.dat_cr_accept;
        let (size, data) = (private_data.len() as DAT_COUNT, private_data.as_ptr().cast_mut().cast());
        // SAFETY: request and endpoint are live; the call reads the private data before it returns.
        let code = unsafe { accept(self.handle.raw(), ep.raw(), size, data) };
        self.ia.library().check("dat_cr_accept", code)?;
        self.accepted = true;
        Ok(())
    }
}

impl Drop for Cr {
    fn drop(&mut self) {
        if !self.accepted && self.handle.is_usable() {
            match &self.ia.library().calls().own {
                // SAFETY: the request is pending.
                Own::V12(calls) => unsafe { (calls.dat_cr_reject)(self.handle.raw()) },
                // SAFETY: the request is pending, and there is no private data.
                Own::V20(calls) => unsafe { (calls.dat_cr_reject)(self.handle.raw(), 0, ptr::null_mut()) },
            };
        }
    }
}
