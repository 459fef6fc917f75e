//! The parts of the operating system that only this transport needs, as safe types.
//!
//! This directory has most of the crate's unsafe code. The rest is in [`crate::ring`] and [`crate::regions`], whose
//! records and rows are in shared memory, and in [`crate::adapter`] and [`crate::process_contexts`], because of forks.

pub mod barrier;
pub mod directory;
pub mod memory;
pub mod task;
pub mod timer;
#[cfg(test)]
pub mod twin;
pub mod vm;
