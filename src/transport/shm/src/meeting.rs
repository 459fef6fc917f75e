//! How processes find each other, and what they tell each other about connections.
//!
//! | module | contents |
//! |---|---|
//! | `process_contexts` | the nodes of the process, one a directory |
//! | `thread`, `pending_peers`, `cm` | the thread of a node; processes that have not said who they are; messages about connections |
//! | `process_context` | the process as its peers in one directory see it: name, links, service points, tasks for the thread |
//! | `link` | a pair of processes, its connections and its socket; the links of a process and their progress |
//! | `census` | what a process tells of its adapters to one that only asks |
//! | `wire` | the messages |

pub mod census;
pub mod cm;
pub mod link;
pub mod pending_peers;
pub mod process_context;
pub mod process_contexts;
pub mod thread;
pub mod wire;
