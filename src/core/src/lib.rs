//! Objects and rules of the Direct Access Transport.
//!
//! This crate defines interface adapters, protection zones, memory regions, event dispatchers, endpoints, shared
//! receive queues and service points, and the operations on them in each state. It knows nothing of a C interface: a
//! *face* translates calls into those of this crate and its results into codes. It knows nothing of hardware either: a
//! [`transport::Transport`] moves the bytes.
//!
//! Modules depend on each other from the top of this list to the bottom; those of one item may use each other.
//! `tests-c/layers.sh` reads it:
//!
//! * `open`: opening and closing adapters; [`wait`]: blocking waits; `usual`: the usual path from a post to a dequeue
//! * `sp`, service points and requests; [`ep`], endpoints; `srq`, `rmr`, `lmr`, `evd`, `cno`, `pz`: the other objects; `ia`: the
//!   adapter, as all objects know it; [`transport`]: the contract with what moves the bytes, which reports to objects;
//!   `lmr_table`: the regions of an adapter by context; `rmr_table`: its remote keys; `agent`: calls of programs' agents; `srq_accounting`:
//!   where the buffers of a shared queue are; [`counters`]: what is counted; `waker`: waking a thread that waits; [`probes`]:
//!   places for tracers; `names`: what messages call states and codes
//! * [`event`], [`error`], `ep_state`, `slab`, [`users`], [`addr`], `mem`, `fifo`, `adaptive_spin`, `attached_data`: the types that all of
//!   them use
//!
//! docs/dev/architecture.md says how the parts work together.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adaptive_spin;
pub mod addr;
mod agent;
mod attached_data;
mod cno;
pub mod counters;
pub mod ep;
mod ep_state;
pub mod error;
mod evd;
pub mod event;
mod fifo;
mod ia;
mod lmr;
mod lmr_table;
mod mem;
mod names;
mod open;
pub mod probes;
mod pz;
mod rmr;
mod rmr_table;
mod slab;
mod sp;
mod srq;
mod srq_accounting;
#[cfg(any(test, feature = "testing"))]
#[allow(clippy::disallowed_methods, reason = "no product has it")]
pub mod testing;
pub mod transport;
pub mod users;
mod usual;
pub mod wait;
mod waker;

pub use addr::Comm;
pub use agent::Agent;
pub use attached_data::AttachedData;
pub use cno::Cno;
pub use ep::{Endpoint, EpAttributes, EpParts, EpStatus};
pub use error::{Error, Result};
pub use evd::{Evd, EvdCounts, EvdStatus};
pub use event::{CompletionFlags, Event, Feed, Streams};
pub use ia::{ApiCaps, Ia};
pub use lmr::{Lmr, Memory};
pub use lmr_table::{CheckedSegment, LmrTable, LocalSegment, SegmentList};
pub use mem::{Base, Rights};
pub use open::AsyncEvd;
pub use pz::Pz;
pub use rmr::{Rmr, RmrStatus};
pub use slab::{Cell, FirstCells, Handle, Header, Kind, Object, ObjectGuard, RetiredCell, Slab};
pub use sp::{Cr, Csp, Psp, PspMode, Rsp, ServicePoint};
pub use srq::{Srq, SrqStatus};
pub use transport::Change;
