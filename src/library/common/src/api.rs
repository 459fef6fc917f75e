//! The version-specific definitions of a library: [`Api`].

use dat_registry::{EntriesGuard, Missing, Registry, Version};
use dat_udat::dat_error::{
    DAT_ERROR, DAT_INSUFFICIENT_RESOURCES, DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA, DAT_PROVIDER_NOT_FOUND,
    DAT_RESOURCE_MEMORY, DAT_RETURN, DAT_RETURN_SUBTYPE,
};
pub use dat_udat::names::CodeNames;
use host::fork::Hold;

use crate::head::{Close, Head, Open};
use crate::provider::Providers;

/// A version of the interface. [`library!`](crate::library) implements it.
pub trait Api: Sized + 'static {
    /// The version's provider table.
    type Provider;
    /// Name of the library in diagnostics.
    const NAME: &'static str;
    /// The version of uDAPL that the library implements.
    const VERSION: Version;
    /// The [`Codes`] of the version.
    const CODES: Codes;
    /// The names of return codes.
    const NAMES: CodeNames;

    /// Returns the library's state.
    fn statics() -> &'static Statics<Self>;

    /// Returns the functions in a table that open and close an instance; `None` for a NULL slot.
    ///
    /// # Safety
    /// The table must be registered.
    unsafe fn ia_functions(table: *const Head) -> (Option<Open>, Option<Close>);
}

/// The state of a library, never freed.
pub struct Statics<A: Api> {
    /// The registry of adapters.
    pub registry: Registry<Providers<A>>,
    /// The guard of the registry's lock while a fork runs; otherwise empty.
    pub hold: Hold<EntriesGuard<'static, Providers<A>>>,
}

impl<A: Api> Statics<A> {
    /// Returns the initial state.
    pub const fn unused() -> Self {
        Statics { registry: Registry::new(Providers::new()), hold: Hold::new() }
    }
}

/// `DAT_INSUFFICIENT_RESOURCES` / `DAT_RESOURCE_MEMORY`.
pub const OUT_OF_MEMORY: DAT_RETURN = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);

/// `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_IA`.
pub const INVALID_IA: DAT_RETURN = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);

/// Return codes of the library itself whose numbers depend on the version.
#[derive(Clone, Copy, Debug)]
pub struct Codes {
    /// `DAT_NOT_IMPLEMENTED`.
    pub not_implemented: DAT_RETURN,
    /// `DAT_INVALID_PARAMETER` for the first argument. The codes for the other arguments are the next numbers.
    pub first_argument: DAT_RETURN,
    /// The subtype of `DAT_PROVIDER_NOT_FOUND` for each [`Missing`].
    pub not_found: [DAT_RETURN_SUBTYPE; 4],
}

impl Codes {
    /// Returns the code for invalid argument `number`, counted from 1.
    pub const fn argument(&self, number: u32) -> DAT_RETURN {
        self.first_argument + number - 1
    }

    /// Returns the code for a request that no entry serves.
    pub const fn not_found(&self, missing: Missing) -> DAT_RETURN {
        DAT_ERROR(DAT_PROVIDER_NOT_FOUND, self.not_found[missing as usize])
    }
}

/// Defines the library of a version: its [`Api`], the allocator and the fork handlers.
///
/// # Parameters
/// * `struct $api = $udat` - the name of the type, and the crate of the version.
/// * `name` - the name of the library in diagnostics.
#[macro_export]
macro_rules! library {
    (
        $(#[$doc:meta])*
        $vis:vis struct $api:ident = $udat:ident;
        name: $name:literal,
    ) => {
        $(#[$doc])*
        $vis struct $api;

        impl $crate::api::Api for $api {
            type Provider = $udat::DAT_PROVIDER;
            const NAME: &'static str = $name;
            const VERSION: $crate::Version =
                $crate::Version { major: $udat::DAT_VERSION_MAJOR, minor: $udat::DAT_VERSION_MINOR };
            const CODES: $crate::api::Codes = {
                use $udat::*;
                $crate::api::Codes {
                    not_implemented: DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE),
                    first_argument: DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1),
                    not_found: [
                        DAT_NAME_NOT_REGISTERED, DAT_MAJOR_NOT_FOUND, DAT_MINOR_NOT_FOUND, DAT_THREAD_SAFETY_NOT_FOUND
                    ],
                }
            };
            const NAMES: $crate::api::CodeNames =
                $crate::api::CodeNames::new($udat::DAT_RETURN_TYPE, $udat::DAT_RETURN_SUBTYPE);

            fn statics() -> &'static $crate::api::Statics<Self> {
                static STATICS: $crate::api::Statics<$api> = $crate::api::Statics::unused();
                &STATICS
            }

            unsafe fn ia_functions(
                table: *const $crate::head::Head,
            ) -> (Option<$crate::head::Open>, Option<$crate::head::Close>) {
                let table: *const $udat::DAT_PROVIDER = table.cast();
                // SAFETY: a registered table is readable.
                unsafe { ((*table).ia_open_func, (*table).ia_close_func) }
            }
        }


        #[global_allocator]
        static MEMORY: $crate::Allocator = $crate::Allocator(::std::alloc::System);

        #[used]
        #[unsafe(link_section = ".init_array")]
        static AT_LOAD: extern "C" fn() = $crate::fork::at_load::<$api>;
    };
}
