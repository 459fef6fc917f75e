//! The descriptors that libfabric has opened. It opens them without the flag that closes them when another program is started,
//! and knows of no fork; both are mended here.
//!
//! libfabric names one descriptor of each queue, a set that it polls, and what is in that set has been opened by it as well:
//! the kernel shows the members of a set.

use std::collections::HashMap;
use std::fs;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};

use host::event_fd::EventFd;
use host::fork::NotInherited;
use host::lock::Mutex;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::net::{AddressFamily, sockopt};

/// The descriptors of an open provider, which neither a child nor another program gets.
#[derive(Default)]
pub struct Descriptors {
    known: Mutex<HashMap<RawFd, NotInherited>>,
}

/// How deep sets lie in each other: that of a queue has that of the domain.
const DEPTH: usize = 3;

impl Descriptors {
    /// Takes care of a set and of all that is in it, and gives them.
    pub fn keep(&self, set: RawFd) -> Vec<RawFd> {
        let mut found = Vec::new();
        members(set, DEPTH, &mut found);
        self.keep_these(&found);
        found
    }

    /// Opens something, takes care of the sockets of the host that libfabric makes for it, and gives them too.
    pub fn keep_pairs<R>(&self, open: impl FnOnce() -> R) -> (R, Vec<RawFd>) {
        let free = lowest_free();
        let opened = open();
        let new: Vec<_> = free.into_iter().filter(|fd| is_local(*fd)).collect();
        self.keep_these(&new);
        (opened, new)
    }

    /// Takes care of these.
    pub fn keep_these(&self, found: &[RawFd]) {
        let mut known = self.known.lock();
        for &fd in found {
            known.entry(fd).or_insert_with(|| {
                // SAFETY: libfabric has it open, and closes it no sooner than `forget` is called or the provider is closed.
                let open = unsafe { BorrowedFd::borrow_raw(fd) };
                let _ = fcntl_setfd(open, FdFlags::CLOEXEC);
                NotInherited::new(open)
            });
        }
    }

    /// Forgets descriptors that are about to be closed.
    pub fn forget(&self, closing: &[RawFd]) {
        let mut known = self.known.lock();
        for fd in closing {
            known.remove(fd);
        }
    }

    /// Forgets all, because all are about to be closed.
    pub fn forget_all(&self) {
        self.known.lock().clear();
    }
}

/// The most descriptors that libfabric opens for a queue, and some more.
const OPENED: usize = 16;

/// The numbers that descriptors get which are opened next. Sockets of the host that have one of them afterwards, such as the pairs
/// by which libfabric wakes a thread, are its own, unless another thread has made one just then: that one is closed in children,
/// too. (A look at all descriptors would take most of the time in which 1,000 connections are made.)
fn lowest_free() -> Vec<RawFd> {
    let Ok(lowest) = EventFd::new() else { return Vec::new() };
    let first = lowest.as_fd().as_raw_fd();
    drop(lowest);
    let is_free = |fd: &RawFd| {
        // SAFETY: it asks for flags alone, and fails if there is no such descriptor.
        unsafe { libc::fcntl(*fd, libc::F_GETFD) == -1 }
    };
    (first..RawFd::MAX).filter(is_free).take(OPENED).collect()
}

/// Whether a descriptor is a socket of the host.
fn is_local(fd: RawFd) -> bool {
    // SAFETY: if there is none, or it is closed, the call fails, or tells of another file.
    let socket = unsafe { BorrowedFd::borrow_raw(fd) };
    sockopt::socket_domain(socket).is_ok_and(|domain| domain == AddressFamily::UNIX)
}

/// Adds a descriptor, and if it is a set those that are in it.
fn members(fd: RawFd, depth: usize, found: &mut Vec<RawFd>) {
    if found.contains(&fd) {
        return;
    }
    found.push(fd);
    if depth == 0 {
        return;
    }
    let text = fs::read_to_string(format!("/proc/thread-self/fdinfo/{fd}")).unwrap_or_default();
    for line in text.lines() {
        let member = line.strip_prefix("tfd:").and_then(|rest| rest.split_whitespace().next());
        if let Some(member) = member.and_then(|number| number.parse().ok()) {
            members(member, depth - 1, found);
        }
    }
}
