//! Public service points, and the connection requests that arrive there.

use std::mem::MaybeUninit;
use std::net::SocketAddr;

use dat_udat12::*;

use super::error::Result;
use super::event::bytes;
use super::{Ep, Evd, Handle, Ia, Library, address};

/// A public service point: where a server listens.
#[derive(Debug)]
pub struct Psp {
    handle: Handle,
    qualifier: u64,
    ia: Ia,
    _evd: Evd,
}

impl Psp {
    /// Listens on a qualifier, or on any that is free. Requests arrive at `evd`.
    ///
    /// # Errors
    /// As dat_psp_create and dat_psp_create_any.
    pub fn new(ia: &Ia, qualifier: Option<u64>, evd: &Evd) -> Result<Self> {
        let library = ia.library();
        let mut handle = Handle::NULL;
        let mut chosen = qualifier.unwrap_or(0);
        match qualifier {
            // SAFETY: adapter and dispatcher are there, and the places are this function's own.
            Some(qualifier) => library.check("dat_psp_create", unsafe {
                (library.calls().dat_psp_create)(ia.raw(), qualifier, evd.raw(), DAT_PSP_CONSUMER_FLAG, &mut handle.0)
            }),
            // SAFETY: as above.
            None => library.check("dat_psp_create_any", unsafe {
                (library.calls().dat_psp_create_any)(
                    ia.raw(),
                    &mut chosen,
                    evd.raw(),
                    DAT_PSP_CONSUMER_FLAG,
                    &mut handle.0,
                )
            }),
        }?;
        Ok(Self { handle, qualifier: chosen, ia: ia.clone(), _evd: evd.clone() })
    }

    /// The number on which it listens.
    pub fn qualifier(&self) -> u64 {
        self.qualifier
    }
}

impl Drop for Psp {
    fn drop(&mut self) {
        // SAFETY: the handle is that of a service point, which nobody else owns.
        unsafe { (self.ia.library().calls().dat_psp_free)(self.handle.0) };
    }
}

/// A connection request, to be accepted; one that is dropped is rejected.
#[derive(Debug)]
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
    ///
    /// # Errors
    /// As dat_cr_query.
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

    /// Accepts the request for an endpoint; an event tells when the connection is there.
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
