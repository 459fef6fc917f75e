//! The parts of the operating system that only this transport needs, behind safe types: shared memory, copies
//! between processes, the directory where processes meet.
//!
//! Most unsafe code of the crate is here. The rest is in [`crate::ring`] and [`crate::regions`], whose records and rows lie
//! in shared memory, in [`crate::adapter`] and [`crate::conn`], which trust the program about the memory that it registers,
//! and in [`crate::nodes`], whose list outlives a fork.

pub mod barrier;
pub mod directory;
pub mod memory;
pub mod task;
#[cfg(test)]
pub mod twin;
pub mod vm;
