//! Local memory regions.

use dat_core::Base;
use dat_udat12::*;

crate::lmr_slots! {
    create {}, Base::Address, 7;
    query |lmr| {};
}
