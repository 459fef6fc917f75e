//! The binary interface of uDAPL 2.0 on Linux: types, constants, calls, provider table, and extensions for InfiniBand.
//!
//! [`dat_udat`] contains what all versions share, and describes how the crates depend on each other. [`for_each_call`]
//! lists the calls.

#![no_std]
// C programs use these names.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]
#![allow(missing_docs, reason = "the type of a constant explains the constants whose names suffice")]

#[macro_use]
extern crate dat_udat;
#[macro_use]
mod calls;
pub mod dat;
pub mod dat_error;
pub mod dat_platform_specific;
pub mod dat_redirection;
pub mod dat_registry;
pub mod ib;
pub mod udat;
pub mod udat_config;
pub mod va_list;

pub use dat::*;
pub use dat_error::*;
pub use dat_platform_specific::*;
pub use dat_redirection::*;
pub use dat_registry::*;
pub use ib::*;
pub use udat::*;
pub use udat_config::*;
