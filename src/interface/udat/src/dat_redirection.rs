//! The table of a provider

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;

/// Type of dat_ia_openv. The slot ia_open_func lacks the last three parameters.
pub type DAT_IA_OPENV_FUNC = Option<
    unsafe extern "C" fn(
        provider: DAT_NAME_PTR,
        asynch_evd_min_qlen: DAT_COUNT,
        asynch_evd_handle: *mut DAT_EVD_HANDLE,
        ia_handle: *mut DAT_IA_HANDLE,
        dat_major: DAT_UINT32,
        dat_minor: DAT_UINT32,
        thread_safety: DAT_BOOLEAN,
    ) -> DAT_RETURN,
>;

/// Callback of `for_each_call!`: defines the types of the slots and the provider table.
#[macro_export]
macro_rules! provider_table {
    ($(
        $(#[$mark:ident])? extern $abi:literal fn $name:ident $arguments:tt
            => $how:ident $(($($with:tt)*))? $(, $field:ident: $slot:ident)?;
    )*) => {
        $($(
            #[doc = concat!("Slot of ", stringify!($name), ".")]
            pub type $slot = Option<unsafe extern $abi fn $arguments -> DAT_RETURN>;
        )?)*

        /// The types of the slots, with the names of the calls.
        pub mod slot_types {
            $($(
                #[doc = concat!("Slot of ", stringify!($name), ".")]
                pub type $name = super::$slot;
            )?)*
        }

        /// Table of the functions of a provider. The order is part of the binary interface. For a slot that is NULL,
        /// the library returns DAT_NOT_IMPLEMENTED.
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct dat_provider {
            /// Name of the adapter that the provider serves.
            pub device_name: *const core::ffi::c_char,
            /// For the provider's own use.
            pub extension: DAT_PVOID,
            $($(
                #[doc = concat!("Slot of ", stringify!($name), ".")]
                pub $field: $slot,
            )?)*
        }

        /// Table of the functions of a provider.
        pub type DAT_PROVIDER = dat_provider;
    };
}
