//! Objects and rules of the Direct Access Transport.
//!
//! This crate knows what interface adapters, protection zones, memory regions, event
//! dispatchers, endpoints, shared receive queues and service points are and what may be
//! done with them in which state. It knows nothing of a C interface: a *face* (uDAPL 1.2)
//! translates calls into those of this crate and its results into codes. It knows
//! nothing of hardware either: a [`transport::Transport`] moves the bytes.
//!
//! docs/architecture.md tells how the parts work together.

pub mod addr;
mod agent;
mod cno;
pub mod ep;
pub mod error;
mod evd;
pub mod event;
mod ia;
mod lmr;
mod mem;
mod pz;
mod rmr;
mod slab;
mod sp;
mod srq;
pub mod transport;
pub mod users;
pub mod wait;
mod waker;

pub use agent::Agent;
pub use cno::Cno;
pub use ep::{Endpoint, EpAttributes, EpParts, EpStatus};
pub use error::{Error, Result};
pub use evd::{Evd, EvdStatus, Feed, Streams};
pub use event::Event;
pub use ia::{AsyncEvd, Ia};
pub use lmr::{Lmr, LmrTable, LocalSegment, Memory};
pub use mem::Rights;
pub use pz::Pz;
pub use rmr::{Rmr, RmrStatus};
pub use slab::{Handle, Header, Held, Kind, Object, Slab};
pub use sp::{Cr, Psp, PspMode, Rsp, ServicePoint};
pub use srq::{Srq, SrqStatus};
