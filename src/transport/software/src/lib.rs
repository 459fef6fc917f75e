//! What transports that copy in software share: registered memory of this process, and the execution of records.
//!
//! Modules use modules of their own item and of later items. `tests-c/layers.sh` reads this list.
//!
//! * [`records`]: execution of the peer's messages, writes, immediate values and invalidations; [`qp`]: queue pairs,
//!   their phases and receives, and what each transport adds; [`datagrams`]: datagram queue pairs over connections of
//!   the transport
//! * [`rnr_line`]: the connections that wait for a buffer of an SRQ; [`wire`]: targets and atomic operations in records
//! * [`objects`]: zones, regions and windows, which are rows of the table; [`copy`]: copies between segments and other
//!   memory of this process
//! * [`regions`]: the table of registered memory, and references to its rows; [`pages`]: checks before registration,
//!   and pages that can be unmapped
//! * [`user`]: memory that other threads may change, and copies that store the last word last
//!
//! The crate does not access peers. If a transport has a [`regions::Mirror`], peers can read the table there.
//!
//! Unsafe code is in [`user`], [`pages`], [`regions`] and [`objects`], which rely on the program for registered memory.

#![cfg_attr(not(test), warn(clippy::disallowed_methods))]

pub mod copy;
pub mod datagrams;
pub mod objects;
pub mod pages;
pub mod qp;
pub mod records;
pub mod regions;
pub mod rnr_line;
pub mod user;
pub mod wire;
