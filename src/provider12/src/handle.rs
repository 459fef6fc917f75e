//! Handles as a program holds them, and the objects behind them.
//!
//! A handle is the address of a cell whose first word is the address of the provider table.
//! Each adapter name that a provider library was initialised for has a table of its own, for
//! registries read the name from the table behind a handle when they close it; so each name
//! also has a slab of its own. [`Domain`] is the list of them.

use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use dat_core::error::Role;
use dat_core::transport::Transport;
use dat_core::{Handle, Held, Ia, Kind, Object, Slab};
use dat_udat12::{DAT_HANDLE, DAT_PROVIDER};

use crate::error::{Answer, invalid_handle};
use crate::provider::{ForkHold, Registrations};
use crate::table;

/// A transport with the place that its provider library keeps its handles in.
///
/// [`crate::export_provider!`] implements it.
pub trait Face: Transport {
    /// All handles of the provider library.
    fn domain() -> &'static Domain<Self>;
}

/// Everything that one provider library knows: the adapters it was initialised for, and where
/// the handles of their objects are.
pub struct Domain<T: Transport> {
    /// The slabs; a list that only grows, but for a fork, which starts a new one.
    first: AtomicPtr<Space<T>>,
    /// Of the standard library, because its lock can be opened in the child of a fork whatever
    /// other threads of the parent were doing.
    registrations: Mutex<Registrations<T>>,
    pub(crate) fork: ForkHold<T>,
}

/// A slab in the list.
struct Space<T: Transport> {
    slab: Slab<T>,
    next: Option<&'static Space<T>>,
}

/// An adapter name with its provider table. Lives for ever: handles point to the table.
pub struct Adapter<T: Transport> {
    table: DAT_PROVIDER,
    name: CString,
    /// Where its handles come from; NULL before the first open in this process.
    space: AtomicPtr<Space<T>>,
    /// Whether the registration that was opened last said so.
    thread_safe: AtomicBool,
}

// SAFETY: the pointers in the table are to functions and to `name`, and none of that changes.
unsafe impl<T: Transport> Send for Adapter<T> {}
// SAFETY: as above.
unsafe impl<T: Transport> Sync for Adapter<T> {}

impl<T: Face> Adapter<T> {
    /// An adapter of this name, for ever.
    pub(crate) fn leak(name: &CStr) -> &'static Self {
        let name = name.to_owned();
        Box::leak(Box::new(Adapter {
            // The text stays where it is when the CString moves into the box.
            table: table::table::<T>(name.as_ptr()),
            name,
            space: AtomicPtr::new(ptr::null_mut()),
            thread_safe: AtomicBool::new(true),
        }))
    }

    /// The name.
    pub fn name(&self) -> &CStr {
        &self.name
    }

    /// The provider table, which registries know the adapter by.
    pub fn table(&'static self) -> *const DAT_PROVIDER {
        &self.table
    }

    /// Whether the registration under which it was opened last is for threads.
    pub(crate) fn thread_safe(&self) -> bool {
        self.thread_safe.load(Ordering::Relaxed)
    }

    pub(crate) fn set_thread_safe(&self, thread_safe: bool) {
        self.thread_safe.store(thread_safe, Ordering::Relaxed);
    }
}

impl<T: Transport> Domain<T> {
    /// A domain without adapters.
    pub const fn new() -> Self {
        Domain {
            first: AtomicPtr::new(ptr::null_mut()),
            registrations: Mutex::new(Registrations::new()),
            fork: ForkHold::new(),
        }
    }

    /// What dat_provider_init was called for.
    pub(crate) fn registrations(&self) -> MutexGuard<'_, Registrations<T>> {
        self.registrations.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[inline]
    fn spaces(&self) -> impl Iterator<Item = &'static Space<T>> {
        // SYNC space: pairs with the store in slab_of, so that what it points to is there.
        let first = self.first.load(Ordering::Acquire);
        // SAFETY: NULL or a box that slab_of leaked.
        std::iter::successors(unsafe { first.as_ref() }, |space: &&'static Space<T>| space.next)
    }

    /// Enters the live object of type `O` behind `handle`.
    #[inline]
    pub(crate) fn get<O: Object>(&self, handle: DAT_HANDLE) -> Option<Held<'static, O>> {
        let handle = Handle(handle.addr());
        self.spaces().find_map(|space| space.slab.get(handle))
    }

    /// The kind of the live object behind `handle`.
    pub(crate) fn kind(&self, handle: DAT_HANDLE) -> Option<Kind> {
        let handle = Handle(handle.addr());
        self.spaces().find_map(|space| space.slab.kind(handle))
    }

    /// The slab of an adapter. The caller holds the lock on the registrations, or else
    /// threads that open one name for the first time at once could make two.
    pub(crate) fn slab_of(&self, adapter: &'static Adapter<T>) -> &'static Slab<T> {
        // SAFETY: NULL or a box that this function leaked.
        if let Some(space) = unsafe { adapter.space.load(Ordering::Acquire).as_ref() } {
            return &space.slab;
        }
        let table: *const DAT_PROVIDER = &adapter.table;
        let space =
            Box::leak(Box::new(Space { slab: Slab::new(table.expose_provenance()), next: self.spaces().next() }));
        // SYNC space
        self.first.store(space, Ordering::Release);
        adapter.space.store(space, Ordering::Release);
        &space.slab
    }

    /// The adapter that a slab is of.
    pub(crate) fn adapter_of(&self, slab: &'static Slab<T>) -> Option<&'static Adapter<T>> {
        let registrations = self.registrations();
        registrations.adapters().find(|adapter| {
            // SAFETY: NULL or a box that slab_of leaked.
            unsafe { adapter.space.load(Ordering::Acquire).as_ref() }.is_some_and(|space| ptr::eq(&space.slab, slab))
        })
    }

    /// In the child of a fork: every handle of the parent is dead, nothing behind it is
    /// touched, and later opens get slabs that no thread of the parent can have left locked.
    pub(crate) fn abandon<'a>(&self, adapters: impl Iterator<Item = &'a Adapter<T>>) {
        for space in self.spaces() {
            space.slab.abandon();
        }
        self.first.store(ptr::null_mut(), Ordering::Release);
        for adapter in adapters {
            adapter.space.store(ptr::null_mut(), Ordering::Release);
        }
    }
}

impl<T: Transport> Default for Domain<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The handle of an object in the form that programs know.
#[inline]
pub(crate) fn handle_of(object: &impl Object) -> DAT_HANDLE {
    c_handle(object.header().handle())
}

/// The handle of an object, or `DAT_HANDLE_NULL`.
pub(crate) fn handle_or_null<O: Object>(object: Option<&Arc<O>>) -> DAT_HANDLE {
    object.map_or(ptr::null_mut(), |object| handle_of(&**object))
}

/// A handle of the core in the form that programs know.
#[inline]
pub(crate) fn c_handle(handle: Handle) -> DAT_HANDLE {
    ptr::with_exposed_provenance_mut::<c_void>(handle.0)
}

/// The object of type `O` behind `handle`, which plays `role` in the call.
pub(crate) fn find<F: Face, O: Object>(handle: DAT_HANDLE, role: Role) -> Answer<Arc<O>> {
    match F::domain().get::<O>(handle) {
        Some(held) => Ok(held.share()),
        None => Err(invalid_handle(role)),
    }
}

/// As [`find`], for an argument that may be `DAT_HANDLE_NULL`.
pub(crate) fn find_or_null<F: Face, O: Object>(handle: DAT_HANDLE, role: Role) -> Answer<Option<Arc<O>>> {
    if handle.is_null() { Ok(None) } else { find::<F, O>(handle, role).map(Some) }
}

/// Refuses an object in the part `role` that belongs to another instance of an adapter.
pub(crate) fn same_ia<T: Transport>(ia: &Arc<Ia<T>>, other: &Arc<Ia<T>>, role: Role) -> Answer<()> {
    if Arc::ptr_eq(ia, other) { Ok(()) } else { Err(invalid_handle(role)) }
}
