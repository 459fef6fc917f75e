//! Flags of descriptors that other libraries or processes created.

#![forbid(unsafe_code)]

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};

/// Sets O_NONBLOCK, also for other descriptors of the same open file.
pub fn never_block(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = fcntl_getfl(fd)?;
    if !flags.contains(OFlags::NONBLOCK) {
        fcntl_setfl(fd, flags | OFlags::NONBLOCK)?;
    }
    Ok(())
}

/// Sets FD_CLOEXEC, so that programs which this process executes do not inherit the descriptor.
pub fn close_on_exec(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = fcntl_getfd(fd)?;
    Ok(fcntl_setfd(fd, flags | FdFlags::CLOEXEC)?)
}

#[cfg(test)]
mod tests;
