//! `dat_provider_init` and `dat_provider_fini`, which each provider library exports.

use std::ffi::{CStr, CString, c_char, c_void};
use std::mem;

use dat_core::transport::Transport;
use dat_udat::*;
use host::diagnostics::{self, Role};
use host::thread::isolate;
use host::topic::Topic;
use host::{cancel, cstr, memory, own_library};

use crate::Domain;
use crate::registration::{Adapter, Identity, RegistryFunction, Served};

/// Returns the version in `served` that `info` names, and the adapter's name and identity. Returns `None` for NULL, an
/// empty name or a major version that is not in `served`.
///
/// # Safety
/// `info` is NULL or readable.
unsafe fn read_info(
    served: &'static [Served],
    info: *const DAT_PROVIDER_INFO,
) -> Option<(&'static Served, CString, Identity)> {
    // SAFETY: the caller promises NULL or a readable `info`.
    let info = unsafe { info.as_ref() }?;
    // SAFETY: `bounded` reads at most the length of the array.
    let name = unsafe { cstr::bounded(info.ia_name.as_ptr(), DAT_NAME_MAX_LENGTH) }?;
    let version = (info.dapl_version_major, info.dapl_version_minor);
    let served = served.iter().find(|served| served.major == version.0)?;
    let identity = Identity { version, thread_safe: info.is_thread_safe != DAT_FALSE };
    (!name.is_empty()).then(|| (served, name.to_owned(), identity))
}

/// Calls dat_registry_add_provider or dat_registry_remove_provider.
///
/// # Safety
/// `function` is one of these functions; `info` is readable.
unsafe fn call_registry(
    function: RegistryFunction,
    adapter: &'static Adapter,
    info: *const DAT_PROVIDER_INFO,
) -> DAT_RETURN {
    type Both = unsafe extern "C" fn(*const c_void, *const DAT_PROVIDER_INFO) -> DAT_RETURN;
    // SAFETY: both functions have this type.
    let function = unsafe { mem::transmute::<RegistryFunction, Both>(function) };
    // SAFETY: the table is never freed; the caller promises that `info` is readable.
    unsafe { function(adapter.table(), info) }
}

/// Registers an adapter with `instance_data`, the configuration text for the transport. `library` begins log lines,
/// `served` lists the versions of the library.
///
/// # Safety
/// `info` is NULL or readable, `instance_data` NULL or a C string.
pub unsafe fn init<T: Transport>(
    library: &'static str,
    domain: &'static Domain<T>,
    served: &'static [Served],
    info: *const DAT_PROVIDER_INFO,
    instance_data: *const c_char,
) {
    let before = cancel::forbid();
    // Ignores a panic of the closure, which leaves the adapter unregistered.
    let _ = isolate(|| {
        diagnostics::init(library, Role::Provider);
        // C registries unload a provider with its last adapter, but threads and handlers still need its code.
        if own_library::keep(libc::RTLD_LOCAL).is_none() {
            log::debug!("provider: cannot pin this library in memory, so a registry may unload it");
        }
        // SAFETY: the caller promises NULL or a readable `info`.
        let Some((version, name, identity)) = (unsafe { read_info(served, info) }) else {
            log::error!("dat_provider_init: adapter rejected: no name, or an unknown version of uDAPL");
            return;
        };
        let instance = if instance_data.is_null() {
            String::new()
        } else {
            // SAFETY: the caller promises a C string.
            let text = unsafe { CStr::from_ptr(instance_data) }.to_string_lossy();
            // This function cannot report a lack of memory. The registry checks for a lasting lack before the call, and
            // the second attempt here covers a brief lack.
            let Ok(text) = memory::text(&text).or_else(|_| memory::text(&text)) else {
                log::error!("dat_provider_init: cannot copy the instance data: out of memory");
                return;
            };
            text
        };
        let Some(add) = version.registry_function(c"dat_registry_add_provider") else {
            let name = name.to_string_lossy();
            diagnostics::report(
                Topic::ProviderLibrary,
                format_args!("{name}: no dat_registry_add_provider in this process"),
            );
            return;
        };
        if domain.registrations().is_ambiguous(&name, identity, &instance) {
            log::error!("{}: another entry of this name is open", name.to_string_lossy());
            return;
        }
        let remove = version.registry_function(c"dat_registry_remove_provider");
        let ia_handles = version.ia_handles.and_then(|name| version.registry_function(name));
        let adapter = domain.registrations().add(version, &name, identity, instance, remove, ia_handles);
        // SAFETY: `add` is the registry's function of this type; the caller promises that `info` is readable.
        let code = unsafe { call_registry(add, adapter, info) };
        if code == DAT_SUCCESS {
            log::debug!("{}: registered", name.to_string_lossy());
        } else if DAT_GET_TYPE(code) == DAT_PROVIDER_ALREADY_REGISTERED {
            log::debug!("{}: already registered", name.to_string_lossy());
        } else {
            domain.registrations().remove(&name, identity);
            log::error!("{}: dat_registry_add_provider returned {code:#010x}", name.to_string_lossy());
        }
    });
    cancel::restore(before);
}

/// Removes an adapter, unless it is in use. `served` lists the versions of the library.
///
/// # Safety
/// `info` is NULL or readable.
pub unsafe fn fini<T: Transport>(
    domain: &'static Domain<T>,
    served: &'static [Served],
    info: *const DAT_PROVIDER_INFO,
) {
    let before = cancel::forbid();
    let _ = isolate(|| {
        // SAFETY: the caller promises NULL or a readable `info`.
        let Some((_, name, identity)) = (unsafe { read_info(served, info) }) else { return };
        let known = domain.registrations().find(&name, identity).map(|known| (known.adapter, known.remove));
        let Some((adapter, remove)) = known else { return };
        let code = remove.map_or(DAT_SUCCESS, |remove| {
            // SAFETY: a function of this name; the caller promises that `info` is readable.
            unsafe { call_registry(remove, adapter, info) }
        });
        log::debug!("{}: dat_registry_remove_provider returned {code:#x}", name.to_string_lossy());
        if DAT_GET_TYPE(code) != DAT_PROVIDER_IN_USE {
            domain.registrations().remove(&name, identity);
        }
    });
    cancel::restore(before);
}

/// Defines a provider library of a [`Transport`]: its allocator, its [`Provider`](crate::Provider) for each version,
/// and the functions that it exports. `$library` begins its log lines.
#[macro_export]
macro_rules! export_provider {
    ($transport:ty, $library:literal) => {
        #[global_allocator]
        static MEMORY: $crate::memory::Allocator = $crate::memory::Allocator(::std::alloc::System);

        static DOMAIN: $crate::Domain<$transport> = $crate::Domain::empty();

        static SERVED: &[$crate::registration::Served] = &[
            $crate::registration::Served::by::<Library<$crate::v12::Udat12>>(),
            $crate::registration::Served::by::<Library<$crate::v20::Udat20>>(),
        ];

        struct Library<V>(::std::marker::PhantomData<V>);

        impl<V: $crate::Version> $crate::Provider for Library<V> {
            type Transport = $transport;
            type Version = V;

            fn domain() -> &'static $crate::Domain<$transport> {
                &DOMAIN
            }
        }

        #[used]
        #[unsafe(link_section = ".init_array")]
        static AT_LOAD: extern "C" fn() = $crate::fork::at_load::<Library<$crate::v20::Udat20>>;

        /// Registers the adapter in `provider_info`: dat_provider_init(3DAT) of uDAPL 1.2 and 2.0.
        ///
        /// # Safety
        /// `provider_info` is NULL or readable, `instance_data` NULL or a C string.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn dat_provider_init(
            provider_info: *const $crate::udat::DAT_PROVIDER_INFO,
            instance_data: *const ::std::ffi::c_char,
        ) {
            // SAFETY: this function has the same requirements.
            unsafe { $crate::entry::init($library, &DOMAIN, SERVED, provider_info, instance_data) };
        }

        /// Removes the adapter in `provider_info`: dat_provider_fini(3DAT) of uDAPL 1.2 and 2.0.
        ///
        /// # Safety
        /// `provider_info` is NULL or readable.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn dat_provider_fini(provider_info: *const $crate::udat::DAT_PROVIDER_INFO) {
            // SAFETY: this function has the same requirement.
            unsafe { $crate::entry::fini(&DOMAIN, SERVED, provider_info) };
        }

        /// Executes the extended operation `op` on an object. Registries of uDAPL 2.0 check for this symbol.
        ///
        /// # Safety
        /// The arguments match the operation.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn dapl_extensions(
            handle: $crate::udat20::DAT_HANDLE,
            op: $crate::udat20::DAT_EXTENDED_OP,
            arguments: $crate::udat20::va_list::va_list,
        ) -> $crate::udat20::DAT_RETURN {
            // SAFETY: the caller's arguments match the operation.
            unsafe { $crate::v20::extension::dat_extension_op::<Library<$crate::v20::Udat20>>(handle, op, arguments) }
        }
    };
}
