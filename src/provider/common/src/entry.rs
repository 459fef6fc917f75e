//! What a provider library exports in every version: `dat_provider_init` and `dat_provider_fini`.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem;

use dat_udat::*;
use host::diagnostics::{self, Role};
use host::{cancel, cstr, memory, own_library};

use crate::call::caught;
use crate::registration::{Identity, RegistryFunction, registry_function};
use crate::{Adapter, Provider, Version, fork};

/// The name and identity in `info`, if they can be registered.
///
/// # Safety
/// `info` is NULL or readable.
unsafe fn read_info<V: Version>(info: *const DAT_PROVIDER_INFO) -> Option<(CString, Identity)> {
    // SAFETY: the caller's promise.
    let info = unsafe { info.as_ref() }?;
    // SAFETY: nothing beyond the end of the array is read.
    let name = unsafe { cstr::bounded(info.ia_name.as_ptr(), DAT_NAME_MAX_LENGTH) }?;
    let version = (info.dapl_version_major, info.dapl_version_minor);
    let usable = !name.is_empty() && version.0 == V::MAJOR;
    let identity = Identity { version, thread_safe: info.is_thread_safe != DAT_FALSE };
    usable.then(|| (name.to_owned(), identity))
}

/// Calls dat_registry_add_provider or dat_registry_remove_provider.
///
/// # Safety
/// `function` is one of these two; `info` is readable.
unsafe fn tell<F: Provider>(
    function: RegistryFunction,
    adapter: &'static Adapter<F>,
    info: *const DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    type Both = unsafe extern "C" fn(*const c_void, *const DAT_PROVIDER_INFO) -> DAT_RETURN;
    // SAFETY: both functions have this type.
    let function = unsafe { mem::transmute::<RegistryFunction, Both>(function) };
    // SAFETY: the table is never freed; `info` is readable as the caller promises.
    unsafe { function(std::ptr::from_ref(adapter.table()).cast(), info) }
}

/// Does the work of dat_provider_init: registers the adapter that `info` names, with `instance_data`, the text of the
/// configuration for the transport. Lines in the log begin with `library`.
///
/// # Safety
/// `info` is NULL or readable, `instance_data` NULL or a C string.
pub unsafe fn init<F: Provider>(library: &'static str, info: *const DAT_PROVIDER_INFO, instance_data: *const c_char) {
    let before = cancel::forbid();
    // A panic has already written its line; an adapter that is not registered is not found.
    let _ = caught(|| {
        diagnostics::init(library, Role::Provider);
        // The C libraries unload a provider with its last adapter, but its threads, what the program's threads leave to
        // it when they end, and its handlers of a fork need its code.
        if own_library::keep().is_none() {
            log::debug!("a registry may unload this library");
        }
        fork::watch::<F>();
        // SAFETY: the caller's promise.
        let Some((name, identity)) = (unsafe { read_info::<F::Version>(info) }) else {
            log::error!("initialised without a name, or for another version than {}", F::Version::MAJOR);
            return;
        };
        let instance = if instance_data.is_null() {
            String::new()
        } else {
            // SAFETY: the caller's promise.
            let text = unsafe { CStr::from_ptr(instance_data) }.to_string_lossy();
            // A lack of memory cannot be reported from here: the registry checks by itself whether it lasts. The second
            // attempt is for one that is over by then.
            let Ok(text) = memory::text(&text).or_else(|_| memory::text(&text)) else {
                log::error!("no memory for the text of the configuration");
                return;
            };
            text
        };
        let Some(add) = registry_function::<F::Version>(c"dat_registry_add_provider") else {
            diagnostics::report(format_args!(
                "{}: no dat_registry_add_provider in this process",
                name.to_string_lossy()
            ));
            return;
        };
        let remove = registry_function::<F::Version>(c"dat_registry_remove_provider");
        let ia_handles = F::Version::IA_HANDLES.and_then(registry_function::<F::Version>);
        let adapter = F::domain().registrations().add(&name, identity, instance, remove, ia_handles);
        // SAFETY: the function has this name; `info` is readable as the caller promises.
        let code = unsafe { tell(add, adapter, info) };
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

/// Does the work of dat_provider_fini: removes the adapter that `info` names.
///
/// # Safety
/// `info` is NULL or readable.
pub unsafe fn fini<F: Provider>(info: *const DAT_PROVIDER_INFO) {
    let before = cancel::forbid();
    let _ = caught(|| {
        // SAFETY: the caller's promise.
        let Some((name, identity)) = (unsafe { read_info::<F::Version>(info) }) else { return };
        let Some(registration) = F::domain().registrations().remove(&name, identity) else { return };
        if let Some(remove) = registration.remove {
            // SAFETY: the function was found under this name; `info` is readable as the caller promises.
            let code = unsafe { tell(remove, registration.adapter, info) };
            log::debug!("{}: dat_registry_remove_provider answered {code:#x}", name.to_string_lossy());
        }
    });
    cancel::restore(before);
}

/// Makes a provider library of a transport and a version of the interface: gives it a face, `Library`, and the allocator
/// with a reserve, and exports `dat_provider_init` and `dat_provider_fini`. To be used once in a library.
///
/// # Parameters
/// * the type that implements [`Version`]
/// * the type that implements [`dat_core::transport::Transport`]
/// * the name of the library, a string literal, with which lines in the log begin
#[macro_export]
macro_rules! export_provider {
    ($version:ty, $transport:ty, $library:literal) => {
        #[global_allocator]
        static MEMORY: $crate::memory::Allocator = $crate::memory::Allocator(::std::alloc::System);

        /// The face of this library.
        struct Library;

        impl $crate::Provider for Library {
            type Transport = $transport;
            type Version = $version;

            fn domain() -> &'static $crate::Domain<Self> {
                static DOMAIN: $crate::Domain<Library> = $crate::Domain::empty();
                &DOMAIN
            }
        }

        /// Registers the interface adapter that `provider_info` names: uDAPL 1.2 and 2.0, dat_provider_init(3DAT).
        ///
        /// # Safety
        /// `provider_info` is NULL or readable, `instance_data` NULL or a C string.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn dat_provider_init(
            provider_info: *const $crate::udat::DAT_PROVIDER_INFO,
            instance_data: *const ::std::ffi::c_char,
        ) {
            // SAFETY: the caller's promise.
            unsafe { $crate::entry::init::<Library>($library, provider_info, instance_data) };
        }

        /// Removes the interface adapter that `provider_info` names: uDAPL 1.2 and 2.0, dat_provider_fini(3DAT).
        ///
        /// # Safety
        /// `provider_info` is NULL or readable.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn dat_provider_fini(provider_info: *const $crate::udat::DAT_PROVIDER_INFO) {
            // SAFETY: the caller's promise.
            unsafe { $crate::entry::fini::<Library>(provider_info) };
        }
    };
}
