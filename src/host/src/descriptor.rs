//! Flags of descriptors that other libraries or processes have made.

#![forbid(unsafe_code)]

use std::io;
use std::os::fd::BorrowedFd;

use rustix::fs::{OFlags, fcntl_getfl, fcntl_setfl};
use rustix::io::{FdFlags, fcntl_getfd, fcntl_setfd};

/// Makes calls on `fd` return at once where they would wait.
///
/// # Errors
/// The error of the system.
pub fn never_block(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = fcntl_getfl(fd)?;
    if !flags.contains(OFlags::NONBLOCK) {
        fcntl_setfl(fd, flags | OFlags::NONBLOCK)?;
    }
    Ok(())
}

/// Makes the system close `fd` when an exec replaces the process.
///
/// # Errors
/// The error of the system.
pub fn close_on_exec(fd: BorrowedFd<'_>) -> io::Result<()> {
    let flags = fcntl_getfd(fd)?;
    Ok(fcntl_setfd(fd, flags | FdFlags::CLOEXEC)?)
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsFd;

    use rustix::event::{EventfdFlags, eventfd};

    use super::*;

    #[test]
    fn flags_are_added_to_those_there_are() {
        let fd = eventfd(0, EventfdFlags::empty()).expect("eventfd");
        let before = fcntl_getfl(&fd).expect("flags");
        for _ in 0..2 {
            never_block(fd.as_fd()).expect("flags");
            close_on_exec(fd.as_fd()).expect("flags");
            assert_eq!(fcntl_getfl(&fd), Ok(before | OFlags::NONBLOCK));
            assert_eq!(fcntl_getfd(&fd), Ok(FdFlags::CLOEXEC));
        }
        assert_eq!(rustix::io::read(&fd, &mut [0; 8]), Err(rustix::io::Errno::AGAIN));
    }
}
