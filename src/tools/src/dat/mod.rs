//! The public interface of libdat.so.1 behind safe types. The library is the one that is installed, opened when a tool starts,
//! so that a tool tests what programs use.
//!
//! An object holds what it refers to, and frees itself with its last owner: endpoints before dispatchers, all before the
//! adapter. Objects may go to other threads, and be used by several; see [`Ia::open`]. A function fails as the call that it
//! makes; the [`error::Error`] names it and the return code. Where a loop must not pay for any of this, each object has its handle (`raw`) and
//! [`Library::calls`] has the functions themselves.
//!
//! | module | contents |
//! |---|---|
//! | [`library`] | finding libdat.so.1, its functions, the adapters that it lists |
//! | [`error`], [`object`] | return codes as errors; what all objects have in common |
//! | [`ia`] | interface adapters and their attributes |
//! | [`memory`] | protection zones, and memory that is registered |
//! | [`evd`], [`event`], [`cno`] | event dispatchers, what comes from them, waiting for several |
//! | [`ep`], [`srq`] | endpoints and shared receive queues |
//! | [`sp`] | service points and connection requests |
//! | [`address`] | addresses in the form that calls take and give |

pub mod address;
pub mod cno;
pub mod ep;
pub mod error;
pub mod evd;
pub mod event;
pub mod ia;
pub mod library;
pub mod memory;
mod object;
pub mod sp;
pub mod srq;

pub use cno::Cno;
pub use ep::{Ep, Evds};
pub use error::Result;
pub use evd::Evd;
pub use event::{Completion, Connection, Event};
pub use ia::{Attributes, Demand, Ia};
pub use library::{Adapter, Library};
pub use memory::{Pz, Region, Remote, Segment};
pub use sp::{Cr, Psp};
pub use srq::Srq;
