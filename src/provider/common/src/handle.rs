//! Handles and their objects.
//!
//! A handle is the address of a cell that begins with the address of the provider table. Registries read the adapter's
//! name from this table, so each name has a table and a slab.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dat_core::error::Role;
use dat_core::{Cell, FirstCells, Handle, Ia, Kind, Object, ObjectGuard, Slab};
use dat_udat::DAT_HANDLE;
use host::fork::Hold;
use host::memory;

use crate::ptr::{Out, OutPtr};
use crate::registration::{Known, Registrations};
use crate::{Answer, Fault, Provider, Version, fork};

type Table<F> = <<F as Provider>::Version as Version>::Table;

/// The adapters and slabs of a provider library.
pub struct Domain<F: Provider> {
    /// List of slabs. The child of a fork starts a new list.
    first: AtomicPtr<Space<F>>,
    /// First cells of the slab of the adapter that was opened first.
    pub(crate) window: FirstCells,
    /// A standard mutex, which the child of a fork can always unlock.
    registrations: Mutex<Registrations<F>>,
    pub(crate) fork: Hold<MutexGuard<'static, Registrations<F>>>,
    /// The forking process, or 0.
    pub(crate) forker: AtomicU32,
}

struct Space<F: Provider> {
    slab: Slab<F::Transport>,
    next: Option<&'static Space<F>>,
}

/// An adapter name and its provider table. Never freed, because handles point to the table.
pub struct Adapter<F: Provider> {
    table: Table<F>,
    name: CString,
}

// SAFETY: a table is immutable, and points only to functions and its name.
unsafe impl<F: Provider> Send for Adapter<F> {}
// SAFETY: a table is immutable.
unsafe impl<F: Provider> Sync for Adapter<F> {}

impl<F: Provider> Adapter<F> {
    pub(crate) fn leak(name: &CStr) -> &'static Self {
        let name = name.to_owned();
        // Moving the CString into the box does not move its text.
        let table = F::Version::table::<F>(name.as_ptr());
        #[expect(clippy::disallowed_methods, reason = "there is no way to report that memory lacks")]
        Box::leak(Box::new(Adapter { table, name }))
    }

    /// Returns the name of the adapter.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// Returns the provider table.
    pub fn table(&'static self) -> &'static Table<F> {
        &self.table
    }
}

impl<F: Provider> Domain<F> {
    /// Creates a domain without adapters.
    pub const fn empty() -> Self {
        Domain {
            first: AtomicPtr::new(ptr::null_mut()),
            window: FirstCells::new(),
            registrations: Mutex::new(Registrations::new()),
            fork: Hold::new(),
            forker: AtomicU32::new(0),
        }
    }

    /// Locks the registrations.
    pub fn registrations(&self) -> MutexGuard<'_, Registrations<F>> {
        fork::finish::<F>();
        self.registrations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spaces(&self) -> impl Iterator<Item = &'static Space<F>> {
        // Pairs with the store in `slab_of`.
        let first = self.first.load(Ordering::Acquire);
        // SAFETY: NULL, or from a box that slab_of leaked.
        std::iter::successors(unsafe { first.as_ref() }, |space: &&'static Space<F>| space.next)
    }

    /// Returns the cell of `handle` in any slab.
    #[cold]
    #[inline(never)]
    pub(crate) fn cell(&self, handle: DAT_HANDLE) -> Option<&'static Cell> {
        self.spaces().find_map(|space| space.slab.cell(Handle(handle.addr())))
    }

    /// Returns fast access to the live object of this type and handle, as [`FirstCells::enter`] does.
    #[inline(always)]
    pub fn enter<O: Object>(&self, handle: DAT_HANDLE) -> Option<ObjectGuard<O>> {
        self.window.enter(Handle(handle.addr()))
    }

    /// Returns the live object of this type and handle.
    pub fn get<O: Object>(&self, handle: DAT_HANDLE) -> Option<Arc<O>> {
        self.cell(handle)?.get()
    }

    /// Returns the kind of a live object.
    #[inline]
    pub fn kind(&self, handle: DAT_HANDLE) -> Option<Kind> {
        self.window.kind(Handle(handle.addr())).or_else(|| self.cell(handle)?.kind())
    }

    /// Returns the slab of an adapter, created at the first open in this process.
    pub fn slab_of(&self, known: &mut Known<F>) -> Answer<&'static Slab<F::Transport>> {
        if let Some(slab) = known.slab {
            return Ok(slab);
        }
        let slab = Slab::new(ptr::from_ref(known.adapter.table()).expose_provenance());
        let space = Box::leak(memory::boxed(Space { slab, next: self.spaces().next() })?);
        // Publishes the initialised list element to `spaces`.
        self.first.store(space, Ordering::Release);
        Ok(known.slab.insert(&space.slab))
    }

    /// Invalidates all handles in the child of a fork, without touching the objects. Later opens create slabs, because
    /// threads of the parent can have locked the old slabs.
    pub(crate) fn abandon(&self, registrations: &mut Registrations<F>) {
        for space in self.spaces() {
            space.slab.abandon();
        }
        self.window.forget();
        self.first.store(ptr::null_mut(), Ordering::Release);
        registrations.adapters.iter_mut().for_each(|known| known.slab = None);
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

/// Converts a handle of the core.
#[inline]
pub fn raw(handle: Handle) -> DAT_HANDLE {
    ptr::with_exposed_provenance_mut::<c_void>(handle.0)
}

/// Returns the object of the argument with this role.
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

/// Queries the object that is the first argument. `unknown` contains undefined bits of the mask, the second argument.
/// Writes all fields regardless of the mask.
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
