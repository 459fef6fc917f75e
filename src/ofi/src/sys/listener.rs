//! The sockets of an endpoint that listens, which libfabric does not show: they are found among all of the process.

use std::fs;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::os::unix::fs::MetadataExt;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rustix::net::{AddressFamily, Shutdown, SocketType, getpeername, getsockname, shutdown, socket, sockopt};

/// The longest time for which libfabric waits for the rest of a greeting, which it reads in blocking calls.
const GREETING: Duration = Duration::from_millis(500);

/// Has the sockets that are accepted at an address give up what they read after a while: libfabric reads the greeting of a
/// stranger in blocking calls, and accepted sockets take that over from the one that listens.
pub fn limit_greetings(at: SocketAddr) {
    for_each(|_, socket, here| {
        if here == at && sockopt::socket_acceptconn(socket).unwrap_or(false) {
            let _ = sockopt::set_socket_timeout(socket, sockopt::Timeout::Recv, Some(GREETING));
        }
    });
}

/// A socket that was accepted and may not have sent its greeting.
pub struct Stranger {
    fd: RawFd,
    inode: u64,
}

impl Stranger {
    /// Ends its connection, of which libfabric hears when it reads events.
    pub fn send_away(&self) {
        if self.is_here() {
            // SAFETY: it is open, as was just found, and libfabric's, which closes it in reads of events alone.
            let socket = unsafe { BorrowedFd::borrow_raw(self.fd) };
            let _ = shutdown(socket, Shutdown::Both);
        }
    }

    /// Whether it is still open.
    pub fn is_here(&self) -> bool {
        inode(self.fd) == Some(self.inode)
    }
}

/// The sockets that were accepted at an address, but for those of peers that are known.
pub fn strangers(at: SocketAddr, is_known: impl Fn(SocketAddr) -> bool) -> Vec<Stranger> {
    let mut strangers = Vec::new();
    for_each(|fd, socket, here| {
        let accepted = here.port() == at.port() && (here.ip() == at.ip() || at.ip().is_unspecified());
        if !accepted || sockopt::socket_acceptconn(socket).unwrap_or(true) {
            return;
        }
        // One whose peer has gone has no name for it any more, but may have its greeting.
        let peer = getpeername(socket).ok().flatten().and_then(|name| SocketAddr::try_from(name).ok());
        if !peer.is_some_and(&is_known) {
            strangers.extend(inode(fd).map(|inode| Stranger { fd, inode }));
        }
    });
    strangers
}

/// The socket between an address and a peer; with `asking` also one that has no peer yet.
pub fn between(here: SocketAddr, peer: SocketAddr, asking: bool) -> Option<RawFd> {
    /// One more than the last that was found. Sockets that are made one after the other have such numbers, and a look at
    /// all descriptors for each of 1,000 connections would take most of the time in which they are made.
    static NEXT: AtomicI32 = AtomicI32::new(0);
    const NEAR: RawFd = 16;
    let look = |found: &mut Option<RawFd>, fd, socket: BorrowedFd<'_>, at| {
        let other = || getpeername(socket).ok().flatten().and_then(|name| SocketAddr::try_from(name).ok());
        if at == here && other().map_or(asking, |other| other == peer) {
            *found = Some(fd);
        }
    };
    let mut found = None;
    let next = NEXT.load(Ordering::Relaxed);
    for fd in next..next.saturating_add(NEAR) {
        look_at(fd, &mut |fd, socket, at| look(&mut found, fd, socket, at));
    }
    if found.is_none() {
        for_each(|fd, socket, at| look(&mut found, fd, socket, at));
    }
    found.inspect(|fd| NEXT.store(fd + 1, Ordering::Relaxed))
}

/// The sockets that are bound to an address and have no peer.
pub fn unconnected(at: SocketAddr) -> Vec<RawFd> {
    let mut found = Vec::new();
    for_each(|fd, socket, here| {
        if here == at && getpeername(socket).ok().flatten().is_none() {
            found.push(fd);
        }
    });
    found
}

/// Closes the socket that listens at an address, and keeps its descriptor.
pub fn silence(at: SocketAddr) {
    for_each(|fd, listening, here| {
        if here != at || !sockopt::socket_acceptconn(listening).unwrap_or(false) {
            return;
        }
        let family = if at.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        match socket(family, SocketType::STREAM, None) {
            // SAFETY: both are open; the number is that of libfabric's socket, which it only closes from now on.
            Ok(new) => drop(unsafe { libc::dup3(new.as_raw_fd(), fd, libc::O_CLOEXEC) }),
            Err(error) => log::warn!("the port {} stays in use: {error}", at.port()),
        }
    });
}

/// Looks at the sockets of this process that are bound to an address of the internet.
fn for_each(mut look: impl FnMut(RawFd, BorrowedFd<'_>, SocketAddr)) {
    for entry in fs::read_dir("/proc/thread-self/fd").into_iter().flatten().flatten() {
        let Some(fd) = entry.file_name().to_str().and_then(|name| name.parse::<RawFd>().ok()) else { continue };
        look_at(fd, &mut look);
    }
}

/// Looks at one descriptor, if it is such a socket.
fn look_at(fd: RawFd, look: &mut impl FnMut(RawFd, BorrowedFd<'_>, SocketAddr)) {
    // SAFETY: if the descriptor is closed, the calls fail, or find another socket, which is not bound to an address of
    // libfabric's.
    let socket = unsafe { BorrowedFd::borrow_raw(fd) };
    if let Some(here) = getsockname(socket).ok().and_then(|name| SocketAddr::try_from(name).ok()) {
        look(fd, socket, here);
    }
}

/// What tells a socket from others that get its descriptor later.
fn inode(fd: RawFd) -> Option<u64> {
    fs::metadata(format!("/proc/thread-self/fd/{fd}")).ok().map(|socket| socket.ino())
}
