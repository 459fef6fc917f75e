//! What libdat.so.1 and the libraries of other versions have in common: the consumer side of uDAPL and the registry of
//! providers.
//!
//! The functions that programs call come from a version's list of calls ([`export!`]). Almost all find the provider's table of
//! functions behind a handle, check that a provider registered it, and jump through it ([`dispatch`]). The others open
//! adapters ([`ia`]) and access the registry ([`registry_api`]); those that close adapters and name return codes differ
//! between versions. What a version defines for its library is an [`api::Api`], made by [`library!`].
//!
//! | path | functions | rules |
//! |---|---|---|
//! | dispatched | all that take a handle, except open and close | no lock, no allocation, no panic; a system call only for the first handle on a page, and for values that are no handles |
//! | slow | open, close, registry | no restrictions; a panic becomes `DAT_INTERNAL_ERROR` ([`guard`]) |

pub mod api;
pub mod dispatch;
mod elsewhere;
mod export;
pub mod fork;
pub mod guard;
pub mod head;
pub mod ia;
mod pages;
pub mod provider;
pub mod registry_api;
mod symver;
pub mod tables;

pub use dat_registry::Version;
pub use host::memory::Allocator;

#[cfg(test)]
mod testing;
