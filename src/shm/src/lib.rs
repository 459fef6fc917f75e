//! The transport shm: connections between processes of one host, and within one.
//!
//! From the outside in: `adapter` is the transport that the core calls. A `node` is this process as its peers see it,
//! with one `thread`, which handles messages about connections (`cm`) and keeps a `watch` over arrived data. A `link` is
//! a pair of processes, a `conn` one end of a connection, with a sending (`tx`) and a receiving (`rx`) direction; `copy`
//! moves the bytes. All of these work on memory that processes show to each other: `home` is the memory that a process
//! publishes, with its registered `regions`, `alarm` the word that a blocked waiter sleeps on, `guard` what wakes a peer that makes no call, `pair` the memory that two of them share, where a `ring` carries `record`s.
//! docs/architecture.md describes all of this, and the order in which modules may use each other.

mod adapter;
mod alarm;
mod answers;
mod budget;
mod cm;
mod conn;
mod copy;
mod door;
#[cfg(feature = "fuzzing")]
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

pub use adapter::Shm;
