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

/// Defines the exported functions. Calls with the mark `further` have the version node DAT_2.0_FULL.
macro_rules! export {
    ($(
        $(#[$mark:ident])? extern $abi:literal fn $name:ident $arguments:tt
            => $how:ident $(($($with:tt)*))? $(, $field:ident: $slot:ident)?;
    )*) => {
        $(export_call! {
            $($mark)? extern $abi fn $name $arguments => $how $(($($with)*))? $(, $field: $slot)?
        })*
    };
}

/// Defines the exported function of a call. If its handle is an adapter, the adapter must be open.
macro_rules! export_call {
    (further $($call:tt)*) => {
        export_call! { "DAT_2.0_FULL", $($call)* }
    };
    (extern $($call:tt)*) => {
        export_call! { "DAT_2.0", extern $($call)* }
    };
    (
        $node:literal,
        extern $abi:literal fn $name:ident $arguments:tt => dispatch(DAT_INVALID_HANDLE_IA), $field:ident: $slot:ident
    ) => {
        dat_library::dispatch! {
            $node, extern $abi fn $name $arguments => $field, DAT_INVALID_HANDLE_IA,
            dat_library::dispatch::no_provider, ia::provider_of_open::<Udat20>
        }
    };
    ($node:literal, $($call:tt)*) => {
        dat_library::export! { $node, Udat20, $($call)* }
    };
}

dat_udat20::for_each_call!(export);

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
