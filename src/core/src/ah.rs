//! Address handles: the peers of datagram endpoints.
//!
//! An address handle results from an exchange of connection messages with the peer. Any endpoint of the same adapter
//! and zone can then send to the peer. Only the endpoint of the exchange can free the handle.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::arena::Header;
use crate::error::{Arg, Error, Result};
use crate::ia::Ia;
use crate::transport::Transport;
use crate::transport::datagrams::PeerOf;

/// A peer. The object exists until the program has freed both handle and exchange ([`Claim`]), or the endpoint.
pub struct Ah<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    zone: u32,
    pub(crate) way: PeerOf<T>,
    /// Private data of the peer. The event of the exchange refers to these bytes.
    _private_data: Option<Arc<[u8]>>,
    /// Bits of the [`Claim`]s that the program has not freed.
    claims: AtomicU8,
}

/// A part of a peer that the program frees separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Claim {
    /// The address handle, without which the program cannot send to the peer.
    Handle = 1,
    /// The record of the exchange of connection messages, with the peer's private data.
    Exchange = 2,
}

impl<T: Transport> Ah<T> {
    pub(crate) fn new(ia: &Arc<Ia<T>>, zone: u32, way: PeerOf<T>, private_data: Option<Arc<[u8]>>) -> Self {
        let claims = AtomicU8::new(Claim::Handle as u8 | Claim::Exchange as u8);
        Ah { header: Header::default(), ia: ia.clone(), zone, way, _private_data: private_data, claims }
    }

    /// Returns whether endpoints of this adapter and zone can send to the peer.
    pub(crate) fn admits(&self, ia: &Arc<Ia<T>>, zone: u32) -> bool {
        self.zone == zone && Arc::ptr_eq(&self.ia, ia) && self.claims.load(Ordering::Relaxed) & Claim::Handle as u8 != 0
    }

    /// Frees a claim. Returns whether it was the last claim.
    ///
    /// # Errors
    /// [`Arg::Remote`] if the claim was freed before.
    pub(crate) fn release(&self, claim: Claim) -> Result<bool> {
        let before = self.claims.fetch_and(!(claim as u8), Ordering::AcqRel);
        if before & claim as u8 == 0 { Err(Error::InvalidParameter(Arg::Remote)) } else { Ok(before == claim as u8) }
    }
}
