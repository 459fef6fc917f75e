//! Public service points and connection requests.

use std::mem::MaybeUninit;
use std::net::SocketAddr;

use dat_udat20::*;

use crate::abi::{Own, address, bytes};
use crate::object::{Handle, Object};
use crate::{Ep, Evd, Ia, Library, Result};

/// A public service point, on which a server listens.
pub struct Psp {
    _object: Object,
    /// The qualifier on which the service point listens.
    pub qualifier: u64,
    /// The dispatcher of connection requests.
    pub requests: Evd,
}

impl Psp {
    /// Listens on a qualifier, or on any free one. Requests arrive at `evd`.
    pub fn new(ia: &Ia, qualifier: Option<u64>, evd: &Evd) -> Result<Self> {
        let calls = &ia.library().calls().common;
        let mut chosen = qualifier.unwrap_or(0);
        let name = if qualifier.is_some() { "dat_psp_create" } else { "dat_psp_create_any" };
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
        Ok(Self { _object: object, qualifier: chosen, requests: evd.clone() })
    }
}

/// A connection request, which is rejected if it is dropped.
pub struct Cr {
    library: Library,
    handle: Handle,
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
        Cr { library: ia.library(), handle: Handle::new(handle, ia.owner()) }
    }

    /// Returns the peer that requests the connection.
    pub fn query(&self) -> Result<Peer> {
        let mut param = MaybeUninit::<DAT_CR_PARAM>::zeroed();
        let query = self.library.calls().common.dat_cr_query;
        // SAFETY: the request is pending, and the structure is local.
        let code = unsafe { query(self.handle.raw(), DAT_CR_FIELD_ALL, param.as_mut_ptr()) };
        self.library.check("dat_cr_query", code)?;
        // SAFETY: numbers and pointers, which the call wrote or for which zeros are valid. The pointers are valid until
        // the request ends.
        unsafe {
            let param = param.assume_init();
            Ok(Peer {
                address: address(param.remote_ia_address_ptr),
                private_data: bytes(param.private_data, param.private_data_size),
            })
        }
    }

    /// Accepts the request for an endpoint. An event reports that the connection is established. On failure, rejects
    /// the request.
    pub fn accept(self, ep: &Ep, private_data: &[u8]) -> Result<()> {
        let accept = self.library.calls().common.dat_cr_accept;
        let (size, data) = (private_data.len() as DAT_COUNT, private_data.as_ptr().cast_mut().cast());
        // SAFETY: request and endpoint are live; the call reads the private data before it returns.
        let code = unsafe { accept(self.handle.raw(), ep.raw(), size, data) };
        self.library.check("dat_cr_accept", code)?;
        std::mem::forget(self);
        Ok(())
    }
}

impl Drop for Cr {
    fn drop(&mut self) {
        if self.handle.is_usable() {
            // SAFETY: the request is pending, and there is no private data.
            unsafe {
                match &self.library.calls().own {
                    Own::V12(calls) => (calls.dat_cr_reject)(self.handle.raw()),
                    Own::V20(calls) => (calls.dat_cr_reject)(self.handle.raw(), 0, std::ptr::null_mut()),
                }
            };
        }
    }
}
