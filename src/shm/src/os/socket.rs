//! Local sockets that keep messages apart and carry descriptors.
//!
//! They never block: where there is nothing to read or no room to write, the call says so
//! and [`host::poll::Epoll`] tells when to come back. A child of fork does not inherit them: a
//! peer takes the end of a socket for the end of the process.

use std::ffi::OsStr;
use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

use host::fork::NotInherited;

use super::{check, last_errno, owned};

/// The most descriptors that one message can carry.
pub const MAX_FDS: usize = 16;

/// Who is at the other end, as the kernel vouches; for a listener's connection as of
/// the time when it was asked for, for a connection to a listener as of its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The process; 0 if it is not visible from here.
    pub pid: libc::pid_t,
    /// Its effective user.
    pub uid: libc::uid_t,
}

impl Credentials {
    /// Refuses processes of other users.
    ///
    /// # Errors
    /// `PermissionDenied`.
    pub fn same_user(&self) -> io::Result<()> {
        // SAFETY: takes nothing and cannot fail.
        if self.uid == unsafe { libc::geteuid() } {
            return Ok(());
        }
        Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("a process of user {}", self.uid)))
    }
}

/// What became of a message to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Sent {
    /// It is on its way, descriptors included.
    Done,
    /// There is no room now; nothing was sent.
    WouldBlock,
    /// Nobody is left to read it.
    Closed,
}

/// What was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Recv {
    /// A message of so many bytes.
    Message(usize),
    /// There is none now.
    WouldBlock,
    /// There will be none any more.
    Closed,
}

/// Why a connection was not made.
#[derive(Debug)]
pub enum ConnectError {
    /// Nobody listens there: no such file, or its owner is gone.
    Nobody,
    /// The listener's queue is full; to be tried again.
    Busy,
    /// Something else.
    Io(io::Error),
}

/// One end of a connection.
#[derive(Debug)]
pub struct Socket {
    /// First, so that the note goes before the descriptor.
    _note: NotInherited,
    fd: OwnedFd,
}

fn new_socket() -> io::Result<OwnedFd> {
    let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
    // SAFETY: numbers alone; the descriptor is new.
    unsafe { owned(libc::socket(libc::AF_UNIX, kind, 0)) }
}

fn address(path: &Path) -> io::Result<(libc::sockaddr_un, libc::socklen_t)> {
    // SAFETY: plain numbers, for which zero is a value.
    let mut address: libc::sockaddr_un = unsafe { mem::zeroed() };
    address.sun_family = libc::AF_UNIX as libc::sa_family_t;
    let bytes = OsStr::as_bytes(path.as_os_str());
    // One byte stays 0. An empty path or one with a leading 0 would mean other things.
    if bytes.is_empty() || bytes.len() >= address.sun_path.len() || bytes.contains(&0) {
        let text = format!("{}: not usable as the path of a socket", path.display());
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    for (to, &from) in address.sun_path.iter_mut().zip(bytes) {
        *to = from as libc::c_char;
    }
    let len = mem::offset_of!(libc::sockaddr_un, sun_path) + bytes.len() + 1;
    Ok((address, len as libc::socklen_t))
}

/// Repeats a call that a signal interrupted.
fn retry(mut call: impl FnMut() -> libc::ssize_t) -> Result<usize, libc::c_int> {
    loop {
        match usize::try_from(call()) {
            Ok(value) => return Ok(value),
            Err(_) => match last_errno() {
                libc::EINTR => {}
                errno => return Err(errno),
            },
        }
    }
}

/// Room for the headers and descriptors of a message, aligned as headers need it.
#[repr(align(8))]
struct Control([u8; 128]);

// The length of a control message with the most descriptors.
const _: () = assert!(mem::size_of::<libc::cmsghdr>() + MAX_FDS * mem::size_of::<RawFd>() + 16 <= 128);

impl Socket {
    fn new(fd: OwnedFd) -> Socket {
        Socket { _note: NotInherited::new(&fd), fd }
    }

    /// Connects to the listener at `path`. Does not wait for it to accept.
    ///
    /// # Errors
    /// [`ConnectError`].
    pub fn connect(path: &Path) -> Result<Socket, ConnectError> {
        let (address, len) = address(path).map_err(ConnectError::Io)?;
        let fd = new_socket().map_err(ConnectError::Io)?;
        // SAFETY: reads `len` bytes of a live structure that is longer.
        let call = || unsafe { libc::connect(fd.as_raw_fd(), (&raw const address).cast(), len) as libc::ssize_t };
        match retry(call) {
            Ok(_) => Ok(Socket::new(fd)),
            Err(libc::ECONNREFUSED | libc::ENOENT | libc::ENOTDIR) => Err(ConnectError::Nobody),
            Err(libc::EAGAIN) => Err(ConnectError::Busy),
            Err(errno) => Err(ConnectError::Io(io::Error::from_raw_os_error(errno))),
        }
    }

    /// Two ends of a connection within the process.
    ///
    /// # Errors
    /// What the system says.
    pub fn pair() -> io::Result<(Socket, Socket)> {
        let kind = libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        let mut fds = [-1; 2];
        // SAFETY: writes two descriptors to a live array.
        check(unsafe { libc::socketpair(libc::AF_UNIX, kind, 0, fds.as_mut_ptr()) })?;
        // SAFETY: both are new.
        let [one, two] = fds.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        Ok((Socket::new(one), Socket::new(two)))
    }

    /// Sends `bytes` as one message, with duplicates of `fds`.
    ///
    /// # Errors
    /// `InvalidInput` for an empty message, which would look like the end, or more than
    /// [`MAX_FDS`] descriptors; what the system says. Nothing was sent then.
    pub fn send(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> io::Result<Sent> {
        if bytes.is_empty() || fds.len() > MAX_FDS {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let mut control = Control([0; 128]);
        let mut vec = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        // SAFETY: plain numbers and null pointers, for which zero is a value.
        let mut header: libc::msghdr = unsafe { mem::zeroed() };
        header.msg_iov = &raw mut vec;
        header.msg_iovlen = 1;
        if !fds.is_empty() {
            let data = size_of_val(fds) as libc::c_uint;
            header.msg_control = control.0.as_mut_ptr().cast();
            // SAFETY: a computation.
            header.msg_controllen = unsafe { libc::CMSG_SPACE(data) } as _;
            // SAFETY: the buffer is longer than one header.
            let first = unsafe { libc::CMSG_FIRSTHDR(&raw const header) };
            // SAFETY: a computation.
            let len = unsafe { libc::CMSG_LEN(data) } as _;
            let message = libc::cmsghdr { cmsg_len: len, cmsg_level: libc::SOL_SOCKET, cmsg_type: libc::SCM_RIGHTS };
            // SAFETY: the first header begins at the start of the buffer, which is aligned for it.
            unsafe { first.write(message) };
            // SAFETY: the data of the first header.
            let to = unsafe { libc::CMSG_DATA(first) };
            // SAFETY: a BorrowedFd is a transparent RawFd; the buffer has room for MAX_FDS of
            // them behind the header (asserted above).
            unsafe { ptr::copy_nonoverlapping(fds.as_ptr().cast::<u8>(), to, size_of_val(fds)) };
        }
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        // SAFETY: reads the message through pointers to live memory.
        match retry(|| unsafe { libc::sendmsg(self.fd.as_raw_fd(), &raw const header, flags) }) {
            Ok(_) => Ok(Sent::Done),
            Err(libc::EAGAIN) => Ok(Sent::WouldBlock),
            Err(libc::EPIPE | libc::ECONNRESET | libc::ENOTCONN) => Ok(Sent::Closed),
            Err(errno) => Err(io::Error::from_raw_os_error(errno)),
        }
    }

    /// Receives one message into `buf` and appends its descriptors to `fds`; they are
    /// closed when an exec replaces the process.
    ///
    /// # Errors
    /// `InvalidData` if `buf` was too short or there were more than [`MAX_FDS`]
    /// descriptors: the message is lost and none of its descriptors stays open; what the
    /// system says.
    pub fn recv(&self, buf: &mut [u8], fds: &mut Vec<OwnedFd>) -> io::Result<Recv> {
        let mut control = Control([0; 128]);
        let mut vec = libc::iovec { iov_base: buf.as_mut_ptr().cast(), iov_len: buf.len() };
        // SAFETY: plain numbers and null pointers, for which zero is a value.
        let mut header: libc::msghdr = unsafe { mem::zeroed() };
        header.msg_iov = &raw mut vec;
        header.msg_iovlen = 1;
        header.msg_control = control.0.as_mut_ptr().cast();
        let room = (MAX_FDS * size_of::<RawFd>()) as libc::c_uint;
        // SAFETY: a computation; the buffer is as long (asserted above).
        header.msg_controllen = unsafe { libc::CMSG_SPACE(room) } as _;
        let flags = libc::MSG_CMSG_CLOEXEC | libc::MSG_DONTWAIT;
        // SAFETY: writes through pointers to live memory, no more than the lengths given.
        let len = match retry(|| unsafe { libc::recvmsg(self.fd.as_raw_fd(), &raw mut header, flags) }) {
            Ok(len) => len,
            Err(libc::EAGAIN) => return Ok(Recv::WouldBlock),
            Err(libc::ECONNRESET | libc::ENOTCONN) => return Ok(Recv::Closed),
            Err(errno) => return Err(io::Error::from_raw_os_error(errno)),
        };
        let before = fds.len();
        // SAFETY: recvmsg has just filled the header and the buffers that it points to.
        unsafe { collect(&header, fds) };
        if header.msg_flags & (libc::MSG_TRUNC | libc::MSG_CTRUNC) != 0 {
            fds.truncate(before);
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the peer's message is too long"));
        }
        if len == 0 {
            fds.truncate(before);
            return Ok(Recv::Closed);
        }
        Ok(Recv::Message(len))
    }

    /// Who is at the other end.
    ///
    /// # Errors
    /// What the system says.
    pub fn peer_credentials(&self) -> io::Result<Credentials> {
        let mut found = libc::ucred { pid: 0, uid: libc::uid_t::MAX, gid: libc::gid_t::MAX };
        let mut len = size_of_val(&found) as libc::socklen_t;
        // SAFETY: writes at most `len` bytes to a live structure.
        check(unsafe {
            libc::getsockopt(
                self.fd.as_raw_fd(),
                libc::SOL_SOCKET,
                libc::SO_PEERCRED,
                (&raw mut found).cast(),
                &raw mut len,
            )
        })?;
        Ok(Credentials { pid: found.pid, uid: found.uid })
    }
}

/// Takes all descriptors out of a received message.
///
/// # Safety
/// `header` was filled by recvmsg and not used since; its buffers are still there.
unsafe fn collect(header: &libc::msghdr, fds: &mut Vec<OwnedFd>) {
    // SAFETY: the header's control buffer is valid for the length that recvmsg left.
    let mut at = unsafe { libc::CMSG_FIRSTHDR(header) };
    while !at.is_null() {
        // SAFETY: not null, so a whole header inside the buffer, written by the kernel.
        let message = unsafe { at.read_unaligned() };
        if message.cmsg_level == libc::SOL_SOCKET && message.cmsg_type == libc::SCM_RIGHTS {
            // SAFETY: a computation.
            let empty = unsafe { libc::CMSG_LEN(0) } as usize;
            let count = (message.cmsg_len as usize).saturating_sub(empty) / size_of::<RawFd>();
            // SAFETY: the data behind the header.
            let data = unsafe { libc::CMSG_DATA(at) }.cast::<RawFd>();
            for i in 0..count {
                // SAFETY: the kernel says that there are `count` descriptors.
                let fd = unsafe { data.add(i).read_unaligned() };
                // SAFETY: made for us by the kernel just now, and owned by nobody else.
                fds.push(unsafe { OwnedFd::from_raw_fd(fd) });
            }
        }
        // SAFETY: `at` is a header of this message.
        at = unsafe { libc::CMSG_NXTHDR(header, at) };
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Socket {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

/// Where connections arrive.
#[derive(Debug)]
pub struct Listener {
    /// First, so that the note goes before the descriptor.
    _note: NotInherited,
    fd: OwnedFd,
}

impl Listener {
    /// Listens at `path`, which is made and stays when the listener is dropped.
    ///
    /// # Errors
    /// `AddrInUse` if there is such a file; `InvalidInput` for a path of more than 107
    /// bytes; what the system says.
    pub fn bind(path: &Path) -> io::Result<Listener> {
        let (address, len) = address(path)?;
        let fd = new_socket()?;
        // SAFETY: reads `len` bytes of a live structure that is longer.
        check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), len) })?;
        // SAFETY: numbers alone. The kernel lowers the number to what it allows.
        check(unsafe { libc::listen(fd.as_raw_fd(), 4096) })?;
        Ok(Listener { _note: NotInherited::new(&fd), fd })
    }

    /// Takes the next connection, if one has arrived.
    ///
    /// # Errors
    /// What the system says, such as too many open files: the connection waits.
    pub fn accept(&self) -> io::Result<Option<Socket>> {
        let flags = libc::SOCK_CLOEXEC | libc::SOCK_NONBLOCK;
        // SAFETY: no address is asked for.
        let call =
            || unsafe { libc::accept4(self.fd.as_raw_fd(), ptr::null_mut(), ptr::null_mut(), flags) as libc::ssize_t };
        match retry(call) {
            // SAFETY: a descriptor that accept4 has just made; descriptors are ints.
            Ok(fd) => Ok(Some(Socket::new(unsafe { OwnedFd::from_raw_fd(fd as RawFd) }))),
            Err(libc::EAGAIN | libc::ECONNABORTED) => Ok(None),
            Err(errno) => Err(io::Error::from_raw_os_error(errno)),
        }
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl AsRawFd for Listener {
    fn as_raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::{Read, Write};
    use std::path::PathBuf;

    use super::*;

    fn place() -> (tempfile::TempDir, PathBuf) {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("s");
        (dir, path)
    }

    fn ends() -> (Socket, Socket) {
        Socket::pair().expect("pair")
    }

    #[test]
    fn connections_are_made_and_carry_messages_both_ways() {
        let (_dir, path) = place();
        let listener = Listener::bind(&path).expect("bind");
        assert!(listener.accept().expect("accept").is_none());
        let ours = Socket::connect(&path).expect("connect");
        assert_eq!(ours.send(b"early", &[]).expect("send"), Sent::Done);
        let theirs = listener.accept().expect("accept").expect("one");
        let mut buf = [0; 16];
        let mut fds = vec![];
        assert_eq!(theirs.recv(&mut buf, &mut fds).expect("recv"), Recv::Message(5));
        assert_eq!(&buf[..5], b"early");
        assert_eq!(theirs.recv(&mut buf, &mut fds).expect("recv"), Recv::WouldBlock);
        assert_eq!(theirs.send(b"a", &[]).expect("send"), Sent::Done);
        assert_eq!(theirs.send(b"bc", &[]).expect("send"), Sent::Done);
        assert_eq!(ours.recv(&mut buf, &mut fds).expect("recv"), Recv::Message(1));
        assert_eq!(ours.recv(&mut buf, &mut fds).expect("recv"), Recv::Message(2));
        drop(theirs);
        assert_eq!(ours.recv(&mut buf, &mut fds).expect("recv"), Recv::Closed);
        assert_eq!(ours.send(b"late", &[]).expect("send"), Sent::Closed);
        assert!(fds.is_empty());
    }

    #[test]
    fn what_was_sent_before_the_end_arrives() {
        let (ours, theirs) = ends();
        assert_eq!(ours.send(b"last", &[]).expect("send"), Sent::Done);
        drop(ours);
        let mut buf = [0; 16];
        assert_eq!(theirs.recv(&mut buf, &mut vec![]).expect("recv"), Recv::Message(4));
        assert_eq!(theirs.recv(&mut buf, &mut vec![]).expect("recv"), Recv::Closed);
    }

    #[test]
    fn peers_are_known() {
        let (_dir, path) = place();
        let listener = Listener::bind(&path).expect("bind");
        let ours = Socket::connect(&path).expect("connect");
        let theirs = listener.accept().expect("accept").expect("one");
        // SAFETY: takes no arguments.
        let me = Credentials { pid: std::process::id() as libc::pid_t, uid: unsafe { libc::geteuid() } };
        assert_eq!(ours.peer_credentials().expect("credentials"), me);
        assert_eq!(theirs.peer_credentials().expect("credentials"), me);
    }

    #[test]
    fn nobody_and_busy_are_told_apart() {
        let (_dir, path) = place();
        assert!(matches!(Socket::connect(&path), Err(ConnectError::Nobody)), "no file");
        let listener = Listener::bind(&path).expect("bind");
        assert_eq!(Listener::bind(&path).expect_err("twice").kind(), io::ErrorKind::AddrInUse);
        // SAFETY: numbers alone: a queue of the shortest length.
        assert_eq!(unsafe { libc::listen(listener.as_raw_fd(), 0) }, 0);
        let mut waiting = vec![];
        let end = loop {
            match Socket::connect(&path) {
                Ok(socket) => waiting.push(socket),
                Err(error) => break error,
            }
            assert!(waiting.len() < 100);
        };
        assert!(matches!(end, ConnectError::Busy), "{end:?}");
        drop(listener);
        assert!(matches!(Socket::connect(&path), Err(ConnectError::Nobody)), "left behind");
        File::create(path.with_extension("plain")).expect("file");
        assert!(Socket::connect(&path.with_extension("plain")).is_err());
        assert!(matches!(Socket::connect(Path::new(&"x".repeat(108))), Err(ConnectError::Io(_))));
        assert!(matches!(Socket::connect(Path::new("")), Err(ConnectError::Io(_))));
    }

    #[test]
    fn descriptors_travel() {
        let (ours, theirs) = ends();
        let mut files: Vec<File> = (0..MAX_FDS).map(|_| tempfile::tempfile().expect("file")).collect();
        let lent: Vec<_> = files.iter().map(AsFd::as_fd).collect();
        assert_eq!(ours.send(b"fds", &lent).expect("send"), Sent::Done);
        let mut fds = vec![];
        assert_eq!(theirs.recv(&mut [0; 3], &mut fds).expect("recv"), Recv::Message(3));
        assert_eq!(fds.len(), MAX_FDS);
        for (i, fd) in fds.into_iter().enumerate() {
            // SAFETY: a number.
            assert!(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFD) } & libc::FD_CLOEXEC != 0);
            write!(File::from(fd), "{i}").expect("write");
            let mut text = String::new();
            std::io::Seek::rewind(&mut files[i]).expect("rewind");
            files[i].read_to_string(&mut text).expect("read");
            assert_eq!(text, i.to_string());
        }
    }

    #[test]
    fn messages_that_are_too_long_leave_no_descriptor_behind() {
        let (ours, theirs) = ends();
        let (probe, held) = ends();
        assert_eq!(ours.send(b"too long", &[held.as_fd()]).expect("send"), Sent::Done);
        drop(held);
        let mut fds = vec![];
        let error = theirs.recv(&mut [0; 3], &mut fds).expect_err("truncated");
        assert_eq!(error.kind(), io::ErrorKind::InvalidData);
        assert!(fds.is_empty());
        // The one that travelled was the last.
        assert_eq!(probe.recv(&mut [0; 8], &mut fds).expect("recv"), Recv::Closed);
        assert_eq!(ours.send(b"fit", &[]).expect("send"), Sent::Done);
        assert_eq!(theirs.recv(&mut [0; 3], &mut fds).expect("recv"), Recv::Message(3), "the next is whole");
    }

    #[test]
    fn a_full_queue_does_not_block() {
        let (ours, theirs) = ends();
        let message = [7_u8; 10_000];
        let mut count = 0;
        while ours.send(&message, &[]).expect("send") == Sent::Done {
            count += 1;
            assert!(count < 100_000);
        }
        assert_eq!(ours.send(&message, &[]).expect("send"), Sent::WouldBlock);
        let mut buf = [0; 10_000];
        for _ in 0..count {
            assert_eq!(theirs.recv(&mut buf, &mut vec![]).expect("recv"), Recv::Message(10_000));
        }
        assert_eq!(ours.send(&message, &[]).expect("send"), Sent::Done);
    }

    #[test]
    fn messages_that_make_no_sense_are_refused() {
        let (ours, theirs) = ends();
        assert!(ours.send(b"", &[]).is_err());
        let lent = vec![ours.as_fd(); MAX_FDS + 1];
        assert!(ours.send(b"x", &lent).is_err());
        assert_eq!(theirs.recv(&mut [0; 3], &mut vec![]).expect("recv"), Recv::WouldBlock);
    }
}
