//! The binary interface of uDAPL 1.2 on Linux: types, constants, the calls and the provider table.
//!
//! [`dat_udat`] has what other versions have too, and says how the two crates fit together. The calls, from which much is
//! derived, are in [`for_each_call`] and [`for_each_slot`].

#![no_std]
// The names are those of the C headers, which programs know.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]

#[doc(hidden)]
#[macro_use]
pub extern crate dat_udat as common;
#[macro_use]
mod calls;
pub mod dat;
pub mod dat_error;
pub mod dat_redirection;
pub mod udat;
pub mod udat_config;

pub use dat_udat::{dat_platform_specific, dat_registry, dat_vendor_specific, udat_vendor_specific};

pub use dat::*;
pub use dat_error::*;
pub use dat_platform_specific::*;
pub use dat_redirection::*;
pub use dat_registry::*;
pub use udat::*;
pub use udat_config::*;
