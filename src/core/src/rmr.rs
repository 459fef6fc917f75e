//! Remote memory regions: windows into local regions that peers may use.

use std::sync::Arc;

use host::lock::{Mutex, MutexGuard};
use host::memory;

use crate::error::{Error, Result, Role};
use crate::ia::Ia;
use crate::lmr::Lmr;
use crate::lmr_table::LocalSegment;
use crate::mem::Rights;
use crate::pz::Pz;
use crate::slab::{Header, Kind, Object};
use crate::transport::Transport;
use crate::users::Use;

/// A remote memory region.
pub struct Rmr<T: Transport> {
    header: Header,
    ia: Arc<Ia<T>>,
    zone: u32,
    pz: Mutex<Option<Use<Pz<T>>>>,
    window: Mutex<Option<Arc<T::Window>>>,
    binding: Mutex<Option<Binding<T>>>,
}

/// The binding of a remote memory region.
pub(crate) struct Binding<T: Transport> {
    /// Held so that the region cannot be freed under the window.
    #[allow(dead_code)]
    pub lmr: Use<Lmr<T>>,
    pub segment: LocalSegment,
    pub rights: Rights,
    pub key: u32,
}

/// The binding as a query shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmrStatus {
    /// The bound range.
    pub segment: LocalSegment,
    /// The rights it grants.
    pub rights: Rights,
    /// The key by which peers name it.
    pub remote_key: u32,
}

impl<T: Transport> Object for Rmr<T> {
    const KIND: Kind = Kind::Rmr;

    fn header(&self) -> &Header {
        &self.header
    }
}

impl<T: Transport> Rmr<T> {
    /// Makes an unbound region in `pz`.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`], [`Error::NotImplemented`].
    pub fn create(pz: &Arc<Pz<T>>) -> Result<Arc<Self>> {
        let ia = pz.ia();
        if !ia.transport.attributes().rmr {
            return Err(Error::NotImplemented);
        }
        ia.room_for(Kind::Rmr)?;
        let pz = Use::of(pz).ok_or(Error::InvalidHandle(Role::Pz))?;
        let window = memory::arc(ia.transport.window_create(pz.zone())?)?;
        pz.ia().clone().adopt(Rmr {
            header: Header::default(),
            ia: ia.clone(),
            zone: pz.id(),
            window: Mutex::new(Some(window)),
            binding: Mutex::new(None),
            pz: Mutex::new(Some(pz)),
        })
    }

    /// Frees the region, unbinding it first.
    pub fn free(&self) {
        let (window, binding) = {
            let mut binding = self.binding.lock();
            (self.window.lock().take(), binding.take())
        };
        // The window goes first, without a lock, since that may wait for a peer. A thread that binds it may have it still.
        if let Some(window) = &window {
            self.ia.transport.window_close(window);
        }
        drop(window);
        drop(binding);
        self.pz.lock().take();
        self.ia.disown(self);
    }

    /// The adapter it belongs to.
    pub fn ia(&self) -> &Arc<Ia<T>> {
        &self.ia
    }

    /// Its protection zone; `None` once freed.
    pub fn pz(&self) -> Option<Arc<Pz<T>>> {
        self.pz.lock().as_ref().map(|pz| pz.object().clone())
    }

    /// The number of its zone.
    pub(crate) fn zone(&self) -> u32 {
        self.zone
    }

    /// The transport's side of it; `None` once freed.
    pub(crate) fn window(&self) -> Option<Arc<T::Window>> {
        self.window.lock().clone()
    }

    /// Its binding, held for a change.
    pub(crate) fn binding(&self) -> MutexGuard<'_, Option<Binding<T>>> {
        self.binding.lock()
    }

    /// Its binding; `None` if it is unbound.
    pub fn status(&self) -> Option<RmrStatus> {
        self.binding.lock().as_ref().map(|binding| RmrStatus {
            segment: binding.segment,
            rights: binding.rights,
            remote_key: binding.key,
        })
    }
}
