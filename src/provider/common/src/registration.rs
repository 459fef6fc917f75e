//! The adapters for which the provider library was initialised.
//!
//! The library looks up the registry's functions at run time, so any registry can load it.

use std::ffi::{CStr, c_void};
use std::mem;
use std::ptr::NonNull;

use host::symbol;

use crate::handle::Adapter;
use crate::{Provider, Version};

/// Adapters after init and before fini.
pub struct Registrations<F: Provider> {
    live: Vec<Registration<F>>,
    /// One adapter for each name ever registered.
    pub(crate) adapters: Vec<Known<F>>,
}

/// An adapter and its current state.
pub struct Known<F: Provider> {
    pub(crate) adapter: &'static Adapter<F>,
    /// Value of the registration that was opened last.
    pub(crate) thread_safe: bool,
    /// The registry's function that returns programs' handles.
    pub ia_handles: Option<RegistryFunction>,
}

/// One call of init.
pub struct Registration<F: Provider> {
    pub(crate) adapter: &'static Adapter<F>,
    pub(crate) instance_data: String,
    pub(crate) identity: Identity,
    /// The registry's function that ends the registration, so that fini needs no dynamic loader.
    pub(crate) remove: Option<RegistryFunction>,
}

/// A function of the registry; the caller casts it to its type.
pub type RegistryFunction = unsafe extern "C" fn();

/// The fields that distinguish registrations of one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Major and minor version.
    pub version: (u32, u32),
    /// `true` if registered as thread-safe.
    pub thread_safe: bool,
}

impl<F: Provider> Registrations<F> {
    pub(crate) const fn new() -> Self {
        Registrations { live: Vec::new(), adapters: Vec::new() }
    }

    /// Returns the adapter of objects whose cells start with the word `face`.
    pub fn of(&self, face: usize) -> Option<&Known<F>> {
        self.adapters.iter().find(|known| known.adapter.face() == face)
    }

    /// Returns the last registration of a name. Entries that differ only in thread safety share a name, and a registry
    /// opens the entry that it has just initialised.
    pub fn newest(&mut self, name: &CStr) -> Option<(&Registration<F>, &mut Known<F>)> {
        let registration = self.live.iter().rev().find(|registration| registration.adapter.name() == name)?;
        Some((registration, self.adapters.iter_mut().find(|known| known.adapter.name() == name)?))
    }

    /// Registers an adapter. Replaces a registration with the same identity.
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
                self.adapters.push(Known { adapter, thread_safe: true, ia_handles });
                adapter
            }
        };
        self.remove(name, identity);
        self.live.push(Registration { adapter, instance_data, identity, remove });
        adapter
    }

    /// Returns whether an entry of this name with other instance data is registered.
    pub fn is_ambiguous(&self, name: &CStr, identity: Identity, instance_data: &str) -> bool {
        let mut named = self.live.iter().filter(|known| known.adapter.name() == name);
        named.any(|known| known.identity != identity && known.instance_data != instance_data)
    }

    /// Returns a registration.
    pub fn find(&self, name: &CStr, identity: Identity) -> Option<&Registration<F>> {
        self.live.iter().find(|known| known.adapter.name() == name && known.identity == identity)
    }

    /// Removes a registration, if it exists.
    pub fn remove(&mut self, name: &CStr, identity: Identity) {
        self.live.retain(|known| known.adapter.name() != name || known.identity != identity);
    }
}

/// Returns the registry's function `name`. Tries the symbol version first, because registries of several versions can
/// be in one process.
pub fn registry_function<V: Version>(name: &CStr) -> Option<RegistryFunction> {
    let found = symbol::versioned(name, V::NODE).or_else(|| symbol::named(name));
    // SAFETY: the symbol is a function, and both options have the layout of a pointer.
    unsafe { mem::transmute::<Option<NonNull<c_void>>, Option<RegistryFunction>>(found) }
}
