//! libdat2.so.2: the consumer side of uDAPL 2.0 and the registry of providers.
//!
//! The lists of calls generate the exported functions. [`dat_library`] implements most of them.

use std::ffi::c_char;

use dat_udat20::*;

mod extension;
mod ia;
mod related;
mod strerror;

dat_library::library! {
    /// uDAPL 2.0.
    struct Udat20 = dat_udat20;
    name: "libdat2",
}

/// Defines the exported function of a call with a version node. If its handle is an adapter, the adapter must be open.
macro_rules! export_under {
    (
        $node:literal, $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($($arguments:tt)*) => dispatch(DAT_INVALID_HANDLE_IA);
    ) => {
        dat_library::dispatch! {
            $node, $(#[$doc])* extern $abi fn $name($($arguments)*), DAT_INVALID_HANDLE_IA,
            dat_library::dispatch::no_provider, ia::provider_of_open::<Udat20>
        }
    };
    ($node:literal, $($call:tt)*) => {
        dat_library::export! { $node, Udat20, $($call)* }
    };
}

/// Defines the exported function of a call that other uDAPL 2.0 libraries also export.
macro_rules! export {
    ($($call:tt)*) => {
        export_under! { "DAT_2.0", $($call)* }
    };
}

/// Defines the exported function of a call that other uDAPL 2.0 libraries lack.
macro_rules! export_further {
    ($($call:tt)*) => {
        export_under! { "DAT_2.0_FULL", $($call)* }
    };
}

dat_udat20::for_each_call!(export);
dat_udat20::for_each_further_call!(export_further);

/// The functions that libdat2 implements itself.
mod by_hand {
    pub use dat_library::ia::dat_ia_openv;
    pub use dat_library::registry_api::{
        dat_registry_add_provider, dat_registry_list_providers, dat_registry_remove_provider,
    };

    pub use crate::ia::{dat_ia_close, dats_get_ia_handle};
    pub use crate::related::dat_registry_providers_related;
    pub use crate::strerror::dat_strerror;
}
