//! Registered memory of this process, for transports that copy in software.
//!
//! | module | contents |
//! |---|---|
//! | [`datagrams`] | datagram queue pairs over connections of the transport |
//! | [`objects`] | zones, regions and windows: rows of the table |
//! | [`copy`] | copies between segments and other memory of this process |
//! | [`regions`] | the table of registered memory, and references to its rows |
//! | [`pages`] | checks before registration; pages that can be unmapped |
//! | [`user`] | memory that other threads may change; copies that store the last word last |
//!
//! A module uses those below it. The crate knows no peer: a transport's [`regions::Mirror`] shows peers the table.
//!
//! Unsafe code is in [`user`], [`pages`], [`regions`] and [`objects`], which rely on the program for registered memory.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod copy;
pub mod datagrams;
pub mod objects;
pub mod pages;
pub mod regions;
pub mod user;
