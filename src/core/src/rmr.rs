//! Remote memory regions: windows into local regions that peers may use.
//!
//! A binding holds a use of the LMR, and a key that peers name. A window whose scope is an endpoint is noted among that
//! endpoint's requests, and its binding is forgotten when the connection ends (`ep/end.rs`); the transport's window
//! shows nothing then without being told. A message that revokes a window is reported with the key: the list of remote
//! keys says whose it is, and the binding is forgotten before the completion is queued. Reads into what a remote key
//! names look there too. The transport always gets real addresses, and beside them the number by which peers name the
//! first byte.

use std::mem;
use std::sync::Arc;

use host::lock::{Mutex, MutexGuard};
use host::memory;

use crate::error::{Error, Result, Role};
use crate::ia::Ia;
use crate::lmr::Lmr;
use crate::lmr_table::LocalSegment;
use crate::mem::{Base, Rights};
use crate::pz::Pz;
use crate::rmr_table::KeyRow;
use crate::slab::{Handle, Header, Kind};
use crate::transport::{Scope, Shown, Transport};
use crate::users::Use;

/// A remote memory region.
pub struct Rmr<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    pub(crate) zone: u32,
    /// The connections over which it can be used.
    pub scope: Scope,
    /// Where its key is among those of the adapter.
    key_row: KeyRow,
    pz: Mutex<Option<Use<Pz<T>>>>,
    window: Mutex<Option<Arc<T::Window>>>,
    binding: Mutex<Option<Binding<T>>>,
}

/// The binding of a remote memory region.
pub(crate) struct Binding<T: Transport> {
    /// Held so that the region cannot be freed under the window.
    #[allow(dead_code)]
    pub lmr: Use<Lmr<T>>,
    pub status: RmrStatus,
    /// The endpoint over whose connection alone it can be used.
    pub only: Option<Handle>,
}

impl<T: Transport> Binding<T> {
    /// The number by which its first byte is named with its key.
    pub fn first(&self) -> u64 {
        self.status.base.first(self.status.segment.addr)
    }
}

/// The binding as a query shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RmrStatus {
    /// The bound range.
    pub segment: LocalSegment,
    /// The rights it grants.
    pub rights: Rights,
    /// The number by which peers name its first byte: that of the segment, or 0.
    pub base: Base,
    /// The key by which peers name it.
    pub remote_key: u32,
}

impl<T: Transport> Rmr<T> {
    /// Makes an unbound region in `pz`, for use over all connections there or, while it is bound, over one.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`], [`Error::NotImplemented`]; [`Error::ModelNotSupported`] for one connection, where the
    /// transport has no such windows.
    pub fn create(pz: &Arc<Pz<T>>, scope: Scope) -> Result<Arc<Self>> {
        let ia = pz.ia();
        let limits = ia.transport.attributes();
        if !limits.rmr {
            return Err(Error::NotImplemented);
        }
        if scope == Scope::Endpoint && !limits.endpoint_windows {
            return Err(Error::ModelNotSupported);
        }
        ia.room_for(Kind::Rmr)?;
        let pz = Use::of(pz).ok_or(Error::InvalidHandle(Role::Pz))?;
        let window = memory::arc(ia.transport.window_create(&pz.zone, scope)?)?;
        let key_row = ia.remote_keys.enter()?;
        let ia = ia.clone();
        let rmr = ia.adopt(Rmr {
            header: Header::default(),
            ia: ia.clone(),
            zone: pz.id(),
            scope,
            key_row,
            window: Mutex::new(Some(window)),
            binding: Mutex::new(None),
            pz: Mutex::new(Some(pz)),
        });
        rmr.inspect_err(|_| ia.remote_keys.leave(key_row))
    }

    /// Frees the region, unbinding it first.
    pub fn free(&self) {
        let (window, binding) = {
            let mut binding = self.binding.lock();
            let window = self.window.lock().take();
            if window.is_some() {
                self.ia.remote_keys.leave(self.key_row);
            }
            (window, binding.take())
        };
        // The window goes first, without a lock, since that may wait for a peer. A thread that binds it may have it still.
        if let Some(window) = &window {
            self.ia.transport.await_peers(Shown::Window(&**window));
        }
        drop(window);
        drop(binding);
        self.pz.lock().take();
        self.ia.disown(self);
    }

    /// Its protection zone; `None` once freed.
    pub fn pz(&self) -> Option<Arc<Pz<T>>> {
        self.pz.lock().as_ref().map(|pz| pz.object().clone())
    }

    /// The transport's side of it; `None` once freed.
    pub(crate) fn window(&self) -> Option<Arc<T::Window>> {
        self.window.lock().clone()
    }

    /// Its binding, held for a change.
    pub(crate) fn binding(&self) -> MutexGuard<'_, Option<Binding<T>>> {
        self.binding.lock()
    }

    /// Puts the binding, which is held for a change, in the place of the one before, which is returned.
    pub(crate) fn rebind(&self, held: &mut Option<Binding<T>>, binding: Option<Binding<T>>) -> Option<Binding<T>> {
        let key = binding.as_ref().map_or(0, |binding| binding.status.remote_key);
        self.ia.remote_keys.set(self.key_row, key, self.header.handle());
        mem::replace(held, binding)
    }

    /// Forgets its binding, which the transport has ended, if it is `the` one.
    pub(crate) fn forget(&self, the: impl FnOnce(&Binding<T>) -> bool) {
        let mut binding = self.binding.lock();
        if binding.as_ref().is_some_and(the) {
            let ended = self.rebind(&mut binding, None);
            drop(binding);
            drop(ended);
        }
    }

    /// Whether it is bound for the connection of this endpoint alone.
    pub(crate) fn is_bound_over(&self, ep: Handle) -> bool {
        self.binding.lock().as_ref().is_some_and(|binding| binding.only == Some(ep))
    }

    /// Its binding; `None` if it is unbound.
    pub fn status(&self) -> Option<RmrStatus> {
        self.binding.lock().as_ref().map(|binding| binding.status)
    }
}
