//! The adapters that the provider library was initialised for.
//!
//! The registry is found at run time: the library is linked against none, and can be loaded by any.

use std::ffi::{CStr, c_void};
use std::mem;
use std::ptr::{self, NonNull};

use dat_core::Slab;
use host::symbol;

use crate::handle::Adapter;
use crate::{Provider, Version};

/// The adapters for which init was called but fini was not.
pub struct Registrations<F: Provider> {
    live: Vec<Registration<F>>,
    /// One adapter for each name that was ever registered.
    pub(crate) adapters: Vec<Known<F>>,
}

/// An adapter, and what is known of it at the moment.
pub struct Known<F: Provider> {
    /// The adapter.
    pub adapter: &'static Adapter<F>,
    /// The slab of its handles; none before the first open in this process.
    pub(crate) slab: Option<&'static Slab<F::Transport>>,
    /// Whether the registration under which it was opened last is thread-safe.
    pub thread_safe: bool,
    /// The function of the registry that tells which handle the program has for an instance.
    pub ia_handles: Option<RegistryFunction>,
}

/// One initialisation.
pub struct Registration<F: Provider> {
    /// The adapter of that name.
    pub adapter: &'static Adapter<F>,
    /// The text in the configuration that is meant for the provider.
    pub instance_data: String,
    /// Version and thread safety with which it was registered.
    pub identity: Identity,
    /// The function of the registry that removes it, found when it was registered: the end of a registration needs no
    /// dynamic loader then.
    pub remove: Option<RegistryFunction>,
}

/// A function of the registry, of a type that the face knows.
pub type RegistryFunction = unsafe extern "C" fn();

/// The fields that tell registrations of one name apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Major and minor number of the interface.
    pub version: (u32, u32),
    /// Whether the registration is thread-safe.
    pub thread_safe: bool,
}

impl<F: Provider> Registrations<F> {
    pub(crate) const fn new() -> Self {
        Registrations { live: Vec::new(), adapters: Vec::new() }
    }

    /// The adapter that a slab belongs to.
    pub fn of(&self, slab: &'static Slab<F::Transport>) -> Option<&Known<F>> {
        self.adapters.iter().find(|known| known.slab.is_some_and(|its| ptr::eq(its, slab)))
    }

    /// The last registration of a name, and its adapter. Entries that differ only in thread safety have the same name; a
    /// registry opens the one that it has just initialised.
    pub fn newest(&mut self, name: &CStr) -> Option<(&Registration<F>, &mut Known<F>)> {
        let registration = self.live.iter().rev().find(|registration| registration.adapter.name() == name)?;
        Some((registration, self.adapters.iter_mut().find(|known| known.adapter.name() == name)?))
    }

    /// Registers the adapter `name`, in place of an earlier registration with the same identity. `instance_data` is the text
    /// of the configuration for the transport, `remove` the function of the registry that ends the registration, `ia_handles`
    /// that which tells the handles of instances.
    pub fn add(
        &mut self,
        name: &CStr,
        identity: Identity,
        instance_data: String,
        remove: Option<RegistryFunction>,
        ia_handles: Option<RegistryFunction>,
    ) -> &'static Adapter<F> {
        let adapter = match self.adapters.iter_mut().find(|known| known.adapter.name() == name) {
            Some(known) => {
                known.ia_handles = ia_handles;
                known.adapter
            }
            None => {
                let adapter = Adapter::leak(name);
                self.adapters.push(Known { adapter, slab: None, thread_safe: true, ia_handles });
                adapter
            }
        };
        self.remove(name, identity);
        self.live.push(Registration { adapter, instance_data, identity, remove });
        adapter
    }

    /// Removes a registration; returns it if there was one.
    pub fn remove(&mut self, name: &CStr, identity: Identity) -> Option<Registration<F>> {
        let at = self.live.iter().position(|known| known.adapter.name() == name && known.identity == identity)?;
        Some(self.live.remove(at))
    }
}

/// The function `name` of the registry of a version in this process, which is known by its symbol version: functions of
/// several versions of the interface may have the same name and be in one process.
pub fn registry_function<V: Version>(name: &CStr) -> Option<RegistryFunction> {
    let found = symbol::versioned(name, V::NODE).or_else(|| symbol::named(name));
    // SAFETY: the name is that of a function, and options of both kinds of pointers have the layout of a pointer.
    unsafe { mem::transmute::<Option<NonNull<c_void>>, Option<RegistryFunction>>(found) }
}
