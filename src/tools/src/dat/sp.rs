//! Public service points, and the connection requests that arrive there.

use std::mem::MaybeUninit;
use std::net::SocketAddr;

use anyhow::Result;
use dat_udat12::*;

use super::event::bytes;
use super::object::{Handle, Object};
use super::{Ep, Evd, Ia, Library, address};

/// A public service point: where a server listens.
pub struct Psp {
    _object: Object,
    qualifier: u64,
    /// Where requests arrive.
    pub requests: Evd,
}

impl Psp {
    /// Listens on a qualifier, or on any that is free. Requests arrive at `evd`.
    pub fn new(ia: &Ia, qualifier: Option<u64>, evd: &Evd) -> Result<Self> {
        let calls = ia.library().calls();
        let mut chosen = qualifier.unwrap_or(0);
        let name = if qualifier.is_some() { "dat_psp_create" } else { "dat_psp_create_any" };
        let object = Object::new(ia, name, calls.dat_psp_free, vec![evd.0.clone()], |handle| {
            let (ia, evd) = (ia.raw(), evd.raw());
            // SAFETY: adapter and dispatcher are there, and the places are this function's and the object's own.
            unsafe {
                match qualifier {
                    Some(qualifier) => (calls.dat_psp_create)(ia, qualifier, evd, DAT_PSP_CONSUMER_FLAG, handle),
                    None => (calls.dat_psp_create_any)(ia, &mut chosen, evd, DAT_PSP_CONSUMER_FLAG, handle),
                }
            }
        })?;
        Ok(Self { _object: object, qualifier: chosen, requests: evd.clone() })
    }

    /// The number on which it listens.
    pub fn qualifier(&self) -> u64 {
        self.qualifier
    }
}

/// A connection request, to be accepted; one that is dropped is rejected.
pub struct Cr {
    library: Library,
    handle: Handle,
}

/// Who asks for a connection, and what he says with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The peer's address, if that is one of IP.
    pub address: Option<SocketAddr>,
    /// The number of the peer's end.
    pub port: u64,
    /// Private data, which some transports fill with zeros up to a length of their own.
    pub private_data: Vec<u8>,
}

impl Cr {
    pub(super) fn new(library: Library, handle: DAT_CR_HANDLE) -> Self {
        Cr { library, handle: Handle(handle) }
    }

    /// Who asks.
    pub fn query(&self) -> Result<Request> {
        let mut param = MaybeUninit::<DAT_CR_PARAM>::zeroed();
        // SAFETY: the structure is this function's own.
        let code = unsafe { (self.library.calls().dat_cr_query)(self.handle.0, DAT_CR_FIELD_ALL, param.as_mut_ptr()) };
        self.library.check("dat_cr_query", code)?;
        // SAFETY: the structure is of numbers and pointers, for which zeros are valid, and what the call filled; what it
        // points to lives as long as the request.
        unsafe {
            let param = param.assume_init();
            Ok(Request {
                address: address::read(param.remote_ia_address_ptr),
                port: param.remote_port_qual,
                private_data: bytes(param.private_data, param.private_data_size),
            })
        }
    }

    /// Accepts the request for an endpoint; an event comes when the connection is established.
    ///
    /// # Errors
    /// As dat_cr_accept; the request is rejected then.
    pub fn accept(mut self, ep: &Ep, private_data: &[u8]) -> Result<()> {
        // SAFETY: the private data is read by the call alone, before it returns.
        let code = unsafe {
            (self.library.calls().dat_cr_accept)(
                self.handle.0,
                ep.raw(),
                private_data.len() as DAT_COUNT,
                private_data.as_ptr().cast_mut().cast(),
            )
        };
        self.library.check("dat_cr_accept", code)?;
        self.handle = Handle::NULL;
        Ok(())
    }
}

impl Drop for Cr {
    fn drop(&mut self) {
        if self.handle != Handle::NULL {
            // SAFETY: the handle is that of a request that was not answered.
            unsafe { (self.library.calls().dat_cr_reject)(self.handle.0) };
        }
    }
}
