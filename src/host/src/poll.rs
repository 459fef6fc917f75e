//! Sleeping on descriptors: on a few of them, or on a set.
//!
//! Neither sleep is a place where `pthread_cancel` may end a thread.

#![forbid(unsafe_code)]

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::time::Duration;

use arrayvec::ArrayVec;
use bitflags::bitflags;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;

use crate::cancel::Shielded;

/// The state that [`wait`] found a descriptor in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polled {
    /// There is something to read.
    pub readable: bool,
    /// The descriptor failed, or its other end is gone.
    pub failed: bool,
}

/// Waits until there is something to read on one of `fds` or `limit` is over; `None` waits without a limit. Finds
/// nothing after a timeout or a signal.
///
/// # Parameters
/// * `fds` - the descriptors to look at; `None` is skipped.
///
/// # Errors
/// The error of the system.
pub fn wait<const N: usize>(fds: [Option<BorrowedFd<'_>>; N], limit: Option<Duration>) -> io::Result<[Polled; N]> {
    let mut entries: ArrayVec<PollFd<'_>, N> =
        fds.into_iter().flatten().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    // A time that is too long for the system counts as no limit.
    let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
    match rustix::event::poll(&mut entries, limit.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok([Polled::default(); N]),
        Err(error) => return Err(error.into()),
    }
    let mut found = entries.iter().map(PollFd::revents);
    Ok(fds.map(|fd| {
        let events = fd.and_then(|_| found.next()).unwrap_or(PollFlags::empty());
        Polled {
            readable: events.contains(PollFlags::IN),
            failed: events.intersects(PollFlags::ERR | PollFlags::HUP | PollFlags::NVAL),
        }
    }))
}

bitflags! {
    /// The conditions to wait for on a descriptor of an [`Epoll`]. Errors and the end of a connection are always
    /// reported.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Interest: u8 {
        /// Something to read.
        const READ = 1;
        /// Room to write.
        const WRITE = 2;
    }
}

impl Interest {
    fn events(self) -> EventFlags {
        let mut events = EventFlags::RDHUP;
        events.set(EventFlags::IN, self.contains(Interest::READ));
        events.set(EventFlags::OUT, self.contains(Interest::WRITE));
        events
    }
}

/// The state of a descriptor that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The token that the descriptor was added with.
    pub token: u64,
    /// There is something to read, or the end of the stream can be found by reading.
    pub readable: bool,
    /// There is room to write.
    pub writable: bool,
    /// The peer has closed its end, or the descriptor failed. Earlier data can still be read.
    pub closed: bool,
}

/// Results of [`Epoll::wait`].
pub struct Events {
    found: Vec<epoll::Event>,
}

impl Events {
    /// Makes room for `capacity` results at a time, at least one.
    #[expect(clippy::disallowed_methods, reason = "a thread of a provider has one")]
    pub fn with_capacity(capacity: usize) -> Events {
        Events { found: Vec::with_capacity(capacity.max(1)) }
    }

    /// The results of the last wait.
    pub fn iter(&self) -> impl Iterator<Item = Ready> + '_ {
        self.found.iter().map(|event| {
            let (events, data) = (event.flags, event.data);
            let over = EventFlags::HUP | EventFlags::ERR | EventFlags::RDHUP;
            Ready {
                token: data.u64(),
                readable: events.intersects(over | EventFlags::IN),
                writable: events.contains(EventFlags::OUT),
                closed: events.intersects(over),
            }
        })
    }
}

/// A set of descriptors to wait for. Its own descriptor can be waited for too.
#[derive(Debug)]
pub struct Epoll {
    fd: Shielded<OwnedFd>,
}

impl Epoll {
    /// Makes an empty set.
    ///
    /// # Errors
    /// The error of the system.
    pub fn new() -> io::Result<Epoll> {
        Ok(Epoll { fd: Shielded::new(epoll::create(epoll::CreateFlags::CLOEXEC)?) })
    }

    /// Adds `fd`. If it has duplicates, it must be deleted before it is closed.
    ///
    /// # Errors
    /// `AlreadyExists`, or another error of the system.
    pub fn add(&self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::add(&self.fd, fd, EventData::new_u64(token), interest.events())?)
    }

    /// Changes the conditions that `fd` is waited for.
    ///
    /// # Errors
    /// `NotFound`, or another error of the system.
    pub fn modify(&self, fd: BorrowedFd<'_>, token: u64, interest: Interest) -> io::Result<()> {
        Ok(epoll::modify(&self.fd, fd, EventData::new_u64(token), interest.events())?)
    }

    /// Removes `fd`.
    ///
    /// # Errors
    /// `NotFound`, or another error of the system.
    pub fn delete(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.fd, fd)?)
    }

    /// Waits until something happens or `timeout` (rounded up to milliseconds, 24 days at most) is over; `None` waits
    /// without a limit. Leaves the results in `events`: none after a timeout or a signal.
    ///
    /// # Errors
    /// The error of the system; `events` is empty then.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let most = Duration::from_millis(i32::MAX as u64);
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout.min(most)).ok());
        events.found.clear();
        match epoll::wait(&self.fd, spare_capacity(&mut events.found), timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(error.into()),
        }
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
    use std::os::unix::net::UnixStream;
    use std::thread;
    use std::time::Instant;

    use super::*;
    use crate::doorbell::Doorbell;

    const NOW: Option<Duration> = Some(Duration::ZERO);
    const LONG: Option<Duration> = Some(Duration::from_secs(20));

    fn tokens(epoll: &Epoll, timeout: Option<Duration>) -> Vec<Ready> {
        let mut events = Events::with_capacity(8);
        epoll.wait(&mut events, timeout).expect("wait");
        events.iter().collect()
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
    fn the_end_of_a_connection_is_told_whatever_is_waited_for() {
        let epoll = Epoll::new().expect("epoll");
        let (here, there) = UnixStream::pair().expect("pair");
        epoll.add(here.as_fd(), 3, Interest::empty()).expect("add");
        rustix::io::write(&there, b"x").expect("write");
        assert_eq!(tokens(&epoll, NOW), []);
        drop(there);
        let ended = tokens(&epoll, LONG);
        assert!(matches!(ended[..], [Ready { token: 3, readable: true, closed: true, .. }]), "{ended:?}");
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
        // This is longer than the system takes, which must not make it an error.
        assert_eq!(tokens(&epoll, Some(Duration::MAX)).len(), 1);
    }

    #[test]
    fn a_few_descriptors_are_told_apart() {
        let bells = [(); 3].map(|()| Doorbell::new().expect("bell"));
        let [one, two, three] = bells.each_ref().map(|bell| Some(bell.as_fd()));
        let quiet = Polled::default();
        let rung = Polled { readable: true, failed: false };
        assert_eq!(wait([one, two, three], NOW).expect("wait"), [quiet; 3]);
        bells[2].ring();
        assert_eq!(wait([one, two, three], LONG).expect("wait"), [quiet, quiet, rung]);
        assert_eq!(wait([one, None, three], LONG).expect("wait"), [quiet, quiet, rung]);
        assert_eq!(wait([one, two, None], NOW).expect("wait"), [quiet; 3]);
        assert_eq!(wait([None, None, three], Some(Duration::MAX)).expect("wait"), [quiet, quiet, rung]);
        let start = Instant::now();
        assert_eq!(wait([one], Some(Duration::from_micros(1500))).expect("wait"), [quiet]);
        assert!(start.elapsed() >= Duration::from_micros(1500));
    }

    #[test]
    fn the_other_end_is_told_to_be_gone() {
        let (here, there) = UnixStream::pair().expect("pair");
        rustix::io::write(&there, b"x").expect("write");
        drop(there);
        let found = wait([Some(here.as_fd())], LONG).expect("wait");
        assert_eq!(found, [Polled { readable: true, failed: true }]);
    }
}
