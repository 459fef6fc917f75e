//! The adapters that the provider library was initialised for.
//!
//! The registry is found at run time: the library is linked against none, and can be loaded by any.

use std::ffi::{CStr, c_void};
use std::mem;
use std::ptr::NonNull;

use host::symbol;

use crate::Face;
use crate::handle::Adapter;

/// The adapters for which init was called but fini was not.
pub struct Registrations<F: Face> {
    live: Vec<Registration<F>>,
    /// One adapter for each name that was ever registered.
    adapters: Vec<&'static Adapter<F>>,
}

/// One initialisation.
pub struct Registration<F: Face> {
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

impl<F: Face> Registrations<F> {
    pub(crate) const fn new() -> Self {
        Registrations { live: Vec::new(), adapters: Vec::new() }
    }

    pub(crate) fn adapters(&self) -> impl Iterator<Item = &'static Adapter<F>> {
        self.adapters.iter().copied()
    }

    /// The last registration of a name. Entries that differ only in thread safety have the same name; a registry opens
    /// the one that it has just initialised.
    pub fn newest(&self, name: &CStr) -> Option<&Registration<F>> {
        self.live.iter().rev().find(|registration| registration.adapter.name() == name)
    }

    /// Registers the adapter `name`, in place of an earlier registration with the same identity. `instance_data` is the text
    /// of the configuration for the transport, `remove` the function of the registry that ends the registration.
    pub fn add(
        &mut self,
        name: &CStr,
        identity: Identity,
        instance_data: String,
        remove: Option<RegistryFunction>,
    ) -> &'static Adapter<F> {
        let known = self.adapters().find(|adapter| adapter.name() == name);
        let adapter = known.unwrap_or_else(|| {
            let adapter = Adapter::leak(name);
            self.adapters.push(adapter);
            adapter
        });
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

/// The function `name` of the registry in this process. `node` is its symbol version in a registry for the wanted version
/// of the interface: functions of several versions may have the same name and be in one process.
pub fn registry_function(name: &CStr, node: &CStr) -> Option<RegistryFunction> {
    let found = symbol::versioned(name, node).or_else(|| symbol::named(name));
    // SAFETY: the name is that of a function, and options of both kinds of pointers have the layout of a pointer.
    unsafe { mem::transmute::<Option<NonNull<c_void>>, Option<RegistryFunction>>(found) }
}
