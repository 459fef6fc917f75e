//! The types, constants and calls that all versions of uDAPL on Linux share.
//!
//! Each version has a crate of its own, which re-exports this one and adds what differs: structure layouts, constants,
//! call signatures and the provider table. All crates have one module per header, with the same names.
//! [`place!`](crate::place) marks positions for the items of a version, [`c_members!`](crate::c_members) extends an
//! enumeration, and macros such as [`provider_attr_of!`](crate::provider_attr_of) define the shared fields of a
//! structure.
//!
//! `cargo run -p dat-derived` generates the C headers from these crates, including the comments. `macros/` contains C
//! macros that Rust cannot express. Only the functions on return codes have a body.

#![no_std]
// C programs use these names.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]

#[macro_use]
pub mod abi;
pub mod dat;
pub mod dat_error;
pub mod dat_platform_specific;
pub mod dat_redirection;
pub mod dat_registry;
pub mod dat_vendor_specific;
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
