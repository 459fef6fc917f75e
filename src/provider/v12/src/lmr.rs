//! Local memory regions.

use dat_core::Base;
use dat_udat12::*;

dat_provider_common::lmr_slots! {
    create {}, Base::Address, 7;
    query |lmr| {};
}
