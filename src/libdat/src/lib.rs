//! libdat.so.1: the consumer side of uDAPL 1.2 and the registry of providers.
//!
//! The functions that programs call come from the list of calls ([`exports`]). Almost all do the same: they find the
//! provider's table of functions behind a handle, check that a provider registered it, and jump through it
//! ([`dispatch`]). The other functions open and close adapters (`ia`), keep the registry (`registry_api`) and name
//! return codes (`strerror`).
//!
//! | path | functions | rules |
//! |---|---|---|
//! | dispatched | all that take a handle, except open and close | no lock, no allocation, no system call, nothing that can panic |
//! | slow | open, close, registry | no restrictions; a panic becomes `DAT_INTERNAL_ERROR` (`guard`) |

#[macro_use]
mod dispatch;
mod exports;
mod fork;
mod guard;
mod ia;
mod provider;
mod registry_api;
mod strerror;
mod symver;
mod tables;

/// The library's memory, with a reserve.
#[global_allocator]
static MEMORY: host::memory::Allocator = host::memory::Allocator::of_system();
