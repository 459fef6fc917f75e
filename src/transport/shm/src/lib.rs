//! The transport shm: connections between processes of one host, and within one.
//!
//! From the outside in; a module may use one above it where that reads better:
//!
//! | module | contents |
//! |---|---|
//! | `adapter` | the transport that the core calls |
//! | `meeting` | the thread of a process, its links with others, messages about connections |
//! | `data` | one end of a connection, both directions, the copies |
//! | `exposure` | transfers of peers that are under way |
//! | `peer_segment` | the memory of two processes: ready bits, rings, one end of a connection there |
//! | `attention` | who polls, who sleeps, and whom a peer wakes |
//! | `regions`, `ring`, `word`, `os` | the table of registered memory that peers see; a ring; atomic words, of memory or of a model; the operating system |
//!
//! docs/dev/architecture.md describes how the parts work together.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adapter;
mod attention;
mod data;
mod exposure;
#[cfg(feature = "fuzzing")]
#[allow(clippy::disallowed_methods, reason = "no product has it")]
pub mod fuzzing;
mod meeting;
mod os;
mod peer_segment;
mod regions;
mod ring;
mod word;

// The modules of the folders have short paths in this crate.
use attention::{alarm, control_region, guard, hot, ready, sleep, watch};
use data::{budget, claim, conn, copy, offer, record, responses, rx, srq, tx, tx_ring};
use exposure::{copy_target, pending, transfers};
use meeting::{census, cm, link, pending_peers, process_context, process_contexts, thread, wire};

pub use adapter::Shm;
