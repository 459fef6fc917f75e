//! How processes find each other, and their messages about connections.
//!
//! | module | contents |
//! |---|---|
//! | `process_contexts` | contexts of the process, one per directory |
//! | `thread`, `pending_peers`, `cm` | the progress thread; processes before the handshake; messages about connections |
//! | `process_context` | the process in one directory: name, links, service points, commands |
//! | `link` | a pair of processes, its connections and its socket; all links and their progress |
//! | `census` | data about adapters for dat-info |
//! | `wire` | messages |

pub mod census;
pub mod cm;
pub mod link;
pub mod pending_peers;
pub mod process_context;
pub mod process_contexts;
pub mod thread;
pub mod wire;
