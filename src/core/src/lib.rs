//! Objects and rules of the Direct Access Transport.
//!
//! This crate defines the objects and their operations in each state, independent of the C API and of the hardware. The
//! API layer translates calls and results; a [`transport::Transport`] moves the bytes.
//!
//! A module uses only modules of its own list item and of later items. `tests-c/layers.sh` reads this list. The script
//! ignores `pub use`, by which [`transport`] re-exports the sinks of objects.
//!
//! * `open`: opening and closing adapters; `snapshot`: snapshots for tools; [`wait`]: blocking waits; `usual`: the fast
//!   path from a post to a dequeue
//! * `sp`: service points and requests
//! * `ep`: endpoints
//! * `srq`, `rmr`: objects that endpoints use
//! * `lmr`: local regions
//! * `pz`, `ah`: protection zones, address handles
//! * `evd`, `cno`: event dispatchers and their notification objects; `ia`: the adapter, which also queues asynchronous
//!   events
//! * `agent`: agents of CNOs; `waker`: wakers of sleeping threads; [`counters`]; `srq_accounting`: the buffers of an
//!   SRQ; `rmr_table`: remote keys; `names`: names of states and codes in log messages
//! * `transport`: the contract with transports; `lmr_table`: local regions by context; [`probes`]: USDT probes
//! * [`event`], [`error`], `ep_state`, `arena`, [`users`], [`addr`], `mem`, `fifo`, `adaptive_spin`, `attached_data`:
//!   types that any module may use
//!
//! docs/dev/architecture.md describes how the parts work together.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adaptive_spin;
pub mod addr;
mod agent;
mod ah;
mod arena;
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
mod snapshot;
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
pub use ah::{Ah, Claim};
pub use arena::{Arena, Cell, Handle, Header, Kind, Object, ObjectGuard, RetiredCell};
pub use attached_data::AttachedData;
pub use cno::Cno;
pub use ep::{Endpoint, EpAttributes, EpParts, EpStatus};
pub use error::{Error, Result};
pub use evd::{Evd, EvdCounts, EvdStatus};
pub use event::{CompletionFlags, Event, Feed, Streams};
pub use ia::{ApiCaps, Ia};
pub use lmr::{Lmr, Memory};
pub use lmr_table::{CheckedSegment, LmrTable, LocalSegment, SegmentList, Writable};
pub use mem::{Base, Rights};
pub use open::AsyncEvd;
pub use pz::Pz;
pub use rmr::{Rmr, RmrStatus};
pub use sp::{Cr, Csp, Psp, PspMode, Rsp, ServicePoint};
pub use srq::{Srq, SrqStatus};
pub use transport::Change;
