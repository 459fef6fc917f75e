//! The transport ofi: connections over libfabric, by default over TCP.
//!
//! From the outside in: [`adapter`] is the transport that the core calls. An open adapter has a [`device`], which polls, and
//! one [`thread`], which handles connections ([`cm`], [`hello`]). [`conn`] is one end of a connection, [`tx`] and [`rx`] are
//! its directions, [`link`] what both share: libfabric's endpoint and the memory ([`records`]) of the records ([`record`])
//! that go over it, [`bulk`] the bytes of long parts. [`locate`] finds what a configuration names. All calls into libfabric are in [`sys`].

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

mod adapter;
mod bulk;
mod cm;
mod conn;
mod device;
mod hello;
mod link;
mod locate;
mod record;
mod records;
mod rx;
mod sys;
mod thread;
mod tx;

pub use adapter::Ofi;
