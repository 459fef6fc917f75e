//! The adapters that the provider library was initialised for.
//!
//! The registry is found at run time: the library links none, and loads under any.

use std::ffi::{CStr, c_void};

use crate::Face;
use crate::handle::Adapter;

/// What the library was initialised for and not finished with.
pub struct Registrations<F: Face> {
    live: Vec<Registration<F>>,
    /// One for each name there ever was.
    adapters: Vec<&'static Adapter<F>>,
}

/// One initialisation.
pub struct Registration<F: Face> {
    /// The adapter of that name.
    pub adapter: &'static Adapter<F>,
    /// What the configuration has to say to the provider.
    pub instance: String,
    /// Version and thread safety it was registered with.
    pub identity: Identity,
}

/// What tells registrations of one name apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Major and minor number of the interface.
    pub version: (u32, u32),
    /// Whether it is for threads.
    pub thread_safe: bool,
}

impl<F: Face> Registrations<F> {
    pub(crate) const fn new() -> Self {
        Registrations { live: Vec::new(), adapters: Vec::new() }
    }

    pub(crate) fn adapters(&self) -> impl Iterator<Item = &'static Adapter<F>> {
        self.adapters.iter().copied()
    }

    /// The last registration of a name. Entries that differ in thread safety alone have the same
    /// name; the one that a registry has just initialised is the one that it opens.
    pub fn newest(&self, name: &CStr) -> Option<&Registration<F>> {
        self.live.iter().rev().find(|registration| registration.adapter.name() == name)
    }

    /// Registers `name`, in place of an earlier registration that is the same.
    ///
    /// # Parameters
    /// * `name` - the adapter.
    /// * `identity` - version and thread safety.
    /// * `instance` - what the configuration tells the transport.
    pub fn add(&mut self, name: &CStr, identity: Identity, instance: String) -> &'static Adapter<F> {
        let known = self.adapters().find(|adapter| adapter.name() == name);
        let adapter = known.unwrap_or_else(|| {
            let adapter = Adapter::leak(name);
            self.adapters.push(adapter);
            adapter
        });
        self.remove(name, identity);
        self.live.push(Registration { adapter, instance, identity });
        adapter
    }

    /// Takes a registration away; gives its adapter if there was one.
    pub fn remove(&mut self, name: &CStr, identity: Identity) -> Option<&'static Adapter<F>> {
        let at = self.live.iter().position(|known| known.adapter.name() == name && known.identity == identity)?;
        Some(self.live.remove(at).adapter)
    }
}

/// The address of a function of the registry that is in this process; NULL if there is none.
///
/// # Parameters
/// * `name` - the function.
/// * `node` - the symbol version that the registry of the wanted version of the interface gives it.
///   Functions of several versions may have the same name and be here together.
pub fn registry_function(name: &CStr, node: &CStr) -> *mut c_void {
    // SAFETY: looks a name up among the libraries of the process; both strings are C strings.
    let versioned = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), node.as_ptr()) };
    if versioned.is_null() {
        // SAFETY: as above.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
    } else {
        versioned
    }
}
