//! The transport tcp: connections over the kernel's TCP sockets, between hosts without RDMA.
//!
//! From the outside in: [`adapter`] is the transport that the core calls. An open adapter has a [`device`], which polls, and
//! one progress [`thread`], which makes connections ([`cm`], [`hello`]). [`conn`] is one end of a connection, [`tx`] and [`rx`]
//! are its directions, [`requests`] executes the requests of the peer, and [`stream`] is the socket that the directions share.
//! [`record`] defines the bytes of the stream. [`locate`] finds what a configuration names. All system calls on sockets are in
//! [`socket`].

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adapter;
mod cm;
mod conn;
mod device;
mod hello;
mod locate;
mod record;
mod requests;
mod rx;
mod socket;
mod stream;
mod thread;
mod tx;

pub use adapter::Tcp;

/// The wire protocol, for the fuzzers.
#[cfg(feature = "fuzzing")]
pub mod fuzzing {
    pub use crate::hello::{SIZE as GREETING, Word, encode as greeting};
    pub use crate::record::{HEADER, Header, LARGEST, MAX_WINDOW, MIN_WINDOW, atomic, kind, target};
}
