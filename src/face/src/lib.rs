//! The parts that all versions of the C interface share.
//!
//! A *face* is the side of the core that a C program sees. It is made of a [`Version`] of the interface, which knows C
//! structures and return codes, and a transport; a provider library ties them together by implementing [`Face`] for a
//! type of its own. This crate has the parts that depend on neither:
//!
//! | module | contents |
//! |---|---|
//! | [`handle`] | handles as a program holds them, and the objects behind them |
//! | [`call`] | the frame around each call: panics, cancellation, faults and their return codes |
//! | [`ptr`] | the program's pointers for input and output |
//! | [`wait`] | the calls that block, which a cancelled thread can leave |
//! | [`registration`] | the adapters that the library was initialised for |
//! | [`fork`] | the state after a fork |
//!
//! # Panics and cancellation
//! A slow call runs in [`call::slow`], where a panic becomes a return code. A fast call runs in [`call::fast`],
//! which does not catch a panic; nothing that a program or a peer does makes it panic. The thread cannot be cancelled in either of them, but it can while it sleeps in
//! [`wait`].

pub mod call;
pub mod fork;
pub mod handle;
pub mod ptr;
pub mod registration;
pub mod wait;

use std::ffi::c_char;

use dat_core::event::Completion;
use dat_core::transport::Transport;
use dat_core::{Event, Handle};

use crate::ptr::Out;

pub use call::{Answer, At, Fault, Positions};
pub use handle::{Adapter, Domain, RawHandle};

/// A return code of the C interface.
pub type Code = u32;

/// A count of the C interface.
pub type Count = i32;

/// A count in the form of the interface. A number that does not fit becomes the largest count.
pub fn count(count: usize) -> Count {
    Count::try_from(count).unwrap_or(Count::MAX)
}

/// The return code of a successful call, in every version.
pub const SUCCESS: Code = 0;

/// A version of the C interface: its table of functions, its events, its return codes.
pub trait Version: Sized + 'static {
    /// The table through which programs and registries call a provider. The first word behind every handle is the
    /// address of one.
    type Table: Send + Sync + 'static;

    /// An event in the form that the program gets.
    type Event;

    /// The table of the adapter called `device_name`, over the face `F`. The name stays in place while the table is
    /// used.
    fn table<F: Face<Version = Self>>(device_name: *const c_char) -> Self::Table;

    /// Writes the C form of the end of a transfer that was taken from the dispatcher `evd`.
    fn completion(out: Out<Self::Event>, evd: Handle, completion: &Completion);

    /// Writes the C form of an event that was taken from the dispatcher `evd`.
    fn event<F: Face<Version = Self>>(out: Out<Self::Event>, evd: Handle, event: Event);

    /// The return code of a call that finds a queue empty: of [`dat_core::Error::QueueEmpty`].
    const QUEUE_EMPTY: Code;

    /// The return code of a fault, which is never [`SUCCESS`].
    fn code(fault: Fault) -> Code;
}

/// A version over a transport, with the place where one provider library keeps its handles. Each library implements it
/// once, for a type without values.
pub trait Face: Sized + 'static {
    /// The transport, which moves the bytes.
    type Transport: Transport;

    /// The version, which the program sees.
    type Version: Version;

    /// All handles of the provider library.
    fn domain() -> &'static Domain<Self>;
}
