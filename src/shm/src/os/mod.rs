//! What this transport alone needs of the operating system, behind safe types: shared memory, the
//! program's memory, sockets, copies between processes, the directory where processes meet.
//!
//! Most unsafe code of the crate is here. The rest is in [`crate::ring`], whose records lie in
//! shared memory, in [`crate::regions`] and [`crate::adapter`], which take the program's word for
//! the memory that it registers, and in [`crate::node`], whose list of nodes outlives a fork.

pub mod directory;
pub mod memory;
pub mod pages;
pub mod socket;
#[cfg(test)]
pub mod twin;
pub mod user;
pub mod vm;

use std::io;
use std::os::fd::{FromRawFd, OwnedFd, RawFd};

/// The error that a system call left in `errno`.
fn last_errno() -> i32 {
    io::Error::last_os_error().raw_os_error().unwrap_or(0)
}

/// Takes the result of a call that makes a descriptor.
///
/// # Safety
/// `fd` is negative, or a descriptor that nobody else owns.
unsafe fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: not negative, so the caller vouches that it is ours alone.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Turns the 0 or -1 of a system call into a result.
fn check(result: libc::c_int) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
