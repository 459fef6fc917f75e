//! An event descriptor (eventfd) that wakes the threads of this process that sleep on it.

#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec, eventfd};

use crate::cancel::Shielded;

/// It is readable from when it is rung until it is cleared. It does not outlive an exec.
///
/// It must not be given to another process, which could make it block, and silence it.
#[derive(Debug)]
pub struct EventFd {
    fd: Shielded<OwnedFd>,
}

impl EventFd {
    /// Makes one that is not readable.
    ///
    /// # Errors
    /// The error of the system, for example too many open files.
    pub fn new() -> io::Result<EventFd> {
        Ok(EventFd { fd: Shielded::new(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?) })
    }

    /// Makes the descriptor readable. Never blocks: a bell that cannot be rung again is already ringing.
    #[inline]
    pub fn wake(&self) {
        if rustix::io::write(&self.fd, &1_u64.to_ne_bytes()).is_err() {
            self.ring_again();
        }
    }

    /// A sleeper would miss a ring that an error prevents, which may pass.
    #[cold]
    fn ring_again(&self) {
        for _ in 0..8 {
            let mut rung = [PollFd::new(&self.fd, PollFlags::IN)];
            let rings = rustix::event::poll(&mut rung, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) == Ok(1);
            if rings || rustix::io::write(&self.fd, &1_u64.to_ne_bytes()).is_ok() {
                return;
            }
        }
    }

    /// Silences the bell; returns whether it had been rung.
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
