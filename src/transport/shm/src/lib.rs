//! The transport shm: connections between processes of one host, and within a process.
//!
//! The modules, from the interface to core down to the system calls. A few modules also use modules of earlier rows:
//!
//! | module | contents |
//! |---|---|
//! | `adapter` | the transport that the core calls |
//! | `meeting` | the progress thread, links to other processes, connection messages |
//! | `data` | queue pairs, both directions of a connection, copies |
//! | `exposure` | copies by peers from and to this process's memory, and the wait for their end |
//! | `peer_segment` | shared memory of two processes: ready bits, rings, ends of connections |
//! | `attention` | polling, sleeping, and wakeups by peers |
//! | `regions`, `ring`, `os` | the published table of registered memory; a ring; the operating system |
//!
//! docs/dev/architecture.md describes how the modules work together.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adapter;
mod attention;
mod data;
mod exposure;
#[cfg(feature = "fuzzing")]
#[allow(clippy::disallowed_methods, missing_docs, reason = "no product has it")]
pub mod fuzzing;
mod meeting;
mod os;
mod peer_segment;
mod regions;
mod ring;

use attention::{alarm, control_region, guard, hot, ready, sleep, watch};
use data::{budget, claim, conn, copy, offer, record, responses, route, rx, tx, tx_ring};
use exposure::{copy_target, pending, transfers};
use meeting::{cm, link, pending_peers, process_context, process_contexts, thread, wire};

pub use adapter::Shm;
