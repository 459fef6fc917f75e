//! Descriptors to sleep on.

use std::fs;
use std::io;
use std::ops::BitOr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use super::{check, last_errno, owned};

/// An event descriptor: rung by anybody, heard by who sleeps on it.
#[derive(Debug)]
pub struct Doorbell {
    fd: OwnedFd,
}

impl Doorbell {
    /// Makes one that is silent.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<Doorbell> {
        // SAFETY: numbers alone; the descriptor is new.
        let fd = unsafe { owned(libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK)) }?;
        Ok(Doorbell { fd })
    }

    /// Takes the doorbell that a peer has sent. To be rung only: what it counts is the
    /// peer's. (A peer can make it block again and so hold up who rings it, as it could
    /// by other means, for it runs as the same user.)
    ///
    /// # Errors
    /// `InvalidData` if it is anything but an event descriptor; what the system says.
    pub fn from_peer(fd: OwnedFd) -> io::Result<Doorbell> {
        let link = fs::read_link(format!("/proc/self/fd/{}", fd.as_raw_fd()))?;
        if link.as_os_str() != "anon_inode:[eventfd]" {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the peer's doorbell is not an eventfd"));
        }
        // SAFETY: numbers alone.
        let flags = unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) };
        check(flags)?;
        if flags & libc::O_NONBLOCK == 0 {
            // SAFETY: numbers alone.
            check(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags | libc::O_NONBLOCK) })?;
        }
        Ok(Doorbell { fd })
    }

    /// Makes the descriptor readable. Never blocks: a bell that cannot be rung again is
    /// ringing already.
    #[inline]
    pub fn ring(&self) {
        let one = 1_u64;
        // SAFETY: writes 8 bytes from a live variable.
        let _ = unsafe { libc::write(self.fd.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    /// Makes it silent; returns whether it had been rung.
    #[inline]
    pub fn clear(&self) -> bool {
        let mut count = 0_u64;
        // SAFETY: reads 8 bytes into a live variable; the descriptor does not block.
        unsafe { libc::read(self.fd.as_raw_fd(), (&raw mut count).cast(), 8) == 8 }
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

/// What to wait for on a descriptor. Errors and the end of a connection are always told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interest(u32);

impl Interest {
    /// Nothing but errors and the end.
    pub const NONE: Interest = Interest(libc::EPOLLRDHUP as u32);
    /// Something to read.
    pub const READ: Interest = Interest(libc::EPOLLIN as u32 | libc::EPOLLRDHUP as u32);
    /// Room to write.
    pub const WRITE: Interest = Interest(libc::EPOLLOUT as u32 | libc::EPOLLRDHUP as u32);
}

impl BitOr for Interest {
    type Output = Interest;

    fn bitor(self, other: Interest) -> Interest {
        Interest(self.0 | other.0)
    }
}

/// What happened on a descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// What the descriptor was added with.
    pub token: u64,
    /// There is something to read, or the end to find by reading.
    pub readable: bool,
    /// There is room to write.
    pub writable: bool,
    /// The peer has closed its end, or the descriptor failed. What came before can
    /// still be read.
    pub closed: bool,
}

/// Results of [`Epoll::wait`].
pub struct Events {
    buffer: Vec<libc::epoll_event>,
    count: usize,
}

impl Events {
    /// Room for `capacity` results, at least one, at a time.
    pub fn with_capacity(capacity: usize) -> Events {
        Events { buffer: vec![libc::epoll_event { events: 0, u64: 0 }; capacity.max(1)], count: 0 }
    }

    /// The results of the last wait.
    pub fn iter(&self) -> impl Iterator<Item = Ready> + '_ {
        self.buffer.iter().take(self.count).map(|event| {
            let (bits, token) = (event.events, event.u64);
            let any = |mask: libc::c_int| bits & mask as u32 != 0;
            Ready {
                token,
                readable: any(libc::EPOLLIN | libc::EPOLLHUP | libc::EPOLLERR | libc::EPOLLRDHUP),
                writable: any(libc::EPOLLOUT),
                closed: any(libc::EPOLLHUP | libc::EPOLLERR | libc::EPOLLRDHUP),
            }
        })
    }
}

/// A set of descriptors to wait for. Its own descriptor can be waited for too.
#[derive(Debug)]
pub struct Epoll {
    fd: OwnedFd,
}

impl Epoll {
    /// Makes an empty set.
    ///
    /// # Errors
    /// What the system says.
    pub fn new() -> io::Result<Epoll> {
        // SAFETY: a number; the descriptor is new.
        let fd = unsafe { owned(libc::epoll_create1(libc::EPOLL_CLOEXEC)) }?;
        Ok(Epoll { fd })
    }

    fn control(&self, what: libc::c_int, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        let mut event = libc::epoll_event { events: interest.0, u64: token };
        // SAFETY: reads a live structure.
        check(unsafe { libc::epoll_ctl(self.fd.as_raw_fd(), what, fd.as_raw_fd(), &raw mut event) })
    }

    /// Adds `fd`, which is to be deleted before it is closed if it has duplicates.
    ///
    /// # Errors
    /// `AlreadyExists`, or what the system says.
    pub fn add(&self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_ADD, fd, token, interest)
    }

    /// Changes what `fd` is waited for.
    ///
    /// # Errors
    /// `NotFound`, or what the system says.
    pub fn modify(&self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_MOD, fd, token, interest)
    }

    /// Takes `fd` out.
    ///
    /// # Errors
    /// `NotFound`, or what the system says.
    pub fn delete(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        self.control(libc::EPOLL_CTL_DEL, fd, 0, Interest::NONE)
    }

    /// Waits until something happens or `timeout` (rounded up to milliseconds) is over;
    /// `None` has no end. Leaves the results in `events`: none after a timeout or a signal.
    ///
    /// # Errors
    /// What the system says; `events` is empty then.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let timeout = timeout.map_or(-1, |timeout| {
            libc::c_int::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(libc::c_int::MAX)
        });
        let room = libc::c_int::try_from(events.buffer.len()).unwrap_or(libc::c_int::MAX);
        events.count = 0;
        // SAFETY: writes at most `room` entries of the live buffer.
        let count = unsafe { libc::epoll_wait(self.fd.as_raw_fd(), events.buffer.as_mut_ptr(), room, timeout) };
        match usize::try_from(count) {
            Ok(count) => events.count = count,
            Err(_) if last_errno() == libc::EINTR => {}
            Err(_) => return Err(io::Error::last_os_error()),
        }
        Ok(())
    }
}

impl AsFd for Epoll {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Epoll {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Instant;

    use super::*;

    const NOW: Option<Duration> = Some(Duration::ZERO);
    const LONG: Option<Duration> = Some(Duration::from_secs(20));

    fn tokens(epoll: &Epoll, timeout: Option<Duration>) -> Vec<Ready> {
        let mut events = Events::with_capacity(8);
        epoll.wait(&mut events, timeout).expect("wait");
        events.iter().collect()
    }

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
        // SAFETY: writes 8 bytes from a live variable.
        assert_eq!(unsafe { libc::write(bell.as_raw_fd(), (&raw const most).cast(), 8) }, 8);
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
        // SAFETY: numbers alone; the descriptor is new.
        let blocking = unsafe { owned(libc::eventfd(0, libc::EFD_CLOEXEC)) }.expect("eventfd");
        let bell = Doorbell::from_peer(blocking).expect("an eventfd");
        assert!(!bell.clear(), "must not block");
    }

    #[test]
    fn epoll_tells_what_happened_where() {
        let epoll = Epoll::new().expect("epoll");
        let (one, two) = (Doorbell::new().expect("bell"), Doorbell::new().expect("bell"));
        epoll.add(one.as_fd(), 1, Interest::READ).expect("add");
        epoll.add(two.as_fd(), u64::MAX, Interest::READ).expect("add");
        assert_eq!(epoll.add(one.as_fd(), 1, Interest::READ).expect_err("twice").kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(tokens(&epoll, NOW), []);
        two.ring();
        let ready = Ready { token: u64::MAX, readable: true, writable: false, closed: false };
        assert_eq!(tokens(&epoll, LONG), [ready]);
        epoll.modify(two.as_fd(), 5, Interest::READ | Interest::WRITE).expect("modify");
        assert_eq!(tokens(&epoll, LONG), [Ready { token: 5, writable: true, ..ready }]);
        epoll.delete(two.as_fd()).expect("delete");
        assert_eq!(epoll.delete(two.as_fd()).expect_err("twice").kind(), io::ErrorKind::NotFound);
        assert_eq!(tokens(&epoll, NOW), []);
    }

    #[test]
    fn waiting_ends_by_time_and_by_ringing() {
        let epoll = Epoll::new().expect("epoll");
        let bell = Doorbell::new().expect("bell");
        epoll.add(bell.as_fd(), 1, Interest::READ).expect("add");
        let start = Instant::now();
        assert_eq!(tokens(&epoll, Some(Duration::from_micros(1500))), []);
        assert!(start.elapsed() >= Duration::from_micros(1500));
        thread::scope(|scope| {
            scope.spawn(|| bell.ring());
            assert_eq!(tokens(&epoll, LONG).len(), 1);
        });
    }
}
