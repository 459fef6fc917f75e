//! Local sockets that preserve message boundaries and carry descriptors.
//!
//! Sockets never block: a call that cannot read or write returns an error, and [`host::poll::Epoll`] reports when to
//! retry. Children of `fork` do not inherit sockets: peers take the end of a socket for the end of the process.

use std::fs::{self, Permissions};
use std::io::{self, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::thread;

use host::cancel::Shielded;
use host::fork::CloseOnFork;
use rustix::cmsg_space;
use rustix::io::{Errno, Result, retry_on_intr};
use rustix::net::sockopt::set_socket_send_buffer_size;
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, Shutdown, SocketAddrUnix, SocketFlags, SocketType, accept_with, bind, connect,
    listen, recvmsg, send, sendmsg, shutdown, socket_with,
};

/// Maximum number of descriptors of a message.
pub const MAX_FDS: usize = 16;

/// Maximum length of a socket's path, in bytes.
const MAX_PATH: usize = 107;

/// Size of the send buffer that [`Socket::enlarge`] requests, in bytes.
const SEND_SIZE: usize = 256 << 10;

/// Maximum attempts of [`Socket::send_byte`] while the system has no memory.
const ATTEMPTS: usize = 1000;

/// One end of a connection, or a listening socket.
#[derive(Debug)]
pub struct Socket {
    /// The first field, so that it is dropped before the descriptor, whose number another file can then get.
    _note: CloseOnFork,
    fd: Shielded<OwnedFd>,
}

const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);

fn address(path: &Path) -> Result<SocketAddrUnix> {
    // An empty path would name another kind of socket; a path over [`MAX_PATH`] would have no NUL.
    if path.as_os_str().is_empty() || path.as_os_str().len() > MAX_PATH {
        return Err(Errno::NAMETOOLONG);
    }
    SocketAddrUnix::new(path)
}

const CONTROL: usize = cmsg_space!(ScmRights(MAX_FDS));

impl Socket {
    fn noted(create: impl FnOnce() -> Result<OwnedFd>) -> Result<Socket> {
        let (_note, fd) = CloseOnFork::create(create)?;
        Ok(Socket { _note, fd: Shielded::new(fd) })
    }

    fn new() -> Result<Socket> {
        Socket::noted(|| socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, FLAGS, None))
    }

    /// Listens at `name` in the network namespace, without a file.
    ///
    /// # Errors
    /// `AddrInUse` if another socket has the name; otherwise a system error.
    pub fn listen_in_namespace(name: &str) -> io::Result<Socket> {
        let socket = Socket::new()?;
        bind(&socket, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
        listen(&socket, 64)?;
        Ok(socket)
    }

    /// Connects to the process that listens at `name` in the network namespace. Errors are as for [`Socket::connect`].
    pub fn connect_in_namespace(name: &str) -> Result<Socket> {
        Socket::connect_to(&SocketAddrUnix::new_abstract_name(name.as_bytes())?)
    }

    /// Listens at `path`. Creates the file, which a drop of the socket does not remove.
    ///
    /// # Errors
    /// `AddrInUse` if the file exists; an error that names the path if that has more than 107 bytes; or a system error.
    /// After an error there is no new file.
    pub fn listen(path: &Path) -> io::Result<Socket> {
        let named = |error: Errno| io::Error::new(error.kind(), format!("{}: {error}", path.display()));
        let address = address(path).map_err(named)?;
        let socket = Socket::new()?;
        bind(&socket, &address)?;
        // The umask may have removed the right to connect. The kernel limits the backlog.
        let ready = fs::set_permissions(path, Permissions::from_mode(0o600)).and_then(|()| Ok(listen(&socket, 4096)?));
        if let Err(error) = ready {
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(socket)
    }

    /// Accepts a connection. Returns `None` if no connection waits.
    ///
    /// # Errors
    /// A system error, such as too many open files; the connection then stays in the queue.
    pub fn accept(&self) -> Result<Option<Socket>> {
        match Socket::noted(|| retry_on_intr(|| accept_with(&self.fd, FLAGS))) {
            Ok(socket) => Ok(Some(socket)),
            Err(Errno::AGAIN | Errno::CONNABORTED) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Connects to the process that listens at `path`, without waiting for the accept.
    ///
    /// # Errors
    /// * [`Errno::CONNREFUSED`] - no file there, or its owner has exited.
    /// * [`Errno::AGAIN`] - the queue is full; retry.
    /// * any other system error.
    pub fn connect(path: &Path) -> Result<Socket> {
        Socket::connect_to(&address(path)?)
    }

    fn connect_to(address: &SocketAddrUnix) -> Result<Socket> {
        let socket = Socket::new()?;
        match retry_on_intr(|| connect(&socket, address)) {
            Ok(()) => Ok(socket),
            Err(Errno::NOENT | Errno::NOTDIR) => Err(Errno::CONNREFUSED),
            Err(error) => Err(error),
        }
    }

    /// Sends `bytes` as one message, with duplicates of `fds`.
    ///
    /// # Errors
    /// After an error, nothing was sent.
    /// * [`Errno::AGAIN`] - there is no room for the message or for descriptors in flight, or no kernel memory.
    /// * [`Errno::PIPE`] - no process can read the message.
    /// * [`Errno::INVAL`] - the message is empty, which would look like the end, or has over [`MAX_FDS`] descriptors.
    /// * any other system error.
    pub fn send(&self, bytes: &[u8], fds: &[BorrowedFd<'_>]) -> Result<()> {
        if bytes.is_empty() || fds.len() > MAX_FDS {
            return Err(Errno::INVAL);
        }
        let mut space = [MaybeUninit::uninit(); CONTROL];
        let mut control = SendAncillaryBuffer::new(&mut space);
        if !fds.is_empty() && !control.push(SendAncillaryMessage::ScmRights(fds)) {
            return Err(Errno::INVAL); // there is room for MAX_FDS
        }
        let flags = SendFlags::NOSIGNAL | SendFlags::DONTWAIT;
        match retry_on_intr(|| sendmsg(&self.fd, &[IoSlice::new(bytes)], &mut control, flags)) {
            Ok(_) => Ok(()),
            // Temporary: descriptors in flight have reached the limit of open files, or memory is short.
            Err(Errno::TOOMANYREFS | Errno::NOBUFS | Errno::NOMEM) => Err(Errno::AGAIN),
            Err(Errno::CONNRESET | Errno::NOTCONN) => Err(Errno::PIPE),
            Err(error) => Err(error),
        }
    }

    /// Raises the limit on the bytes of messages that the peer has not read. A failure has no effect.
    pub fn enlarge(&self) {
        // The kernel limits the size to net.core.wmem_max, then doubles it.
        let _ = set_socket_send_buffer_size(&self.fd, SEND_SIZE);
    }

    /// Sends one byte as a message. Drops it if the socket is full or has no reader.
    pub fn send_byte(&self, byte: u8) {
        for _ in 0..ATTEMPTS {
            match send(&self.fd, &[byte], SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
                Err(Errno::NOBUFS | Errno::NOMEM | Errno::INTR) => thread::yield_now(),
                _ => return,
            }
        }
    }

    /// Ends the connection for both sides, even if other processes have the socket. Sent messages arrive.
    pub fn end(&self) {
        let _ = shutdown(&self.fd, Shutdown::Both);
    }

    /// Receives one message into `buf`, and appends its descriptors, with close-on-exec, to `fds`. Returns the
    /// message's length; 0 after the peer's end.
    ///
    /// # Errors
    /// * [`Errno::AGAIN`] - there is no message now.
    /// * [`Errno::MSGSIZE`] - `buf` was too short, or there were over [`MAX_FDS`] descriptors. The message is lost.
    /// * [`Errno::MFILE`] - this process has no room for the descriptors. The message is lost.
    /// * any other system error.
    pub fn recv(&self, buf: &mut [u8], fds: &mut Vec<OwnedFd>) -> Result<usize> {
        let mut space = [MaybeUninit::uninit(); CONTROL];
        let mut control = RecvAncillaryBuffer::new(&mut space);
        let flags = RecvFlags::CMSG_CLOEXEC | RecvFlags::DONTWAIT;
        let mut recv = || retry_on_intr(|| recvmsg(&self.fd, &mut [IoSliceMut::new(buf)], &mut control, flags));
        let got = match recv() {
            // The peer closed its end with unread messages. The kernel reports that once, before the peer's messages.
            Err(Errno::CONNRESET) => recv(),
            got => got,
        };
        let got = match got {
            Ok(got) => got,
            Err(Errno::CONNRESET | Errno::NOTCONN) => return Ok(0),
            Err(error) => return Err(error),
        };
        let before = fds.len();
        for message in control.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                fds.extend(received);
            }
        }
        // The alignment of the control buffer may leave room for one more descriptor.
        let arrived = fds.len() - before;
        if arrived > MAX_FDS || got.flags.intersects(ReturnFlags::TRUNC | ReturnFlags::CTRUNC) {
            fds.truncate(before);
            let lacks = arrived < MAX_FDS && got.flags.contains(ReturnFlags::CTRUNC);
            return Err(if lacks { Errno::MFILE } else { Errno::MSGSIZE });
        }
        if got.bytes == 0 {
            fds.truncate(before);
        }
        Ok(got.bytes)
    }

    /// Returns the ID of the process at the other end, according to the kernel: the process that connected or called
    /// listen. Returns 0 if this process cannot see that process.
    ///
    /// # Errors
    /// `PermissionDenied` for a process of another user; otherwise a system error.
    pub fn peer(&self) -> io::Result<libc::pid_t> {
        let (pid, user) = self.peer_of_any_user()?;
        if user != rustix::process::geteuid().as_raw() {
            return Err(io::Error::new(io::ErrorKind::PermissionDenied, format!("a process of user {user}")));
        }
        Ok(pid)
    }

    /// Returns the process ID as [`Socket::peer`] does, and the user.
    ///
    /// # Errors
    /// A system error.
    pub fn peer_of_any_user(&self) -> io::Result<(libc::pid_t, libc::uid_t)> {
        // rustix has no process 0, which the kernel reports for an invisible process.
        let mut found = libc::ucred { pid: 0, uid: libc::uid_t::MAX, gid: libc::gid_t::MAX };
        let mut len = size_of_val(&found) as libc::socklen_t;
        let (level, option) = (libc::SOL_SOCKET, libc::SO_PEERCRED);
        // SAFETY: getsockopt writes at most `len` bytes to a live structure.
        let result =
            unsafe { libc::getsockopt(self.fd.as_raw_fd(), level, option, (&raw mut found).cast(), &raw mut len) };
        if result != 0 {
            return Err(io::Error::last_os_error());
        }
        Ok((found.pid, found.uid))
    }
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests;
