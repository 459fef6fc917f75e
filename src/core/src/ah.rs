//! Address handles: the peers that endpoints for datagrams can send to.
//!
//! An address handle belongs to its adapter, so any endpoint of its zone can send to the peer. Only the endpoint that took part
//! in the exchange can free it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::error::{Arg, Error, Result};
use crate::ia::Ia;
use crate::slab::Header;
use crate::transport::Transport;

/// A peer, until the program has freed the handle and the exchange.
pub struct Ah<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    /// The zone of the endpoint that took part in the exchange.
    zone: u32,
    /// The transport's side of it.
    pub(crate) way: T::AddressHandle,
    /// The private data of the peer, which its event refers to.
    _private_data: Option<Arc<[u8]>>,
    /// The [`Claim`]s that the program has not freed.
    claims: AtomicU8,
}

/// What the program can free of a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The right to send to it.
    Handle = 1,
    /// The record of the exchange.
    Exchange = 2,
}

impl<T: Transport> Ah<T> {
    pub(crate) fn new(ia: &Arc<Ia<T>>, zone: u32, way: T::AddressHandle, private_data: Option<Arc<[u8]>>) -> Self {
        let claims = AtomicU8::new(Claim::Handle as u8 | Claim::Exchange as u8);
        Ah { header: Header::default(), ia: ia.clone(), zone, way, _private_data: private_data, claims }
    }

    /// Returns whether endpoints of this adapter and zone can send to the peer.
    pub(crate) fn admits(&self, ia: &Arc<Ia<T>>, zone: u32) -> bool {
        self.zone == zone && Arc::ptr_eq(&self.ia, ia) && self.claims.load(Ordering::Relaxed) & Claim::Handle as u8 != 0
    }

    /// Frees a claim. Returns whether it was the last one.
    ///
    /// # Errors
    /// [`Arg::Remote`] if it was freed before.
    pub(crate) fn release(&self, claim: Claim) -> Result<bool> {
        let before = self.claims.fetch_and(!(claim as u8), Ordering::AcqRel);
        if before & claim as u8 == 0 { Err(Error::InvalidParameter(Arg::Remote)) } else { Ok(before == claim as u8) }
    }
}
