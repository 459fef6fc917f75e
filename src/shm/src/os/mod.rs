//! What this transport alone needs of the operating system, behind safe types: shared memory, the
//! program's memory, sockets, copies between processes, the directory where processes meet.
//!
//! Most unsafe code of the crate is here. The rest is in [`crate::ring`], whose records lie in
//! shared memory, in [`crate::regions`] and [`crate::adapter`], which take the program's word for
//! the memory that it registers, and in [`crate::nodes`], whose list outlives a fork.

pub mod directory;
pub mod memory;
pub mod pages;
pub mod socket;
#[cfg(test)]
pub mod twin;
pub mod user;
pub mod vm;
