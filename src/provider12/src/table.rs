//! The provider table.

use std::ffi::c_char;
use std::ptr;

use dat_face::Face;
use dat_udat12::{DAT_PROVIDER, for_each_slot};

use crate::Udat12;
use crate::cno::*;
use crate::context::*;
use crate::cr::*;
use crate::ep::connect::*;
use crate::ep::modify::*;
use crate::ep::*;
use crate::evd::*;
use crate::ia::*;
use crate::lmr::*;
use crate::post::*;
use crate::psp::*;
use crate::pz::*;
use crate::rmr::*;
use crate::rsp::*;
use crate::srq::*;
use crate::wait::*;

macro_rules! table {
    ($($slot:ident: $field:ident, $type:ident;)*) => {
        /// The table of a provider library over the transport `F`. Every slot is filled with the function that has the
        /// name of the call.
        ///
        /// # Parameters
        /// * `device_name` - the name of the adapter, valid as long as the table is used.
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
