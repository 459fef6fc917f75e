//! Sleeping on descriptors: a few, or a set. No function here is a cancellation point.

#![forbid(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use arrayvec::ArrayVec;
use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::thread::nanosleep;

use crate::cancel::Shielded;

/// The state of a descriptor after [`wait`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Polled {
    /// Data can be read.
    pub readable: bool,
    /// The descriptor failed, or its other end has closed.
    pub failed: bool,
}

/// Maximum sleep instead of a poll(2) that is impossible.
const MAX_PAUSE: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// Waits until one of `fds` is readable or has failed, for at most `limit`. Skips `None`. Reports nothing after a
/// timeout or a signal.
pub fn wait<const N: usize>(fds: [Option<BorrowedFd<'_>>; N], limit: Option<Duration>) -> io::Result<[Polled; N]> {
    let mut entries: ArrayVec<PollFd<'_>, N> =
        fds.into_iter().flatten().map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    // An overlong duration counts as no limit.
    let timeout = limit.and_then(|limit| Timespec::try_from(limit).ok());
    match rustix::event::poll(&mut entries, timeout.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok([Polled::default(); N]),
        // The limit of open files is below the number of descriptors. Sleeps instead, and the caller checks again.
        Err(Errno::INVAL) => {
            let _ = nanosleep(&timeout.map_or(MAX_PAUSE, |timeout| timeout.min(MAX_PAUSE)));
            return Ok([Polled::default(); N]);
        }
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

/// A descriptor that is ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ready {
    /// The token from [`Epoll::add`].
    pub token: u64,
    /// Data, or the end of the stream, can be read.
    pub readable: bool,
    /// Data can be written.
    pub writable: bool,
}

/// Results of [`Epoll::wait`].
pub struct Events {
    found: Vec<epoll::Event>,
}

impl Events {
    /// Creates a list for `capacity` results per wait, at least one.
    #[expect(clippy::disallowed_methods, reason = "a thread of a provider has one")]
    pub fn with_capacity(capacity: usize) -> Events {
        Events { found: Vec::with_capacity(capacity.max(1)) }
    }

    /// Returns the results of the last wait.
    pub fn iter(&self) -> impl Iterator<Item = Ready> + '_ {
        self.found.iter().map(Ready::of)
    }
}

impl Ready {
    fn of(event: &epoll::Event) -> Ready {
        let (events, data) = (event.flags, event.data);
        let closed = EventFlags::HUP | EventFlags::ERR | EventFlags::RDHUP;
        Ready {
            token: data.u64(),
            readable: events.intersects(closed | EventFlags::IN),
            writable: events.contains(EventFlags::OUT),
        }
    }
}

const MAX_RESULTS: usize = 64;

/// A set of descriptors (epoll(7)), which can be polled itself. It always reports errors and the end of a connection.
#[derive(Debug)]
pub struct Epoll {
    fd: Shielded<OwnedFd>,
}

impl Epoll {
    /// Creates an empty set.
    pub fn new() -> io::Result<Epoll> {
        Ok(Epoll { fd: Shielded::new(epoll::create(epoll::CreateFlags::CLOEXEC)?) })
    }

    /// Adds `fd`, to report when it is readable. A descriptor with duplicates must be deleted before it is closed.
    ///
    /// # Errors
    /// `AlreadyExists` if `fd` is in the set, or another error of the system.
    pub fn add(&self, fd: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        Ok(epoll::add(&self.fd, fd, EventData::new_u64(token), EventFlags::RDHUP | EventFlags::IN)?)
    }

    /// Sets the token of `fd`, and whether to report it also when it is writable (`room`).
    ///
    /// # Errors
    /// `NotFound` if `fd` is not in the set, or another error of the system.
    pub fn modify(&self, fd: BorrowedFd<'_>, token: u64, room: bool) -> io::Result<()> {
        let mut events = EventFlags::RDHUP | EventFlags::IN;
        events.set(EventFlags::OUT, room);
        Ok(epoll::modify(&self.fd, fd, EventData::new_u64(token), events)?)
    }

    /// Removes `fd`.
    ///
    /// # Errors
    /// `NotFound` if `fd` is not in the set, or another error of the system.
    pub fn delete(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.fd, fd)?)
    }

    /// Calls `f` with up to 64 ready descriptors, without waiting; the next call starts with the others. Ignores
    /// errors.
    pub fn look(&self, f: impl FnMut(Ready)) {
        let mut found = [const { MaybeUninit::<epoll::Event>::uninit() }; MAX_RESULTS];
        if let Ok((found, _)) = epoll::wait(&self.fd, &mut found[..], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            found.iter().map(Ready::of).for_each(f);
        }
    }

    /// Waits until a descriptor is ready, for at most `timeout`. A timeout from 1 ms on is rounded up to milliseconds,
    /// and limited to 24 days. Stores the results in `events`: none after an error, a timeout or a signal.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let max = Duration::from_millis(i32::MAX as u64);
        let timeout = match timeout {
            // epoll_wait(2) counts milliseconds, so poll(2) waits for a shorter time.
            Some(short) if !short.is_zero() && short < Duration::from_millis(1) => {
                let _ = wait([Some(self.as_fd())], timeout);
                Some(Duration::ZERO)
            }
            other => other,
        };
        let timeout = timeout.and_then(|timeout| Timespec::try_from(timeout.min(max)).ok());
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

#[cfg(test)]
mod tests;
