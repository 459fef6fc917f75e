//! The binary interface of uDAPL 1.2 on Linux: types, constants and the provider table.
//!
//! One module a header; `cargo run -p dat-headers` writes include/dat from them, so that every
//! comment here is one that C programmers read too; what only a macro can say stands in macros/.
//! Names are those of C. Code is no more than what takes return codes apart; the functions are
//! declared, not defined.

#![no_std]
// The names are those of the C headers, which programs know.
#![allow(non_camel_case_types, non_upper_case_globals, non_snake_case)]

mod c_enum;
pub mod dat;
pub mod dat_error;
pub mod dat_platform_specific;
pub mod dat_redirection;
pub mod dat_registry;
pub mod dat_vendor_specific;
pub mod functions;
mod layout;
pub mod udat;
pub mod udat_config;
pub mod udat_redirection;
pub mod udat_vendor_specific;

pub use dat::*;
pub use dat_error::*;
pub use dat_platform_specific::*;
pub use dat_redirection::*;
pub use dat_registry::*;
pub use udat::*;
pub use udat_config::*;
pub use udat_redirection::*;
