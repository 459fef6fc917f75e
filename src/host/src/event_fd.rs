//! An eventfd that wakes the sleeping threads of this process.

#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};

use crate::cancel::Shielded;

/// An eventfd that is readable from [`EventFd::wake`] until [`EventFd::clear`]. It is closed on exec. The descriptor
/// must not be passed to another process, which could make it blocking or clear it.
#[derive(Debug)]
pub struct EventFd {
    fd: Shielded<OwnedFd>,
}

impl EventFd {
    /// Creates an eventfd that is not readable.
    ///
    /// # Errors
    /// The error of the system, for example too many open files.
    pub fn new() -> io::Result<EventFd> {
        Ok(EventFd { fd: Shielded::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?) })
    }

    /// Wakes all threads that sleep on the descriptor. Never blocks: at a full counter, the write fails, but the
    /// descriptor is already readable.
    #[inline]
    pub fn wake(&self) {
        if rustix::io::write(&self.fd, &1_u64.to_ne_bytes()).is_err() {
            self.retry_wake();
        }
    }

    /// Retries, because the error may be temporary, and a sleeping thread would miss the wake-up.
    #[cold]
    fn retry_wake(&self) {
        for _ in 0..8 {
            let mut polled = [PollFd::new(&self.fd, PollFlags::IN)];
            let is_readable = rustix::event::poll(&mut polled, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(1);
            if is_readable || rustix::io::write(&self.fd, &1_u64.to_ne_bytes()).is_ok() {
                return;
            }
        }
    }

    /// Clears the descriptor. Returns whether it was readable.
    #[inline]
    pub fn clear(&self) -> bool {
        rustix::io::read(&self.fd, &mut [0_u8; 8]) == Ok(8)
    }
}

impl AsFd for EventFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests;
