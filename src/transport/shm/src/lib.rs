//! The transport shm: connections between processes of one host, and within a process.
//!
//! The modules, from the outside in; a few use modules above them:
//!
//! | module | contents |
//! |---|---|
//! | `adapter` | the transport that the core calls |
//! | `meeting` | the progress thread, links to other processes, connection messages |
//! | `data` | ends of connections, both directions, copies |
//! | `exposure` | transfers of peers in flight |
//! | `peer_segment` | shared memory of two processes: ready bits, rings, ends of connections |
//! | `attention` | polling, sleeping, and wakeups by peers |
//! | `regions`, `ring`, `os` | the published table of registered memory; a ring; the operating system |
//!
//! docs/dev/architecture.md describes how the parts work together.

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
