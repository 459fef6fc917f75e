//! The public interface of libdat.so.1 and libdat2.so.2 behind safe types. The library is the one that is installed, opened
//! when a tool starts, so that a tool tests what programs use.
//!
//! An object keeps what it refers to, and is freed with its last clone: endpoints before dispatchers, all before the adapter.
//! Objects may go to other threads, and be used by several; see [`Ia::open`]. A function fails as the call that it makes; the
//! error names it and the return code, such as `dat_ep_connect: DAT_INVALID_PARAMETER, DAT_INVALID_ARG2`.
//!
//! | module | contents |
//! |---|---|
//! | [`api`], [`library`] | the versions of the interface; finding a library, its functions, the adapters that it lists |
//! | [`udat20`] | the functions of libdat2.so.2 in the form of those of libdat.so.1 |
//! | [`object`] | what all objects have in common |
//! | [`ia`] | interface adapters and their attributes |
//! | [`memory`], [`pattern`] | protection zones, and memory that is registered; bytes that both sides know |
//! | [`evd`], [`event`] | event dispatchers, waiting for several, what comes from them |
//! | [`ep`] | endpoints and shared receive queues |
//! | [`sp`] | service points and connection requests |
//! | [`address`] | addresses in the form that calls take and give |

pub mod address;
pub mod api;
pub mod ep;
pub mod evd;
pub mod event;
pub mod ia;
pub mod library;
pub mod memory;
mod object;
pub mod pattern;
pub mod sp;
pub mod udat20;

pub use api::Api;
pub use ep::{Ep, Evds, Srq};
pub use evd::{Cno, Evd, RawEvent};
pub use event::{Completion, Connection, Event};
pub use ia::{Attributes, Demand, Ia};
pub use library::{Absent, Adapter, Library};
pub use memory::{Pz, Region, Remote, Segment};
pub use pattern::Pattern;
pub use sp::{Cr, Psp};
