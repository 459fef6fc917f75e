//! The uDAPL 1.2 face of the core: `struct dat_provider` over any transport.
//!
//! A program's call comes through the provider table ([`table`]) into a *slot*: a function in
//! the file of the object that the call is about. A slot turns handles, pointers and flags
//! into the terms of the core, calls it, and turns the result back:
//!
//! | module | what it knows |
//! |---|---|
//! | [`handle`] | handles as the program holds them, and the objects behind them |
//! | `ptr` | the program's pointers: the only place where they are read or written through |
//! | [`error`] | the return code of every error of the core |
//! | `event`, `attr` | events and attributes in the form of the C structures |
//! | [`post`] | the fast slots: posting and dequeuing |
//! | [`wait`] | the slots that block, which a cancelled thread can leave |
//! | [`provider`] | `dat_provider_init`, `dat_provider_fini`, fork |
//!
//! A transport becomes a provider library by [`export_provider!`].
//!
//! # Panics and cancellation
//! Slow slots run in [`guard`]: a panic becomes `DAT_INTERNAL_ERROR`. The fast slots contain nothing
//! that panics. In neither can the thread be cancelled; it can while it sleeps in [`wait`].

mod attr;
pub mod cno;
pub mod context;
pub mod cr;
pub mod ep;
pub mod error;
pub mod evd;
mod event;
pub mod guard;
pub mod handle;
pub mod ia;
pub mod lmr;
pub mod post;
pub mod provider;
pub mod psp;
mod ptr;
pub mod pz;
pub mod rmr;
pub mod rsp;
pub mod srq;
pub mod table;
pub mod wait;

#[cfg(test)]
mod tests;

#[doc(hidden)]
pub use dat_udat12 as udat12;

pub use handle::{Domain, Face};
pub use table::UNIMPLEMENTED;
