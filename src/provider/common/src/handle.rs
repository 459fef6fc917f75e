//! Handles as a program holds them, and the objects behind them.
//!
//! A handle is the address of a cell whose first word is the address of the provider table. Each adapter name that a
//! provider library was initialised for has its own table, because registries read the name from the table behind a
//! handle when they close it; so each name also has its own slab. [`Domain`] is the list of them.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

use dat_core::error::Role;
use dat_core::transport::Transport;
use dat_core::{Cell, FirstCells, Handle, Ia, Kind, Object, ObjectGuard, Slab};
use dat_udat::DAT_HANDLE;
use host::fork::Hold;
use host::memory;

use crate::ptr::{Out, OutPtr};
use crate::registration::{Known, Registrations};
use crate::{Answer, Fault, Provider, Version};

/// The table type of a face's version.
type Table<F> = <<F as Provider>::Version as Version>::Table;

/// Everything that one provider library holds: the adapters it was initialised for, and the slabs with the handles of
/// their objects.
pub struct Domain<F: Provider> {
    /// The slabs, in a list that only grows, except that a fork starts a new one.
    first: AtomicPtr<Space<F>>,
    /// The first cells of the slab in which a handle was looked up first.
    window: FirstCells,
    /// A lock of the standard library, because it can be unlocked in the child of a fork whatever other threads of the
    /// parent were doing.
    registrations: Mutex<Registrations<F>>,
    /// The lock on the registrations while a fork is going on.
    pub(crate) fork: Hold<MutexGuard<'static, Registrations<F>>>,
    /// Whether forks are watched for.
    pub(crate) fork_watch: Once,
}

/// A slab in the list.
struct Space<F: Provider> {
    slab: Slab<F::Transport>,
    next: Option<&'static Space<F>>,
}

/// An adapter name with its provider table. It is never freed, because handles point to the table.
pub struct Adapter<F: Provider> {
    table: Table<F>,
    name: CString,
}

// SAFETY: nothing in a table changes, and its pointers are those of functions and of the name beside it.
unsafe impl<F: Provider> Send for Adapter<F> {}
// SAFETY: as above.
unsafe impl<F: Provider> Sync for Adapter<F> {}

impl<F: Provider> Adapter<F> {
    /// Makes an adapter of this name that is never freed.
    pub(crate) fn leak(name: &CStr) -> &'static Self {
        let name = name.to_owned();
        // The text does not move when the CString moves into the box.
        let table = F::Version::table::<F>(name.as_ptr());
        #[expect(clippy::disallowed_methods, reason = "there is no way to report that memory lacks")]
        Box::leak(Box::new(Adapter { table, name }))
    }

    /// The name.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// The provider table, by which registries know the adapter.
    pub fn table(&'static self) -> &'static Table<F> {
        &self.table
    }
}

impl<F: Provider> Domain<F> {
    /// A domain without adapters.
    pub const fn empty() -> Self {
        Domain {
            first: AtomicPtr::new(ptr::null_mut()),
            window: FirstCells::new(),
            registrations: Mutex::new(Registrations::new()),
            fork: Hold::new(),
            fork_watch: Once::new(),
        }
    }

    /// The adapters that the library was initialised for.
    pub fn registrations(&self) -> MutexGuard<'_, Registrations<F>> {
        self.registrations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn spaces(&self) -> impl Iterator<Item = &'static Space<F>> {
        // Pairs with the store in `slab_of`, so that the memory behind the pointer is initialised.
        let first = self.first.load(Ordering::Acquire);
        // SAFETY: the pointer is NULL or comes from a box that slab_of leaked.
        std::iter::successors(unsafe { first.as_ref() }, |space: &&'static Space<F>| space.next)
    }

    /// The cell that `handle` names, if there is one in any slab.
    #[cold]
    #[inline(never)]
    fn cell(&self, handle: DAT_HANDLE) -> Option<&'static Cell> {
        let handle = Handle(handle.addr());
        self.spaces().find_map(|space| space.slab.cell(handle).inspect(|_| self.window.set(&space.slab)))
    }

    /// The live object of type `O` behind `handle`.
    pub fn get<O: Object>(&self, handle: DAT_HANDLE) -> Option<Arc<O>> {
        self.cell(handle)?.get()
    }

    /// Enters the live object of type `O` behind `handle` in the quickest way; `None` also if that cannot be gone.
    #[inline(always)]
    pub fn get_quickly<O: Object>(&self, handle: DAT_HANDLE) -> Option<ObjectGuard<O>> {
        self.window.enter(Handle(handle.addr()))
    }

    /// The kind of the live object behind `handle`.
    #[inline]
    pub fn kind(&self, handle: DAT_HANDLE) -> Option<Kind> {
        self.window.kind(Handle(handle.addr())).or_else(|| self.cell(handle)?.kind())
    }

    /// The slab of an adapter, made before the first open in this process.
    ///
    /// # Errors
    /// The fault of a lack of memory.
    pub fn slab_of(&self, known: &mut Known<F>) -> Answer<&'static Slab<F::Transport>> {
        if let Some(slab) = known.slab {
            return Ok(slab);
        }
        let slab = Slab::new(ptr::from_ref(known.adapter.table()).expose_provenance());
        let space = Box::leak(memory::boxed(Space { slab, next: self.spaces().next() })?);
        // The memory behind the pointer is initialised before.
        self.first.store(space, Ordering::Release);
        Ok(known.slab.insert(&space.slab))
    }

    /// Cleans up in the child of a fork: every handle of the parent becomes dead, the objects behind them are not
    /// touched, and later opens get slabs that no thread of the parent can have left locked.
    pub(crate) fn abandon(&self, registrations: &mut Registrations<F>) {
        for space in self.spaces() {
            space.slab.abandon();
        }
        self.window.forget();
        self.first.store(ptr::null_mut(), Ordering::Release);
        registrations.adapters.iter_mut().for_each(|known| known.slab = None);
    }
}

/// The handle of an object in the form that programs use.
#[inline]
pub fn handle_of(object: &impl Object) -> DAT_HANDLE {
    raw(object.header().handle())
}

/// The handle of an object, or NULL.
pub fn handle_or_null<O: Object>(object: Option<&Arc<O>>) -> DAT_HANDLE {
    object.map_or(ptr::null_mut(), |object| handle_of(&**object))
}

/// A handle of the core in the form that programs use.
#[inline]
pub fn raw(handle: Handle) -> DAT_HANDLE {
    ptr::with_exposed_provenance_mut::<c_void>(handle.0)
}

/// Finds the object of type `O` behind `handle`, which has this `role` in the call.
pub fn find<F: Provider, O: Object>(handle: DAT_HANDLE, role: Role) -> Answer<Arc<O>> {
    F::domain().get::<O>(handle).ok_or(Fault::Handle(role))
}

/// Does what [`find`] does for an argument that may be NULL.
pub fn find_or_null<F: Provider, O: Object>(handle: DAT_HANDLE, role: Role) -> Answer<Option<Arc<O>>> {
    if handle.is_null() { Ok(None) } else { find::<F, O>(handle, role).map(Some) }
}

/// Refuses an object with this `role` if it belongs to another instance of an adapter.
pub fn same_ia<T: Transport>(ia: &Arc<Ia<T>>, other: &Arc<Ia<T>>, role: Role) -> Answer<()> {
    if Arc::ptr_eq(ia, other) { Ok(()) } else { Err(Fault::Handle(role)) }
}

/// Answers a query of the object of type `O` behind `handle`, the first argument, which has this `role`. `unknown` are the bits
/// of the mask, the second argument, that name no field; the answer has all fields, whatever the mask says.
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

/// Writes the handle of an object that a call has made to its place.
pub fn give<O: Object>(out: Out<DAT_HANDLE>, made: &Arc<O>) -> Answer<()> {
    out.write(handle_of(&**made));
    Ok(())
}
