//! The transport tcp: connections over the kernel's TCP sockets, between hosts without RDMA.
//!
//! Core calls [`adapter`]. An open adapter has a [`device`], which polls, and a progress [`thread`], which connects
//! ([`cm`], [`hello`]). [`conn`] is one end of a connection, [`tx`] and [`rx`] are its directions, [`requests`]
//! executes the peer's requests, [`stream`] is the socket of both directions. [`record`] defines the wire format.
//! [`locate`] finds a configuration's interface. [`socket`] makes all system calls on sockets.

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
