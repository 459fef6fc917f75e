//! The transport tcp: connections over the kernel's TCP sockets, between hosts without RDMA.
//!
//! Each module uses only modules of its own item in this list and of later items. `tests-c/layers.sh` reads this list.
//!
//! * [`adapter`]: the transport that core calls
//! * [`thread`]: the progress thread of an open adapter
//! * [`cm`]: connection requests and attempts; [`poll`]: the poll, and deferred work
//! * [`device`]: the state of an open adapter; [`handshakes`]: its sockets that do not carry records; [`conn`]: one end
//!   of a connection
//! * [`rx`]: the receiving direction of a connection
//! * [`requests`]: execution of the peer's requests
//! * [`tx`]: the sending direction
//! * [`stream`]: the socket of both directions
//! * [`hello`], [`record`]: the wire format; [`locate`]: finds the network interface of a configuration entry;
//!   [`socket`]: all system calls on sockets

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adapter;
mod cm;
mod conn;
mod device;
mod handshakes;
mod hello;
mod locate;
mod poll;
mod record;
mod requests;
mod rx;
mod socket;
mod stream;
mod thread;
mod tx;

pub use adapter::Tcp;

/// The wire protocol, for fuzz targets.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    pub use crate::hello::{SIZE as GREETING, Terms, encode as greeting};
    pub use crate::record::{HEADER, Header, MAX_WINDOW, MIN_WINDOW, kind};
    pub use dat_software::wire::{LARGEST, atomic, target};
}
