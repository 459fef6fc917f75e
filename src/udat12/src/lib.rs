//! The binary interface of uDAPL 1.2 on Linux: types, constants, the calls and the provider table.
//!
//! There is one module for each header; the calls, from which much is derived, are in [`for_each_call`] and
//! [`for_each_slot`]. `cargo run -p dat-derived` writes include/dat from all of it, so C programmers read every comment
//! here too. Texts that only a macro can express are in macros/. Names are those of C. The only code takes return codes
//! apart; the calls are declared, not defined.

#![no_std]
// The names are those of the C headers, which programs know.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]

#[macro_use]
mod calls;
pub mod dat;
pub mod dat_error;
pub mod dat_platform_specific;
pub mod dat_redirection;
pub mod dat_registry;
pub mod dat_vendor_specific;
mod layout;
pub mod udat;
pub mod udat_config;
pub mod udat_vendor_specific;

pub use dat::*;
pub use dat_error::*;
pub use dat_platform_specific::*;
pub use dat_redirection::*;
pub use dat_registry::*;
pub use udat::*;
pub use udat_config::*;
