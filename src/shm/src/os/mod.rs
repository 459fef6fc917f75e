//! The parts of the operating system that only this transport needs, behind safe types: shared memory, the program's
//! memory, sockets, copies between processes, the directory where processes meet.
//!
//! Most unsafe code of the crate is here. The rest is in [`crate::ring`], whose records lie in shared memory, in
//! [`crate::regions`], [`crate::adapter`] and [`crate::conn`], which trust the program about the memory that it registers,
//! and in [`crate::nodes`], whose list outlives a fork.

pub mod barrier;
pub mod directory;
pub mod memory;
pub mod pages;
pub mod socket;
pub mod task;
#[cfg(test)]
pub mod twin;
pub mod user;
pub mod vm;
