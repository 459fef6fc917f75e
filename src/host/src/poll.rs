//! Sleeping on descriptors: on a few of them, or on a set.
//!
//! Neither sleep is a place where `pthread_cancel` may end a thread.

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
        self.found.iter().map(Ready::of)
    }
}

impl Ready {
    fn of(event: &epoll::Event) -> Ready {
        let (events, data) = (event.flags, event.data);
        let over = EventFlags::HUP | EventFlags::ERR | EventFlags::RDHUP;
        Ready {
            token: data.u64(),
            readable: events.intersects(over | EventFlags::IN),
            writable: events.contains(EventFlags::OUT),
            closed: events.intersects(over),
        }
    }
}

/// What [`Epoll::look`] finds at most.
const LOOK: usize = 64;

/// A set of descriptors to wait for. Errors and the end of a connection are always reported. Its own descriptor can be waited for too.
#[derive(Debug)]
pub struct Epoll {
    fd: Shielded<OwnedFd>,
}

impl Epoll {
    /// Makes an empty set.
    pub fn new() -> io::Result<Epoll> {
        Ok(Epoll { fd: Shielded::new(epoll::create(epoll::CreateFlags::CLOEXEC)?) })
    }

    /// Adds `fd`, to wait for something to read. If it has duplicates, it must be deleted before it is closed.
    ///
    /// # Errors
    /// `AlreadyExists`, or another error of the system.
    pub fn add(&self, fd: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        Ok(epoll::add(&self.fd, fd, EventData::new_u64(token), EventFlags::RDHUP | EventFlags::IN)?)
    }

    /// Adds `fd`, to be told once when it has room to write again after it had none. As for [`Epoll::add`].
    ///
    /// # Errors
    /// As for [`Epoll::add`].
    pub fn add_room(&self, fd: BorrowedFd<'_>, token: u64) -> io::Result<()> {
        Ok(epoll::add(&self.fd, fd, EventData::new_u64(token), EventFlags::OUT | EventFlags::ET)?)
    }

    /// Changes whether `fd` is waited for until there is `room` to write, too.
    ///
    /// # Errors
    /// `NotFound`, or another error of the system.
    pub fn modify(&self, fd: BorrowedFd<'_>, token: u64, room: bool) -> io::Result<()> {
        let mut events = EventFlags::RDHUP | EventFlags::IN;
        events.set(EventFlags::OUT, room);
        Ok(epoll::modify(&self.fd, fd, EventData::new_u64(token), events)?)
    }

    /// Removes `fd`.
    ///
    /// # Errors
    /// `NotFound`, or another error of the system.
    pub fn delete(&self, fd: BorrowedFd<'_>) -> io::Result<()> {
        Ok(epoll::delete(&self.fd, fd)?)
    }

    /// Calls `f` with what is ready, [`LOOK`] of the set at most; the others come first in the next call. Allocates nothing, and
    /// finds nothing where the system fails.
    pub fn look(&self, f: impl FnMut(Ready)) {
        let mut found = [const { MaybeUninit::<epoll::Event>::uninit() }; LOOK];
        if let Ok((found, _)) = epoll::wait(&self.fd, &mut found[..], Some(&Timespec { tv_sec: 0, tv_nsec: 0 })) {
            found.iter().map(Ready::of).for_each(f);
        }
    }

    /// Waits until something happens or `timeout` (from a millisecond on rounded up to those, 24 days at most) is over; `None`
    /// waits without a limit. Leaves the results in `events`: none after a timeout or a signal.
    ///
    /// # Errors
    /// The error of the system; `events` is empty then.
    pub fn wait(&self, events: &mut Events, timeout: Option<Duration>) -> io::Result<()> {
        let most = Duration::from_millis(i32::MAX as u64);
        let timeout = match timeout {
            // epoll_wait(2) counts in milliseconds.
            Some(short) if !short.is_zero() && short < Duration::from_millis(1) => {
                wait([Some(self.as_fd())], timeout)?;
                Some(Duration::ZERO)
            }
            other => other,
        };
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

#[cfg(test)]
mod tests;
