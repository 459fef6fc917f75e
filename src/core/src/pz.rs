//! Protection zones: endpoints, memory and shared receive queues work together only within one zone.

use std::sync::Arc;

use crate::error::{Error, Refusal, Result};
use crate::ia::Ia;
use crate::slab::{Header, Kind, Object};
use crate::transport::{Transport, ZoneId};
use crate::users::{Counted, Users};

/// A protection zone.
pub struct Pz<T: Transport> {
    header: Header,
    users: Users,
    ia: Arc<Ia<T>>,
    zone: T::Zone,
}

impl<T: Transport> Object for Pz<T> {
    const KIND: Kind = Kind::Pz;

    fn header(&self) -> &Header {
        &self.header
    }
}

impl<T: Transport> Counted for Pz<T> {
    fn users(&self) -> &Users {
        &self.users
    }
}

impl<T: Transport> Pz<T> {
    /// Makes a protection zone.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>) -> Result<Arc<Self>> {
        ia.room_for(Kind::Pz)?;
        let zone = ia.transport.zone_create()?;
        ia.adopt(Pz { header: Header::default(), users: Users::default(), ia: ia.clone(), zone })
    }

    /// Frees the zone.
    ///
    /// # Errors
    /// [`Refusal::PzInUse`] while an endpoint, a memory region or a shared receive
    /// queue is in the zone.
    pub fn free(&self) -> Result<()> {
        if !self.users.retire() {
            return Err(Error::InvalidState(Refusal::PzInUse));
        }
        self.ia.disown(self);
        Ok(())
    }

    /// The adapter it belongs to.
    pub fn ia(&self) -> &Arc<Ia<T>> {
        &self.ia
    }

    /// The transport's side of it.
    pub fn zone(&self) -> &T::Zone {
        &self.zone
    }

    /// Its number, unique in the process.
    pub fn id(&self) -> u32 {
        self.zone.id()
    }
}
