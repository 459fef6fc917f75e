//! The functions that libdat.so.1 exports, declared only
//!
//! Nothing is defined here, and nothing is re-exported at the top of the crate, so that no provider
//! calls the library that loads it by accident. The headers take their prototypes from here, and
//! the library can check its definitions against them.

pub mod dat_registry;
pub mod dto;
pub mod ep;
pub mod evd;
pub mod ia;
pub mod memory;
pub mod registry;
pub mod sp;
pub mod srq;
pub mod udat;
