//! The descriptors that libfabric has opened. It opens them without the flag that closes them when another program is started,
//! and knows of no fork; both are mended here.
//!
//! libfabric names one descriptor of each queue, a set that it polls, and what is in that set has been opened by it as well:
//! the kernel shows the members of a set.

use std::collections::HashMap;
use std::fs;
use std::os::fd::{BorrowedFd, RawFd};

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
    /// Takes care of a set and of all that is in it.
    pub fn keep(&self, set: RawFd) {
        let mut found = Vec::new();
        members(set, DEPTH, &mut found);
        self.keep_these(&found);
    }

    /// Takes care of the sockets of the host that were not there before.
    pub fn keep_pairs(&self, before: &[RawFd]) {
        let new: Vec<_> = pairs().into_iter().filter(|fd| !before.contains(fd)).collect();
        self.keep_these(&new);
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

/// The descriptors of this process that are sockets of the host, such as the pairs by which libfabric wakes a thread. Those that
/// are new when libfabric has opened something are its own, unless another thread has made one just then: that one is closed
/// in children, too.
pub fn pairs() -> Vec<RawFd> {
    let entries = fs::read_dir("/proc/thread-self/fd").into_iter().flatten().flatten();
    let numbers = entries.filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok()));
    let is_local = |fd: &RawFd| {
        // SAFETY: if the descriptor has been closed meanwhile, the call fails, or tells of another file.
        let socket = unsafe { BorrowedFd::borrow_raw(*fd) };
        sockopt::socket_domain(socket).is_ok_and(|domain| domain == AddressFamily::UNIX)
    };
    numbers.filter(is_local).collect()
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
