//! What the versions of uDAPL have in common on Linux: types, constants and calls that are the same in text and number.
//!
//! A version has a crate of its own, which adds the rest and passes everything on: structures with other fields,
//! numbers that differ, the calls with other arguments, the provider table. Both crates have one module for each header,
//! and the modules of a version have the names of the modules here. [`place!`](crate::place) marks where the items of
//! a version belong, [`c_members!`](crate::c_members) adds to an enumeration, and macros such as
//! [`provider_attr_of!`](crate::provider_attr_of) have what all versions have of a structure. `cargo run -p dat-derived` writes the C
//! headers from all of it, so C programmers read every comment here too. Texts that only a macro can express are in macros/.
//! Names are those of C. The only code takes return codes apart; the calls are declared, not defined.

#![no_std]
// The names are those of the C headers, which programs know.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]

#[macro_use]
pub mod abi;
mod calls;
pub mod dat;
pub mod dat_error;
pub mod dat_platform_specific;
pub mod dat_registry;
pub mod dat_vendor_specific;
pub mod udat;
pub mod udat_config;
pub mod udat_vendor_specific;

pub use dat::*;
pub use dat_error::*;
pub use dat_platform_specific::*;
pub use dat_registry::*;
pub use udat::*;
pub use udat_config::*;
