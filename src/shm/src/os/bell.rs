//! Bells that threads of this process sleep on, and that other processes ring.
//!
//! A peer gets a socket of its own for each bell, which can do nothing but send to it. All calls say for themselves
//! that they do not block. So neither a descriptor that a peer has changed or shut down, nor a queue that it has
//! filled, holds up a thread that rings or silences a bell, or takes a ring of anybody else away.

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::ptr;
use std::thread;

use host::cancel::Shielded;
use host::fork::NotInherited;
use rustix::fs::{Mode, OFlags, chmod, open, unlink};
use rustix::io::Errno;
use rustix::net::sockopt::{socket_domain, socket_type};
use rustix::net::{
    AddressFamily, SendFlags, SocketAddrUnix, SocketFlags, SocketType, bind, connect, send, socket_with,
};

use super::directory::Directory;

/// Rings that one system call takes off.
const BATCH: usize = 16;
/// Batches that one silencing takes off. A process that rings faster than that keeps the bell ringing.
const BATCHES: usize = 64;
/// Attempts at a ring for which the system has no memory.
const ATTEMPTS: usize = 1000;

/// A bell of this process.
#[derive(Debug)]
pub struct Bell {
    /// The first field, so that the notes end before the descriptors.
    _notes: [NotInherited; 2],
    /// The socket at which rings arrive. No other process has it.
    rings: Shielded<OwnedFd>,
    /// The same socket as a file without a name, to which others are connected.
    place: Shielded<OwnedFd>,
    own: Ringer,
}

impl Bell {
    /// Makes a silent bell. It has a name in `directory` for a moment only.
    ///
    /// # Errors
    /// The error of the system, for example too many open files. No file is left then.
    pub fn new(directory: &Directory) -> io::Result<Bell> {
        let path = directory.unfinished();
        let rings = datagram_socket()?;
        bind(&rings, &SocketAddrUnix::new(&path)?)?;
        // The umask may have taken the right to connect from the user.
        let opened = chmod(&path, Mode::RUSR | Mode::WUSR)
            .and_then(|()| open(&path, OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC, Mode::empty()));
        let unlinked = unlink(&path);
        let place = opened?;
        unlinked?;
        let own = Ringer::to(&place)?;
        let notes = [NotInherited::new(&rings), NotInherited::new(&place)];
        Ok(Bell { _notes: notes, rings: Shielded::new(rings), place: Shielded::new(place), own })
    }

    /// A new descriptor for a peer, which opens it as a [`Ringer`].
    ///
    /// # Errors
    /// The error of the system, for example too many open files.
    pub fn for_peer(&self) -> io::Result<OwnedFd> {
        Ok(Ringer::to(&self.place)?.0.into_inner())
    }

    /// Rings it from within this process.
    pub fn ring(&self) {
        self.own.ring();
    }

    /// Silences the bell; returns whether it had been rung.
    pub fn clear(&self) -> bool {
        let mut rung = false;
        for _ in 0..BATCHES {
            let taken = self.take();
            rung |= taken > 0;
            if taken < BATCH {
                break;
            }
        }
        rung
    }

    /// Takes off at most [`BATCH`] rings, and tells how many there were.
    fn take(&self) -> usize {
        let mut byte = 0_u8;
        let mut bytes = libc::iovec { iov_base: (&raw mut byte).cast(), iov_len: 1 };
        // SAFETY: for this structure, all zeros are valid: no address, no control data.
        let empty: libc::mmsghdr = unsafe { mem::zeroed() };
        let mut messages = [empty; BATCH];
        for message in &mut messages {
            // The byte says nothing, so all messages may share it.
            message.msg_hdr.msg_iov = &raw mut bytes;
            message.msg_hdr.msg_iovlen = 1;
        }
        let (fd, count, flags) = (self.rings.as_raw_fd(), BATCH as libc::c_uint, libc::MSG_DONTWAIT);
        let none: *mut libc::timespec = ptr::null_mut();
        // SAFETY: there are `count` messages, and each names one live byte.
        let taken =
            quietly(|| unsafe { libc::syscall(libc::SYS_recvmmsg, fd, messages.as_mut_ptr(), count, flags, none) });
        usize::try_from(taken).unwrap_or(0)
    }
}

/// Makes a system call past libc's function for it, which would be a place where a thread may be cancelled. Leaves errno
/// as it was.
fn quietly<R>(call: impl FnOnce() -> R) -> R {
    // SAFETY: the address of errno is that of a word of this thread.
    let errno = unsafe { libc::__errno_location() };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let result = call();
    // SAFETY: as above.
    unsafe { *errno = before };
    result
}

impl AsFd for Bell {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.rings.as_fd()
    }
}

/// The means to ring a bell, of this process or of another one.
#[derive(Debug)]
pub struct Ringer(Shielded<OwnedFd>);

impl Ringer {
    fn to(place: &OwnedFd) -> io::Result<Ringer> {
        let socket = datagram_socket()?;
        // The first thread of the process may have ended, and /proc/self would be its.
        connect(&socket, &SocketAddrUnix::new(format!("/proc/thread-self/fd/{}", place.as_raw_fd()))?)?;
        Ok(Ringer(Shielded::new(socket)))
    }

    /// Takes what a peer has sent for ringing its bell.
    ///
    /// # Errors
    /// `InvalidData` if it is anything but a local datagram socket; otherwise the error of the system.
    pub fn from_peer(fd: OwnedFd) -> io::Result<Ringer> {
        let local = socket_domain(&fd) == Ok(AddressFamily::UNIX) && socket_type(&fd) == Ok(SocketType::DGRAM);
        if !local {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the peer's bell is not a local datagram socket"));
        }
        Ok(Ringer(Shielded::new(fd)))
    }

    /// Rings the bell. Never blocks: a bell that cannot be rung again is already ringing, and a process that spoils
    /// its own bell is not woken.
    pub fn ring(&self) {
        for _ in 0..ATTEMPTS {
            match send(&self.0, &[1], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
                Err(Errno::NOBUFS | Errno::NOMEM | Errno::INTR) => thread::yield_now(),
                _ => return,
            }
        }
    }
}

impl AsFd for Ringer {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

fn datagram_socket() -> io::Result<OwnedFd> {
    let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
    Ok(socket_with(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::time::Duration;

    use host::poll;
    use rustix::fs::{fcntl_getfl, fcntl_setfl};
    use rustix::net::{Shutdown, shutdown};

    use super::*;

    fn bell() -> (tempfile::TempDir, Bell) {
        let dir = tempfile::tempdir().expect("dir");
        let directory = Directory::open(dir.path().join("shm").to_str().expect("text")).expect("open");
        let bell = Bell::new(&directory).expect("bell");
        assert_eq!(fs::read_dir(directory.path()).expect("read").count(), 0, "it has no name");
        (dir, bell)
    }

    fn is_ringing(bell: &Bell) -> bool {
        poll::wait([Some(bell.as_fd())], Some(Duration::ZERO)).expect("poll")[0].readable
    }

    #[test]
    fn a_bell_rings_until_it_is_cleared() {
        let (_dir, bell) = bell();
        let peer = Ringer::from_peer(bell.for_peer().expect("socket")).expect("a ringer");
        assert!(!bell.clear());
        bell.ring();
        peer.ring();
        peer.ring();
        assert!(is_ringing(&bell));
        assert!(bell.clear());
        assert!(!bell.clear() && !is_ringing(&bell));
    }

    #[test]
    fn a_bell_that_is_full_rings_and_blocks_nobody() {
        let (_dir, bell) = bell();
        let peer = Ringer::from_peer(bell.for_peer().expect("socket")).expect("a ringer");
        for fd in [peer.as_fd(), bell.own.as_fd()] {
            // What a hostile peer does with its own descriptor.
            let flags = fcntl_getfl(fd).expect("flags");
            fcntl_setfl(fd, flags.difference(OFlags::NONBLOCK)).expect("blocking");
        }
        for _ in 0..5000 {
            peer.ring();
            bell.ring();
        }
        assert!(is_ringing(&bell));
        while bell.clear() {}
        assert!(!is_ringing(&bell));
        bell.ring();
        assert!(bell.clear());
    }

    #[test]
    fn a_peer_that_spoils_its_socket_takes_no_ring_of_others() {
        let (_dir, bell) = bell();
        let [one, two] = [(); 2].map(|()| Ringer::from_peer(bell.for_peer().expect("socket")).expect("a ringer"));
        shutdown(&one, Shutdown::Both).expect("shutdown");
        one.ring();
        assert!(!is_ringing(&bell));
        two.ring();
        assert!(bell.clear());
        bell.ring();
        assert!(bell.clear());
        drop(bell);
        two.ring();
    }

    #[test]
    fn only_local_datagram_sockets_are_taken_from_peers() {
        let file: OwnedFd = tempfile::tempfile().expect("file").into();
        assert_eq!(Ringer::from_peer(file).expect_err("a file").kind(), io::ErrorKind::InvalidData);
        let stream = std::os::unix::net::UnixStream::pair().expect("pair").0;
        assert!(Ringer::from_peer(stream.into()).is_err());
        let network = std::net::UdpSocket::bind("127.0.0.1:0").expect("socket");
        assert!(Ringer::from_peer(network.into()).is_err());
    }
}
