//! The transport shm: connections between processes of one host, and within one.
//!
//! From the outside in; `pair` and `home` also use the rounds of `budget`, and a module may use one above it where that
//! reads better:
//!
//! | module | contents |
//! |---|---|
//! | `adapter`, `nodes` | the transport that the core calls; the nodes of the process, one a directory |
//! | `thread`, `strangers`, `cm`, `watch` | the thread of a node; processes that have not said who they are; messages about connections; looking after data that nobody fetches |
//! | `node` | the process as its peers in one directory see it: name, links, service points, tasks for the thread |
//! | `link` | a pair of processes, its connections and its socket; the links of a process and their progress |
//! | `hot` | the few connections that a polling thread looks at itself |
//! | `conn` | one end of a connection: phase, receives, the receiving direction, the core's sink and behind it the sending direction |
//! | `rx`, `tx`, `srq` | the receiving and the sending direction; the shared receive queue |
//! | `answers`, `outlet` | what the peer asked for; a ring as the side that fills it uses it |
//! | `copy`, `budget`, `record` | moving bytes; how many at a time; the contents of records |
//! | `pending` | waiting for transfers that peers have under way |
//! | `guard` | waking a peer whose program makes no call |
//! | `pair`, `transfers` | the memory of two processes: ready bits, rings, one end of a connection there; the table of transfers under way |
//! | `home`, `alarm`, `door` | what a process publishes: the word that says which thread to wake, the table of regions; the word on which a wait sleeps that sleeps alone; the thread through which peers copy |
//! | `sleep`, `ready` | what these words say, and whom they wake; the ready bits |
//! | `ring`, `offer`, `regions`, `wire`, `word`, `os` | a ring; a part of a message that both sides copy; registered memory; messages; atomic words, of memory or of a model; the operating system |
//!
//! docs/architecture.md describes how the parts work together.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adapter;
mod alarm;
mod answers;
mod budget;
mod cm;
mod conn;
mod copy;
mod door;
#[cfg(feature = "fuzzing")]
#[allow(clippy::disallowed_methods, reason = "no product has it")]
pub mod fuzzing;
mod guard;
mod home;
mod hot;
mod link;
mod node;
mod nodes;
mod offer;
mod os;
mod outlet;
mod pair;
mod pending;
mod ready;
mod record;
mod regions;
mod ring;
mod rx;
mod sleep;
mod srq;
mod strangers;
mod thread;
mod transfers;
mod tx;
mod watch;
mod wire;
mod word;

pub use adapter::Shm;
