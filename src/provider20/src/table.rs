//! The provider table.

use std::ffi::c_char;
use std::ptr;

use dat_provider_common::Face;
use dat_provider_common::slots::*;
use dat_udat20::{DAT_PROVIDER, for_each_slot};

use crate::Udat20;
use crate::cno::*;
use crate::cr::dat_cr_reject;
use crate::csp::*;
use crate::extension::dat_extension_op;
use crate::lmr::dat_lmr_create;
use crate::post::*;
use crate::related::dat_ia_ha_related;
use crate::rmr::{dat_rmr_bind, dat_rmr_create_for_ep};

macro_rules! table {
    ($($slot:ident: $field:ident, $type:ident;)*) => {
        /// The table of the adapter called `device_name`, a text that must stay in place as long as the table is used. Every
        /// slot is filled with the function that has the name of the call.
        pub const fn table<F: Face<Version = Udat20>>(device_name: *const c_char) -> DAT_PROVIDER {
            DAT_PROVIDER {
                device_name,
                extension: ptr::null_mut(),
                $($field: Some($slot::<F>),)*
            }
        }
    };
}

for_each_slot!(table);
