//! libdat.so.1: the consumer side of uDAPL 1.2 and the registry of providers.
//!
//! The list of calls generates the exported functions. [`dat_library`] implements most of them.

mod ia;
mod strerror;

use std::ffi::{c_char, c_ulong};

use dat_udat12::*;

dat_library::library! {
    /// uDAPL 1.2.
    struct Udat12 = dat_udat12;
    name: "libdat",
}

/// Defines the exported functions.
macro_rules! export {
    ($(
        extern $abi:literal fn $name:ident $arguments:tt
            => $how:ident $(($($with:tt)*))? $(, $field:ident: $slot:ident)?;
    )*) => {
        $(dat_library::export! {
            "DAT_1.2", Udat12, extern $abi fn $name $arguments => $how $(($($with)*))? $(, $field: $slot)?
        })*
    };
}

dat_udat12::for_each_call!(export);

/// The functions that libdat implements itself.
mod by_hand {
    pub use dat_library::ia::dat_ia_openv;
    pub use dat_library::registry_api::{
        dat_registry_add_provider, dat_registry_list_providers, dat_registry_remove_provider,
    };

    pub use crate::ia::{dat_ia_close, dats_get_ia_handle};
    pub use crate::strerror::dat_strerror;
}
