//! The common parts of libdat.so.1 and libdat2.so.2: the consumer side of uDAPL and the registry of providers.
//!
//! A version's list of calls generates the exported functions ([`export!`]). Most of them jump through the provider's
//! table ([`mod@dispatch`]). The others open adapters ([`ia`]) or access the registry ([`registry_api`]); those that
//! differ between versions are in the libraries.
//!
//! | path | functions | rules |
//! |---|---|---|
//! | dispatched | all with a handle, except open and close | no allocation, no panic ([`mod@dispatch`]) |
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
