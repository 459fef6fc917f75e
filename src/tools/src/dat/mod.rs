//! The public interface of libdat.so.1 behind safe types. The library is the one that is installed, opened when a tool starts,
//! so that a tool tests what programs use.
//!
//! An object holds what it refers to, and frees itself with its last owner: endpoints before dispatchers, all before the
//! adapter. Objects may go to other threads, and be used by several; see [`Ia::open`]. Calls return [`Error`], which names
//! the call and the return code. Where a loop must not pay for any of this, each object has its handle (`raw`) and
//! [`Library::calls`] has the functions themselves.
//!
//! | module | contents |
//! |---|---|
//! | [`library`] | finding libdat.so.1, its functions, the adapters that it lists |
//! | [`error`] | return codes as errors |
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
pub mod sp;
pub mod srq;

pub use cno::Cno;
pub use ep::{Ep, Evds};
pub use error::{Error, Result};
pub use evd::Evd;
pub use event::{Completion, Connection, Event};
pub use ia::{Attributes, Demand, Ia};
pub use library::{Adapter, Library, LoadError};
pub use memory::{Pz, Region, Remote, Segment};
pub use sp::{Cr, Psp, Request};
pub use srq::Srq;

/// A handle of the interface, which any thread may pass to a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(transparent)]
struct Handle(dat_udat12::DAT_HANDLE);

// SAFETY: a handle is a name for an object, which this process never reads or writes through it. The calls that take it may be
// made by any thread, since adapters of which that is not true are used by one thread; see `Ia::open`.
unsafe impl Send for Handle {}
// SAFETY: as above.
unsafe impl Sync for Handle {}

impl Handle {
    /// No object yet, for a call that writes one.
    const NULL: Handle = Handle(dat_udat12::DAT_HANDLE_NULL);
}
