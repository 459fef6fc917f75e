//! The provider table.

use std::ffi::c_char;
use std::ptr;

use dat_provider_common::Face;
use dat_provider_common::slots::*;
use dat_udat12::{DAT_PROVIDER, for_each_slot};

use crate::Udat12;
use crate::cr::dat_cr_reject;
use crate::lmr::dat_lmr_create;
use crate::rmr::dat_rmr_bind;

macro_rules! table {
    ($($slot:ident: $field:ident, $type:ident;)*) => {
        /// The table of the adapter called `device_name`, a text that must stay in place as long as the table is used. Every
        /// slot is filled with the function that has the name of the call.
        pub const fn table<F: Face<Version = Udat12>>(device_name: *const c_char) -> DAT_PROVIDER {
            DAT_PROVIDER {
                device_name,
                extension: ptr::null_mut(),
                $($field: Some($slot::<F>),)*
            }
        }
    };
}

for_each_slot!(table);
