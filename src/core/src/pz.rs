//! Protection zones: endpoints can only use memory of the same zone. Some adapters also require the same zone for
//! shared receive queues.

use std::sync::Arc;

use crate::arena::{Header, Kind};
use crate::error::{Error, Result, StateError};
use crate::ia::Ia;
use crate::transport::{Transport, ZoneId};

/// A protection zone.
pub struct Pz<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    pub(crate) zone: T::Zone,
}

impl<T: Transport> Pz<T> {
    /// Creates a protection zone.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`].
    pub fn create(ia: &Arc<Ia<T>>) -> Result<Arc<Self>> {
        ia.room_for(Kind::Pz)?;
        let zone = ia.transport.zone_create()?;
        ia.adopt(Pz { header: Header::default(), ia: ia.clone(), zone })
    }

    /// Frees the zone.
    ///
    /// # Errors
    /// [`StateError::PzInUse`] while an endpoint, a memory region or a shared receive queue uses the zone.
    pub fn free(&self) -> Result<()> {
        if !self.header.users.retire() {
            return Err(Error::InvalidState(StateError::PzInUse));
        }
        self.ia.disown(self);
        Ok(())
    }

    /// Returns the number of the zone, which is unique in the process.
    pub fn id(&self) -> u32 {
        self.zone.id()
    }
}
