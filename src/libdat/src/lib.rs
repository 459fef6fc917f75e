//! libdat.so.1: the consumer side of uDAPL 1.2 and the registry of providers.
//!
//! The functions that programs call come from the list of calls ([`exports`]). Almost every one does the same: it
//! finds the provider's table of functions behind a handle, makes sure that it is one that a provider
//! registered, and jumps through it ([`dispatch`]). The rest opens and closes adapters (`ia`), keeps the
//! registry (`registry_api`) and names return codes (`strerror`).
//!
//! | path | functions | rules |
//! |---|---|---|
//! | dispatched | all that take a handle but open and close | no lock, no allocation, no system call, nothing that can panic |
//! | slow | open, close, registry | may do all of it; a panic becomes `DAT_INTERNAL_ERROR` (`guard`) |

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
