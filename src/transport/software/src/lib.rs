//! Registered memory of this process: what every transport needs that copies into and out of it by itself.
//!
//! | module | contents |
//! |---|---|
//! | [`datagrams`] | queue pairs for datagrams, over connections of the transport |
//! | [`objects`] | zones, regions and windows: rows of the table |
//! | [`copy`] | moving bytes between segments of a request and other memory of this process |
//! | [`regions`] | the table of registered memory, and pins, under which it stays |
//! | [`pages`] | whether memory can be registered; memory of the library that returns to the system |
//! | [`user`] | pieces of memory that others may change, and copies that end with the last word |
//!
//! A module uses those below it. The crate knows no peer: a transport says with [`regions::Mirror`] whether peers see
//! the table.
//!
//! Unsafe code is in [`user`], [`pages`], [`regions`] and [`objects`], which trust the program about the memory that it registers.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod copy;
pub mod datagrams;
pub mod objects;
pub mod pages;
pub mod regions;
pub mod user;
