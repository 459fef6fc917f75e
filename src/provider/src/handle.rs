//! Handles and their objects.
//!
//! A handle is the address of a cell that begins with the address of the provider table. Registries read the adapter's
//! name from this table, so each name has a table of its own.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dat_core::error::Role;
use dat_core::transport::Transport;
use dat_core::{Arena, Cell, Handle, Ia, Kind, Object, ObjectGuard};
use dat_udat::DAT_HANDLE;
use host::fork::Hold;

use crate::ptr::{Out, OutPtr};
use crate::registration::Registrations;
use crate::{Answer, Fault, Provider, fork};

/// The adapters and handles of a provider library.
pub struct Domain<T: Transport> {
    /// The objects of all adapters.
    pub arena: Arena<T>,
    /// A standard mutex, which the child of a fork can always unlock.
    registrations: Mutex<Registrations>,
    pub(crate) fork: Hold<MutexGuard<'static, Registrations>>,
    /// ID of the process that is forking; 0 otherwise.
    pub(crate) forker: AtomicU32,
}

impl<T: Transport> Domain<T> {
    /// Creates a domain without adapters.
    pub const fn empty() -> Self {
        Domain {
            arena: Arena::new(),
            registrations: Mutex::new(Registrations::new()),
            fork: Hold::new(),
            forker: AtomicU32::new(0),
        }
    }

    /// Locks the registrations. In the child of a fork, first ensures that the child's handler has run.
    pub fn registrations(&'static self) -> MutexGuard<'static, Registrations> {
        fork::finish(self);
        self.registrations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the cell at this address.
    #[inline]
    pub(crate) fn cell(&self, handle: DAT_HANDLE) -> Option<&'static Cell> {
        self.arena.cell(Handle(handle.addr()))
    }

    /// Returns fast access to the live object of this type and handle, as [`Arena::enter`] does.
    #[inline(always)]
    pub fn enter<O: Object>(&self, handle: DAT_HANDLE) -> Option<ObjectGuard<O>> {
        self.arena.enter(Handle(handle.addr()))
    }

    /// Returns the live object of this type and handle. Most slots call this, so it is not inlined.
    #[inline(never)]
    pub fn get<O: Object>(&self, handle: DAT_HANDLE) -> Option<Arc<O>> {
        self.cell(handle)?.get()
    }

    /// Returns the kind of the live object with this handle; `None` if there is none.
    #[inline]
    pub fn kind(&self, handle: DAT_HANDLE) -> Option<Kind> {
        self.cell(handle)?.kind()
    }
}

/// Returns the handle of an object.
#[inline]
pub fn handle_of(object: &impl Object) -> DAT_HANDLE {
    raw(object.header().handle())
}

/// Returns the handle of an object, or NULL.
pub fn handle_or_null<O: Object>(object: Option<&Arc<O>>) -> DAT_HANDLE {
    object.map_or(ptr::null_mut(), |object| handle_of(&**object))
}

/// Converts a handle of the core to its C type.
#[inline]
pub fn raw(handle: Handle) -> DAT_HANDLE {
    ptr::with_exposed_provenance_mut::<c_void>(handle.0)
}

/// Returns the object of the argument with this role. Fails with the role if there is no such object.
pub fn find<F: Provider, O: Object>(handle: DAT_HANDLE, role: Role) -> Answer<Arc<O>> {
    F::domain().get::<O>(handle).ok_or(Fault::Handle(role))
}

/// Returns the object of an argument that can be NULL.
pub fn find_or_null<F: Provider, O: Object>(handle: DAT_HANDLE, role: Role) -> Answer<Option<Arc<O>>> {
    if handle.is_null() { Ok(None) } else { find::<F, O>(handle, role).map(Some) }
}

/// Returns the object of an argument, which must belong to the open adapter `ia`. `ia_of` returns an object's adapter.
pub fn find_in<F: Provider, O: Object>(
    ia: &Arc<Ia<F::Transport>>,
    handle: DAT_HANDLE,
    role: Role,
    ia_of: impl FnOnce(&O) -> &Arc<Ia<F::Transport>>,
) -> Answer<Arc<O>> {
    let found = find::<F, O>(handle, role)?;
    if Arc::ptr_eq(ia, ia_of(&found)) { Ok(found) } else { Err(Fault::Handle(role)) }
}

/// Like [`find_in`], for an argument that can be NULL.
pub fn find_in_or_null<F: Provider, O: Object>(
    ia: &Arc<Ia<F::Transport>>,
    handle: DAT_HANDLE,
    role: Role,
    ia_of: impl FnOnce(&O) -> &Arc<Ia<F::Transport>>,
) -> Answer<Option<Arc<O>>> {
    if handle.is_null() { Ok(None) } else { find_in::<F, O>(ia, handle, role, ia_of).map(Some) }
}

/// Queries the object that is the first argument. `unknown` contains the undefined bits of the mask, the second
/// argument; if any is set, the query fails. Writes all fields regardless of the mask.
pub fn query<F: Provider, O: Object, P>(
    handle: DAT_HANDLE,
    role: Role,
    unknown: impl Into<u64>,
    param: OutPtr<P>,
    answer: impl FnOnce(&O) -> P,
) -> Answer<()> {
    let object = find::<F, O>(handle, role)?;
    if unknown.into() != 0 {
        return Err(Fault::Argument(2));
    }
    param.required(3)?.write(answer(&object));
    Ok(())
}

/// Writes the handle of a new object.
pub fn give<O: Object>(out: Out<DAT_HANDLE>, made: &Arc<O>) -> Answer<()> {
    out.write(handle_of(&**made));
    Ok(())
}
