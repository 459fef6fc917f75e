//! Remote memory regions (RMRs): windows through which peers access local regions.
//!
//! A binding keeps its LMR in use and has a key for peers. The end of a connection removes the bindings that only this
//! connection can use (`ep/end.rs`); the transport has then revoked their windows. If a message has revoked a window,
//! the transport reports the window's key, and core removes the binding before it queues the completion.

use std::mem;
use std::sync::Arc;

use host::lock::{Mutex, MutexGuard};
use host::memory;

use crate::arena::{Handle, Header, Kind};
use crate::error::{Error, Result, Role};
use crate::ia::Ia;
use crate::lmr::Lmr;
use crate::lmr_table::LocalSegment;
use crate::mem::{Base, Rights};
use crate::pz::Pz;
use crate::rmr_table::KeyRow;
use crate::transport::{Scope, Transport, Windows};
use crate::users::Use;

/// A remote memory region.
pub struct Rmr<T: Transport> {
    pub(crate) header: Header,
    pub(crate) ia: Arc<Ia<T>>,
    pub(crate) zone: u32,
    /// The connections over which peers can access the region.
    pub scope: Scope,
    key_row: KeyRow,
    pub(crate) pz: Mutex<Option<Use<Pz<T>>>>,
    state: Mutex<RmrState<T>>,
}

pub(crate) struct RmrState<T: Transport> {
    /// `None` if the region is freed.
    pub window: Option<Arc<T::Window>>,
    pub binding: Option<Binding<T>>,
}

pub(crate) struct Binding<T: Transport> {
    /// Prevents the free of the LMR.
    #[allow(dead_code)]
    pub lmr: Use<Lmr<T>>,
    pub status: RmrStatus,
    /// The endpoint whose connection can use the binding; `None` if all connections of the zone can.
    pub only: Option<Handle>,
}

impl<T: Transport> Binding<T> {
    pub fn first(&self) -> u64 {
        self.status.base.first(self.status.segment.addr)
    }
}

/// The binding, as a query returns it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct RmrStatus {
    pub segment: LocalSegment,
    pub rights: Rights,
    pub base: Base,
    pub remote_key: u32,
}

impl<T: Transport> Rmr<T> {
    /// Creates an unbound region in `pz`.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`]; [`Role::Pz`] if the zone is being freed; [`Error::NotImplemented`], or
    /// [`Error::ModelNotSupported`] for [`Scope::Endpoint`], if the transport lacks such windows.
    pub fn create(pz: &Arc<Pz<T>>, scope: Scope) -> Result<Arc<Self>> {
        let ia = pz.ia();
        let limits = ia.attributes();
        if !limits.rmr {
            return Err(Error::NotImplemented);
        }
        if scope == Scope::Endpoint && !limits.endpoint_windows {
            return Err(Error::ModelNotSupported);
        }
        ia.room_for(Kind::Rmr)?;
        let pz = Use::of(pz).ok_or(Error::InvalidHandle(Role::Pz))?;
        let window = memory::arc(T::Window::create(&ia.transport, &pz.zone, scope)?)?;
        let key_row = ia.remote_keys.enter()?;
        let ia = ia.clone();
        let rmr = ia.adopt(Rmr {
            header: Header::default(),
            ia: ia.clone(),
            zone: pz.id(),
            scope,
            key_row,
            state: Mutex::new(RmrState { window: Some(window), binding: None }),
            pz: Mutex::new(Some(pz)),
        });
        rmr.inspect_err(|_| ia.remote_keys.leave(key_row))
    }

    /// Unbinds and frees the region.
    pub fn free(&self) {
        let (window, binding) = {
            let mut state = self.state.lock();
            if state.window.is_some() {
                self.ia.remote_keys.leave(self.key_row);
            }
            (state.window.take(), state.binding.take())
        };
        // Revoked before the window is dropped, and without a lock, because the transport may wait for a peer.
        if let Some(window) = &window {
            window.revoke(&self.ia.transport);
        }
        drop(window);
        drop(binding);
        self.pz.lock().take();
        self.ia.disown(self);
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, RmrState<T>> {
        self.state.lock()
    }

    pub(crate) fn rebind(&self, state: &mut RmrState<T>, binding: Option<Binding<T>>) -> Option<Binding<T>> {
        let key = binding.as_ref().map_or(0, |binding| binding.status.remote_key);
        self.ia.remote_keys.set(self.key_row, key, self.header.handle());
        mem::replace(&mut state.binding, binding)
    }

    /// Removes the binding if `the` returns `true` for it. Called after the transport has revoked the window.
    pub(crate) fn forget(&self, the: impl FnOnce(&Binding<T>) -> bool) {
        let mut state = self.state.lock();
        if state.binding.as_ref().is_some_and(the) {
            let ended = self.rebind(&mut state, None);
            drop(state);
            drop(ended);
        }
    }

    pub(crate) fn is_bound_over(&self, ep: Handle) -> bool {
        self.state.lock().binding.as_ref().is_some_and(|binding| binding.only == Some(ep))
    }

    /// Returns the binding, or `None` if the region is unbound.
    pub fn status(&self) -> Option<RmrStatus> {
        self.state.lock().binding.as_ref().map(|binding| binding.status)
    }
}
