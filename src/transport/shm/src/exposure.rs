//! Memory that peers access, and how a process revokes the access.

pub mod copy_target;
pub mod pending;
pub mod transfers;
