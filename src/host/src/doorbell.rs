//! A bell that wakes the threads that sleep on it, in this process or in another.

#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

use rustix::event::{EventfdFlags, eventfd};

use crate::descriptor::never_block;

/// An event descriptor. Anybody may ring it, and it is readable until it is cleared. It does not outlive an exec.
#[derive(Debug)]
pub struct Doorbell {
    fd: OwnedFd,
}

impl Doorbell {
    /// Makes a silent doorbell.
    ///
    /// # Errors
    /// The error of the system, for example too many open files.
    pub fn new() -> io::Result<Doorbell> {
        Ok(Doorbell { fd: eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)? })
    }

    /// Takes the doorbell that a peer has sent. It may only be rung, because the peer controls its counter. (A peer can
    /// make it block again and so hold up a thread that rings it, but it can do so by other means as well, because it
    /// runs as the same user.)
    ///
    /// # Errors
    /// `InvalidData` if it is anything but an event descriptor; otherwise the error of the system.
    pub fn from_peer(fd: OwnedFd) -> io::Result<Doorbell> {
        let link = fs::read_link(format!("/proc/thread-self/fd/{}", fd.as_raw_fd()))?;
        if link.as_os_str() != "anon_inode:[eventfd]" {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the peer's doorbell is not an eventfd"));
        }
        never_block(fd.as_fd())?;
        Ok(Doorbell { fd })
    }

    /// Makes the descriptor readable. Never blocks: a bell that cannot be rung again is already ringing.
    #[inline]
    pub fn ring(&self) {
        let _ = rustix::io::write(&self.fd, &1_u64.to_ne_bytes());
    }

    /// Silences the bell; returns whether it had been rung.
    #[inline]
    pub fn clear(&self) -> bool {
        rustix::io::read(&self.fd, &mut [0_u8; 8]) == Ok(8)
    }
}

impl AsFd for Doorbell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Doorbell {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use crate::poll::Epoll;

    use super::*;

    #[test]
    fn a_bell_rings_until_it_is_cleared() {
        let bell = Doorbell::new().expect("bell");
        assert!(!bell.clear());
        bell.ring();
        bell.ring();
        assert!(bell.clear());
        assert!(!bell.clear());
    }

    #[test]
    fn a_bell_that_is_full_does_not_block() {
        let bell = Doorbell::new().expect("bell");
        let most = u64::MAX - 1;
        assert_eq!(rustix::io::write(&bell, &most.to_ne_bytes()), Ok(8));
        bell.ring();
        assert!(bell.clear());
    }

    #[test]
    fn only_event_descriptors_are_taken_from_peers() {
        let bell = Doorbell::new().expect("bell");
        let peer = Doorbell::from_peer(bell.as_fd().try_clone_to_owned().expect("dup")).expect("an eventfd");
        peer.ring();
        assert!(bell.clear());
        let file: OwnedFd = tempfile::tempfile().expect("file").into();
        assert_eq!(Doorbell::from_peer(file).expect_err("a file").kind(), io::ErrorKind::InvalidData);
        let epoll = Epoll::new().expect("epoll");
        assert!(Doorbell::from_peer(epoll.as_fd().try_clone_to_owned().expect("dup")).is_err());
        let blocking = eventfd(0, EventfdFlags::CLOEXEC).expect("eventfd");
        let bell = Doorbell::from_peer(blocking).expect("an eventfd");
        assert!(!bell.clear(), "must not block");
    }
}
