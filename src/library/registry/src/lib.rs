//! The registry of interface adapters (IAs).
//!
//! A program names an IA; the registry finds the entry for that name, loads the provider library behind it, and counts
//! its users. Nothing here depends on a version of the uDAPL interface: the version numbers, the thread safety and the
//! table of functions are plain data, and the few calls that a version defines (a provider's init and fini) come in
//! through [`Backend`].
//!
//! | module | contents |
//! |---|---|
//! | [`conf`] | the text of dat.conf: tokens, lines, entries, bad lines, what instance data name |
//! | [`file`] | reading a configuration file: regular ones only, and within limits |
//! | [`search`] | the choice of the file to read, and the fallback when there is none |
//! | [`step`] | the steps of that, for those who want to see them |
//! | [`builtin`] | the entries that need no configuration |
//! | [`select`] | the choice of the entry that serves a request, or the criterion that failed |
//! | [`Registry`] | adapters, reference counts, loading and undoing |
//! | [`loader`] | the dynamic loader; the only module here with much `unsafe` code |
//!
//! # Locks
//! One mutex guards the entries. It is never held while a library is loaded or while a provider's
//! function runs, so a provider may call back into the registry from its constructor, its init and
//! its fini. A thread that needs an entry on which another thread is working sleeps until it is
//! done.

pub mod builtin;
pub mod conf;
mod entry;
pub mod file;
pub mod loader;
mod registry;
pub mod search;
pub mod select;
pub mod step;

pub use entry::{Api, Entry, Identity, Interface, Origin, ProviderVersion, Version};
pub use registry::{
    AddError, Backend, EntriesGuard, InitError, LoadFailure, OpenError, Opening, Purpose, Registry, RemoveError,
    Snapshot, Ticket,
};
pub use select::{Missing, Request};
