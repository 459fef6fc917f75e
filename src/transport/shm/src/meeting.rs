//! How processes find each other, and their messages about connections.

pub mod cm;
pub mod link;
pub mod pending_peers;
pub mod process_context;
pub mod process_contexts;
pub mod thread;
pub mod wire;
