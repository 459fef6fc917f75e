//! The two functions that a provider library exports, and what a fork leaves behind.
//!
//! The registry is found at run time: the library links no libdat, and loads under any.

use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem;
use std::sync::{MutexGuard, Once};

use dat_core::transport::Transport;
use dat_udat12::{
    DAT_FALSE, DAT_GET_TYPE, DAT_PROVIDER, DAT_PROVIDER_ALREADY_REGISTERED, DAT_PROVIDER_INFO, DAT_RETURN, DAT_SUCCESS,
    DAT_VERSION_MAJOR,
};
use host::{cancel, diagnostics};

use crate::guard::caught;
use crate::handle::{Adapter, Face};
use crate::ia::name_of;

/// What dat_provider_init was called for and dat_provider_fini was not.
pub(crate) struct Registrations<T: Transport> {
    live: Vec<Registration<T>>,
    /// One for each name there ever was.
    adapters: Vec<&'static Adapter<T>>,
}

/// One call of dat_provider_init.
pub(crate) struct Registration<T: Transport> {
    pub adapter: &'static Adapter<T>,
    pub thread_safe: bool,
    /// What the configuration has to say to the provider.
    pub instance: String,
    version: (u32, u32),
}

impl<T: Transport> Registrations<T> {
    pub(crate) const fn new() -> Self {
        Registrations { live: Vec::new(), adapters: Vec::new() }
    }

    pub(crate) fn adapters(&self) -> impl Iterator<Item = &'static Adapter<T>> {
        self.adapters.iter().copied()
    }
}

impl<T: Face> Registrations<T> {
    /// The last registration of a name. Entries that differ in thread safety alone have the same
    /// name; the one that a registry has just initialised is the one that it opens.
    pub(crate) fn newest(&self, name: &CStr) -> Option<&Registration<T>> {
        self.live.iter().rev().find(|registration| registration.adapter.name() == name)
    }

    fn add(&mut self, name: &CStr, identity: Identity, instance: String) -> &'static Adapter<T> {
        let known = self.adapters().find(|adapter| adapter.name() == name);
        let adapter = known.unwrap_or_else(|| {
            let adapter = Adapter::leak(name);
            self.adapters.push(adapter);
            adapter
        });
        self.remove(name, identity);
        let Identity { version, thread_safe } = identity;
        self.live.push(Registration { adapter, thread_safe, instance, version });
        adapter
    }

    fn remove(&mut self, name: &CStr, identity: Identity) -> Option<&'static Adapter<T>> {
        let at = self.live.iter().position(|known| {
            known.adapter.name() == name
                && known.version == identity.version
                && known.thread_safe == identity.thread_safe
        })?;
        Some(self.live.remove(at).adapter)
    }
}

/// What tells registrations of one name apart.
#[derive(Clone, Copy)]
struct Identity {
    version: (u32, u32),
    thread_safe: bool,
}

/// The name and identity in `info`, if they can be registered.
///
/// # Safety
/// `info` is NULL or readable.
unsafe fn read_info(info: *const DAT_PROVIDER_INFO) -> Option<(CString, Identity)> {
    // SAFETY: the caller's promise.
    let info = unsafe { info.as_ref() }?;
    // SAFETY: the array is read no further than it goes.
    let name = unsafe { name_of(info.ia_name.as_ptr()) }?;
    let version = (info.dapl_version_major, info.dapl_version_minor);
    let usable = !name.is_empty() && version.0 == DAT_VERSION_MAJOR;
    let identity = Identity { version, thread_safe: info.is_thread_safe != DAT_FALSE };
    usable.then(|| (name.to_owned(), identity))
}

type RegistryFunction = unsafe extern "C" fn(*const DAT_PROVIDER, *const DAT_PROVIDER_INFO) -> DAT_RETURN;

/// A function of the registry that is in this process.
fn registry_function(name: &CStr) -> Option<RegistryFunction> {
    // That of version 2.0 has the same name but another table; both may be here.
    // SAFETY: looks a name up among the libraries of the process; both strings are C strings.
    let versioned = unsafe { libc::dlvsym(libc::RTLD_DEFAULT, name.as_ptr(), c"DAT_1.2".as_ptr()) };
    let address = if versioned.is_null() {
        // SAFETY: as above.
        unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) }
    } else {
        versioned
    };
    // SAFETY: both functions of the registry that this is used for have this type, and the
    // option of a function pointer has the layout of a pointer.
    unsafe { mem::transmute::<*mut c_void, Option<RegistryFunction>>(address) }
}

/// What dat_provider_init does: registers the adapter that `info` names.
///
/// # Parameters
/// * `library` - what lines in the log begin with.
/// * `info` - name, version and thread safety to register under; copied.
/// * `instance_data` - what the entry of the configuration tells the transport; copied.
///
/// # Specification
/// uDAPL 1.2, dat_provider_init(3DAT).
///
/// # Safety
/// `info` is NULL or readable, `instance_data` NULL or a C string.
pub unsafe fn init<F: Face>(library: &'static str, info: *const DAT_PROVIDER_INFO, instance_data: *const c_char) {
    let before = cancel::forbid();
    // A panic has written its line; an adapter that is not registered is not found.
    let _ = caught(|| {
        diagnostics::init(library);
        at_fork::<F>();
        // SAFETY: the caller's promise.
        let Some((name, identity)) = (unsafe { read_info(info) }) else {
            log::error!("initialised without a name, or for another version than {DAT_VERSION_MAJOR}");
            return;
        };
        let instance = if instance_data.is_null() {
            String::new()
        } else {
            // SAFETY: the caller's promise.
            unsafe { CStr::from_ptr(instance_data) }.to_string_lossy().into_owned()
        };
        let Some(add) = registry_function(c"dat_registry_add_provider") else {
            diagnostics::report(format_args!(
                "{}: no dat_registry_add_provider in this process",
                name.to_string_lossy()
            ));
            return;
        };
        let adapter = F::domain().registrations().add(&name, identity, instance);
        // SAFETY: the table lives for ever; `info` is readable as the caller promises.
        let code = unsafe { add(adapter.table(), info) };
        if code == DAT_SUCCESS {
            log::debug!("{}: registered", name.to_string_lossy());
        } else if DAT_GET_TYPE(code) == DAT_PROVIDER_ALREADY_REGISTERED {
            log::debug!("{}: registered already", name.to_string_lossy());
        } else {
            F::domain().registrations().remove(&name, identity);
            log::error!("{}: dat_registry_add_provider answered {code:#010x}", name.to_string_lossy());
        }
    });
    cancel::restore(before);
}

/// What dat_provider_fini does: takes the adapter that `info` names away again.
///
/// # Specification
/// uDAPL 1.2, dat_provider_fini(3DAT).
///
/// # Safety
/// `info` is NULL or readable.
pub unsafe fn fini<F: Face>(info: *const DAT_PROVIDER_INFO) {
    let before = cancel::forbid();
    let _ = caught(|| {
        // SAFETY: the caller's promise.
        let Some((name, identity)) = (unsafe { read_info(info) }) else { return };
        let Some(adapter) = F::domain().registrations().remove(&name, identity) else { return };
        if let Some(remove) = registry_function(c"dat_registry_remove_provider") {
            // SAFETY: the table lives for ever; `info` is readable as the caller promises.
            let code = unsafe { remove(adapter.table(), info) };
            log::debug!("{}: dat_registry_remove_provider answered {code:#x}", name.to_string_lossy());
        }
    });
    cancel::restore(before);
}

/// Sees to it that the child of a fork finds every handle of its parent dead.
fn at_fork<F: Face>() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the three functions stay where they are: provider libraries are not unloaded.
        let failed = unsafe { libc::pthread_atfork(Some(prepare::<F>), Some(parent::<F>), Some(child::<F>)) };
        if failed != 0 {
            log::warn!("handles of the parent will not be refused in the child of a fork");
        }
    });
}

/// The lock on the registrations while a fork is going on.
pub(crate) struct ForkHold<T: Transport>(UnsafeCell<Option<MutexGuard<'static, Registrations<T>>>>);

// SAFETY: only the handlers below touch the cell, and each of them holds the lock while it does:
// the first has just taken it, the others have not yet given it back.
unsafe impl<T: Transport> Sync for ForkHold<T> {}

impl<T: Transport> ForkHold<T> {
    pub(crate) const fn new() -> Self {
        ForkHold(UnsafeCell::new(None))
    }
}

/// Holds the registrations still, so that the child does not get them half changed.
unsafe extern "C" fn prepare<F: Face>() {
    let held = F::domain().registrations();
    // SAFETY: see ForkHold.
    unsafe { *F::domain().fork.0.get() = Some(held) };
}

unsafe extern "C" fn parent<F: Face>() {
    // SAFETY: see ForkHold.
    drop(unsafe { (*F::domain().fork.0.get()).take() });
}

unsafe extern "C" fn child<F: Face>() {
    // SAFETY: see ForkHold; the child has one thread.
    if let Some(held) = unsafe { (*F::domain().fork.0.get()).take() } {
        F::domain().abandon(held.adapters());
    }
    F::after_fork_in_child();
}

/// Makes a provider library of a transport: gives it the place for its handles, and exports
/// `dat_provider_init` and `dat_provider_fini`. Once a library.
///
/// # Parameters
/// * the type that implements [`dat_core::transport::Transport`]
/// * the name of the library, a string literal, which lines in the log begin with
#[macro_export]
macro_rules! export_provider {
    ($transport:ty, $library:literal) => {
        impl $crate::Face for $transport {
            fn domain() -> &'static $crate::Domain<Self> {
                static DOMAIN: $crate::Domain<$transport> = $crate::Domain::new();
                &DOMAIN
            }
        }

        /// Registers the interface adapter that `provider_info` names.
        ///
        /// # Parameters
        /// * `provider_info` - in, name, version and thread safety; copied.
        /// * `instance_data` - in, what the configuration tells the provider; copied.
        ///
        /// # Specification
        /// uDAPL 1.2, dat_provider_init(3DAT).
        ///
        /// # Safety
        /// `provider_info` is NULL or readable, `instance_data` NULL or a C string.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn dat_provider_init(
            provider_info: *const $crate::udat12::DAT_PROVIDER_INFO,
            instance_data: *const ::std::ffi::c_char,
        ) {
            // SAFETY: the caller's promise.
            unsafe { $crate::provider::init::<$transport>($library, provider_info, instance_data) };
        }

        /// Takes the interface adapter that `provider_info` names away again.
        ///
        /// # Parameters
        /// * `provider_info` - in, name, version and thread safety.
        ///
        /// # Specification
        /// uDAPL 1.2, dat_provider_fini(3DAT).
        ///
        /// # Safety
        /// `provider_info` is NULL or readable.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn dat_provider_fini(provider_info: *const $crate::udat12::DAT_PROVIDER_INFO) {
            // SAFETY: the caller's promise.
            unsafe { $crate::provider::fini::<$transport>(provider_info) };
        }
    };
}

/// Registers an adapter without a registry.
#[cfg(test)]
pub(crate) fn register_for_test<F: Face>(name: &CStr, instance: &str, thread_safe: bool) -> &'static Adapter<F> {
    let identity = Identity { version: (DAT_VERSION_MAJOR, 2), thread_safe };
    at_fork::<F>();
    F::domain().registrations().add(name, identity, instance.to_owned())
}
