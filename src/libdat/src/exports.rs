//! The functions that programs call, made from the list of calls.
//!
//! A call that goes to the provider needs nothing but its entry in the list. The code of the other calls is in
//! `by_hand`, under the name of the call.

use std::ffi::{c_char, c_ulong};

use dat_udat12::*;

/// The functions of the calls that libdat carries out itself.
mod by_hand {
    pub use crate::ia::{dat_ia_close, dat_ia_openv, dats_get_ia_handle};
    pub use crate::registry_api::{
        dat_registry_add_provider, dat_registry_list_providers, dat_registry_remove_provider,
    };
    pub use crate::strerror::dat_strerror;
}

/// Makes the exported function of a call.
macro_rules! export {
    (
        $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($($argument:ident: $type:ty),* $(,)?) => dispatch($subtype:ident);
    ) => {
        dispatch! {
            $(#[$doc])*
            extern $abi fn $name($($argument: $type),*), $subtype
        }
    };
    (
        $(#[$doc:meta])*
        extern $abi:literal fn $name:ident($($argument:ident: $type:ty),* $(,)?)
            $(and ($($more:ident: $more_type:ty),* $(,)?))? => $($how:tt)+
    ) => {
        crate::symver::symver!($name);

        $(#[$doc])*
        ///
        /// # Safety
        /// A handle that is aligned must point to readable memory; each other pointer must be NULL or valid as its
        /// parameter says.
        #[unsafe(no_mangle)]
        pub unsafe extern $abi fn $name(
            $($argument: $type,)* $($($more: $more_type),*)?
        ) -> DAT_RETURN {
            // SAFETY: the caller makes the promise that the function asks for.
            unsafe { by_hand::$name($($argument,)* $($($more),*)?) }
        }
    };
}

dat_udat12::for_each_call!(export);
