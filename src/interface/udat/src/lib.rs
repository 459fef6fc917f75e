//! The types, constants and calls that all versions of uDAPL on Linux share.
//!
//! Each version has a crate of its own, which re-exports this one and adds what differs: structures, constants, the
//! list of calls and the provider table. All crates have modules with the names of the headers; dat.h and
//! dat_ib_extensions.h have several. Types have the names that C programs use. An enumeration is an integer type with
//! constants, see [`c_enum`](names::c_enum).
//!
//! `cargo run -p dat-derived` generates the C headers from these crates, including the comments. A constant without a
//! comment is explained by its type. `headers/` contains the templates of the headers.

#![no_std]
// C programs use these names.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]
#![allow(missing_docs, reason = "the type of a constant explains the constants whose names suffice")]

#[macro_use]
pub mod names;
pub mod dat;
pub mod dat_error;
pub mod dat_platform_specific;
pub mod dat_redirection;
pub mod dat_registry;
pub mod udat;
pub mod udat_config;

pub use dat::*;
pub use dat_error::*;
pub use dat_platform_specific::*;
pub use dat_redirection::*;
pub use dat_registry::*;
pub use udat::*;
pub use udat_config::*;
