//! The registry of interface adapters (IAs).
//!
//! The registry finds the entry with the name of an IA, loads its provider library, and counts its users. It calls
//! providers through [`Backend`], so it does not depend on a version.
//!
//! * [`conf`]: the parser of dat.conf and of instance data
//! * [`mod@file`]: bounded reads of files
//! * [`search`], [`step`]: the search for the configuration, and its steps
//! * [`builtin`]: the entries that need no configuration
//! * [`select`]: the choice of the entry for a request
//! * [`Registry`]: adapters, reference counts, loading
//! * [`loader`]: the dynamic loader
//!
//! # Locks
//! One mutex protects the entries. It is free while a library is loaded or a provider's function runs, so a provider
//! may call the registry. A thread sleeps while another works on the entry that it needs.

pub mod builtin;
pub mod conf;
mod entry;
pub mod file;
pub mod loader;
mod registry;
pub mod search;
pub mod select;
pub mod step;

pub use entry::{Api, Entry, Identity, Interface, Origin, Version};
pub use registry::{
    AddError, Backend, EntriesGuard, InitError, LoadFailure, OpenError, Opening, Purpose, Registry, RemoveError,
    Snapshot, Ticket,
};
pub use select::{Missing, Request};
