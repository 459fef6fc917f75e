//! The adapters for which the provider library was initialised, in all versions of the interface.
//!
//! The library looks up the registry's functions at run time, so any registry can load it.

use std::ffi::{CStr, CString, c_void};
use std::mem;
use std::ptr::{self, NonNull};

use host::symbol;

use crate::{Provider, Version};

/// An adapter's name in one version, and its provider table, whose address begins the cells of its objects. Never
/// freed.
pub struct Adapter {
    name: CString,
    major: u32,
    face: usize,
}

impl Adapter {
    #[expect(clippy::disallowed_methods, reason = "there is no way to report that memory lacks")]
    fn leak<F: Provider>(name: &CStr) -> &'static Self {
        let name = name.to_owned();
        // Moving the CString into the box does not move its text.
        let table = ptr::from_ref(Box::leak(Box::new(F::Version::table::<F>(name.as_ptr()))));
        Box::leak(Box::new(Adapter { name, major: F::Version::MAJOR, face: table.expose_provenance() }))
    }

    /// Returns whether the adapter has this name, for programs of this major version.
    fn is(&self, name: &CStr, major: u32) -> bool {
        self.major == major && self.name.as_c_str() == name
    }

    /// Returns the first word of the cells of its objects, the address of the provider table.
    pub fn face(&self) -> usize {
        self.face
    }

    /// Returns the provider table, of the type that belongs to the version of the adapter.
    pub fn table(&self) -> *const c_void {
        ptr::with_exposed_provenance(self.face)
    }
}

/// A version of the interface, as init and fini of a provider library need it.
pub struct Served {
    pub(crate) major: u32,
    pub(crate) node: &'static CStr,
    pub(crate) ia_handles: Option<&'static CStr>,
    leak: fn(&CStr) -> &'static Adapter,
}

impl Served {
    /// Returns the version of `F`.
    pub const fn by<F: Provider>() -> Self {
        Served {
            major: F::Version::MAJOR,
            node: F::Version::NODE,
            ia_handles: F::Version::IA_HANDLES,
            leak: Adapter::leak::<F>,
        }
    }

    /// Returns the registry's function `name`. Tries the symbol version first, because registries of several versions
    /// can be in one process.
    pub(crate) fn registry_function(&self, name: &CStr) -> Option<RegistryFunction> {
        let found = symbol::versioned(name, self.node).or_else(|| symbol::named(name));
        // SAFETY: the symbol is a function, and both options have the layout of a pointer.
        unsafe { mem::transmute::<Option<NonNull<c_void>>, Option<RegistryFunction>>(found) }
    }
}

/// Adapters after init and before fini.
pub struct Registrations {
    live: Vec<Registration>,
    /// One adapter for each name ever registered in a version.
    pub(crate) adapters: Vec<Known>,
}

/// An adapter, with values of its last registration and opening.
pub struct Known {
    pub(crate) adapter: &'static Adapter,
    /// `Identity::thread_safe` of the registration that was opened last.
    pub(crate) thread_safe: bool,
    /// The registry's function that [`Version::IA_HANDLES`] names, if the registry has it.
    pub ia_handles: Option<RegistryFunction>,
}

/// A registration of an adapter by a call of [`init`](crate::entry::init).
pub struct Registration {
    pub(crate) adapter: &'static Adapter,
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

impl Registrations {
    pub(crate) const fn new() -> Self {
        Registrations { live: Vec::new(), adapters: Vec::new() }
    }

    /// Returns the adapter of objects whose cells start with the word `face`.
    pub fn of(&self, face: usize) -> Option<&Known> {
        self.adapters.iter().find(|known| known.adapter.face() == face)
    }

    /// Returns the last registration of a name in a version. Entries that differ only in thread safety share a name,
    /// and a registry opens the entry that the registry has just initialised.
    pub fn newest(&mut self, name: &CStr, major: u32) -> Option<(&Registration, &mut Known)> {
        let registration = self.live.iter().rev().find(|registration| registration.adapter.is(name, major))?;
        Some((registration, self.adapters.iter_mut().find(|known| known.adapter.is(name, major))?))
    }

    /// Registers an adapter of a version. Replaces a registration with the same identity.
    pub fn add(
        &mut self,
        served: &Served,
        name: &CStr,
        identity: Identity,
        instance_data: String,
        remove: Option<RegistryFunction>,
        ia_handles: Option<RegistryFunction>,
    ) -> &'static Adapter {
        let adapter = match self.adapters.iter_mut().find(|known| known.adapter.is(name, served.major)) {
            Some(known) => {
                known.ia_handles = ia_handles;
                known.adapter
            }
            None => {
                let adapter = (served.leak)(name);
                self.adapters.push(Known { adapter, thread_safe: true, ia_handles });
                adapter
            }
        };
        self.remove(name, identity);
        self.live.push(Registration { adapter, instance_data, identity, remove });
        adapter
    }

    /// Returns whether a different entry of this name, with other instance data, is registered.
    pub fn is_ambiguous(&self, name: &CStr, identity: Identity, instance_data: &str) -> bool {
        let mut named = self.live.iter().filter(|known| known.adapter.is(name, identity.version.0));
        named.any(|known| known.identity != identity && known.instance_data != instance_data)
    }

    /// Returns the registration of a name with this identity.
    pub fn find(&self, name: &CStr, identity: Identity) -> Option<&Registration> {
        self.live.iter().find(|known| known.identity == identity && known.adapter.is(name, identity.version.0))
    }

    /// Removes a registration, if it exists.
    pub fn remove(&mut self, name: &CStr, identity: Identity) {
        self.live.retain(|known| known.identity != identity || !known.adapter.is(name, identity.version.0));
    }
}
