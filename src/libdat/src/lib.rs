//! libdat.so.1: the consumer side of uDAPL 1.2 and the registry of providers.
//!
//! Almost every function here does the same: it finds the provider's table of functions behind a
//! handle, makes sure that it is one that a provider registered, and jumps through it
//! (`dispatch`). The rest opens and closes adapters (`ia`), keeps the registry
//! (`registry_api`) and names return codes (`strerror`).
//!
//! | path | functions | rules |
//! |---|---|---|
//! | fast | posting, dequeueing, waiting (`fast`) | no lock, no allocation, no system call, nothing that can panic |
//! | dispatched | all others that take a handle | the same |
//! | slow | open, close, registry | may do all of it; a panic becomes `DAT_INTERNAL_ERROR` (`guard`) |

#[macro_use]
mod dispatch;
mod cno;
mod cr;
mod ep;
mod evd;
mod fast;
mod fork;
mod guard;
mod handle;
mod ia;
mod lmr;
mod provider;
mod psp;
mod pz;
mod registry_api;
mod rmr;
mod rsp;
mod srq;
mod strerror;
mod symver;
mod tables;
