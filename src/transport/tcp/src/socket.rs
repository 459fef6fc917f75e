//! All system calls on sockets.

use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::slice;
use std::time::Duration;

use dat_software::user::{Source, Target};
use host::cancel::Shielded;
use host::fork::CloseOnFork;
use rustix::io::Errno;
use rustix::net::{
    self, AddressFamily, RecvAncillaryBuffer, RecvFlags, SendAncillaryBuffer, SendFlags, Shutdown, SocketFlags,
    SocketType, ipproto, sockopt,
};

/// Idle time before the first keepalive probe.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
/// Number of lost keepalive probes that end the connection.
const KEEPALIVE_PROBES: u32 = 5;
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(3);
/// Maximum time between retransmissions, in milliseconds. With it, the 15 retransmissions before the kernel ends a
/// connection take 14 seconds. Kernels before Linux 6.15 lack this option: there they take 15 minutes.
const MAX_RETRY_MS: libc::c_int = 1000;
/// Number of the socket option for [`MAX_RETRY_MS`], which libc lacks.
const TCP_RTO_MAX_MS: libc::c_int = 44;
/// Maximum number of connections that wait for [`Socket::accept`].
const BACKLOG: i32 = 4096;
const FLAGS: SocketFlags = SocketFlags::CLOEXEC.union(SocketFlags::NONBLOCK);
const SEND_FLAGS: SendFlags = SendFlags::NOSIGNAL.union(SendFlags::DONTWAIT);

/// A non-blocking TCP socket, which fork and exec close in the child.
#[derive(Debug)]
pub struct Socket {
    // The first field, because it must be dropped before the descriptor.
    _note: CloseOnFork,
    fd: Shielded<OwnedFd>,
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl Socket {
    fn noted(create: impl FnOnce() -> rustix::io::Result<OwnedFd>) -> io::Result<Socket> {
        let (_note, fd) = CloseOnFork::create(create)?;
        Ok(Socket { _note, fd: Shielded::new(fd) })
    }

    fn new(address: &SocketAddr) -> io::Result<Socket> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        Socket::noted(|| net::socket_with(family, SocketType::STREAM, FLAGS, Some(ipproto::TCP)))
    }

    /// Listens at an address. For port 0, the kernel selects a port.
    pub fn listen(at: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::new(&at)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        net::bind(&socket, &at)?;
        net::listen(&socket, BACKLOG)?;
        Ok(socket)
    }

    /// Starts to connect. The socket becomes writable when it is connected, or has failed to connect; then
    /// [`Socket::take_error`] returns the result.
    pub fn connect(from: SocketAddr, to: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::new(&to)?;
        // A service point may listen at this socket's port. Without this option, one of the two binds would fail.
        sockopt::set_socket_reuseaddr(&socket, true)?;
        // With this option, connect(2) selects the port instead of bind(2), and can select a port with connections to
        // other destinations.
        socket.set_option(libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, 1);
        net::bind(&socket, &from)?;
        socket.set_up(from.ip() == to.ip());
        match net::connect(&socket, &to) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(error) => Err(error.into()),
        }
    }

    /// Accepts a connection; `None` if none waits. After an error, such as `EMFILE`, it stays in the backlog.
    pub fn accept(&self) -> io::Result<Option<(Socket, SocketAddr)>> {
        let mut peer = None;
        let accepted = Socket::noted(|| {
            let (fd, address) = net::acceptfrom_with(&self.fd, FLAGS)?;
            peer = address.and_then(|address| SocketAddr::try_from(address).ok());
            Ok(fd)
        });
        let socket = match accepted {
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::ConnectionAborted) => {
                return Ok(None);
            }
            accepted => accepted?,
        };
        let Some(peer) = peer else { return Ok(None) };
        socket.set_up(socket.local().is_some_and(|local| local.ip() == peer.ip()));
        Ok(Some((socket, peer)))
    }

    /// Disables the delay of small segments, and enables the detection of lost hosts. Within this host, selects Reno,
    /// because pacing congestion control such as BBR would halve the bandwidth.
    fn set_up(&self, within_host: bool) {
        let _ = sockopt::set_tcp_nodelay(self, true);
        if within_host {
            let _ = sockopt::set_tcp_congestion(self, "reno");
        }
        let _ = sockopt::set_tcp_keepidle(self, KEEPALIVE_IDLE);
        let _ = sockopt::set_tcp_keepintvl(self, KEEPALIVE_INTERVAL);
        let _ = sockopt::set_tcp_keepcnt(self, KEEPALIVE_PROBES);
        let _ = sockopt::set_socket_keepalive(self, true);
        self.set_option(libc::IPPROTO_TCP, TCP_RTO_MAX_MS, MAX_RETRY_MS);
    }

    pub fn local(&self) -> Option<SocketAddr> {
        net::getsockname(&self.fd).ok().and_then(|address| address.try_into().ok())
    }

    pub fn peer(&self) -> Option<SocketAddr> {
        net::getpeername(&self.fd).ok().flatten().and_then(|address| address.try_into().ok())
    }

    /// Returns the local port; 0 if it is unknown.
    pub fn port(&self) -> u16 {
        self.local().map_or(0, |local| local.port())
    }

    pub fn take_error(&self) -> io::Result<()> {
        Ok(sockopt::socket_error(&self.fd)??)
    }

    fn set_option(&self, level: libc::c_int, name: libc::c_int, value: libc::c_int) {
        let (place, size) = (&raw const value, size_of_val(&value) as libc::socklen_t);
        // SAFETY: `place` points to `size` bytes, the value of the option.
        let _ = unsafe { libc::setsockopt(self.fd.as_fd().as_raw_fd(), level, name, place.cast(), size) };
    }

    /// Sends as many bytes as the socket has room for. Returns their number.
    pub fn send(&self, pieces: &[Source<'_>]) -> io::Result<usize> {
        // SAFETY: pieces and slices are laid out as `iovec`. The bytes are readable, and only the kernel reads them.
        let slices = unsafe { slice::from_raw_parts(pieces.as_ptr().cast::<IoSlice<'_>>(), pieces.len()) };
        let mut control = SendAncillaryBuffer::default();
        Ok(unless_blocked(net::sendmsg(&self.fd, slices, &mut control, SEND_FLAGS))?.unwrap_or(0))
    }

    /// Receives into the pieces. Returns the number of bytes, 0 after the end of the stream, `None` before any arrive.
    pub fn recv(&self, pieces: &mut [Target<'_>]) -> io::Result<Option<usize>> {
        // SAFETY: pieces and slices are laid out as `iovec`. The bytes are writable, and only the kernel writes them.
        let slices = unsafe { slice::from_raw_parts_mut(pieces.as_mut_ptr().cast::<IoSliceMut<'_>>(), pieces.len()) };
        let received = net::recvmsg(&self.fd, slices, &mut RecvAncillaryBuffer::default(), RecvFlags::DONTWAIT);
        Ok(unless_blocked(received)?.map(|received| received.bytes))
    }

    pub fn send_bytes(&self, bytes: &[u8]) -> io::Result<usize> {
        Ok(unless_blocked(net::send(&self.fd, bytes, SEND_FLAGS))?.unwrap_or(0))
    }

    /// Does what [`Socket::recv`] does for memory of this library.
    pub fn recv_bytes(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        Ok(unless_blocked(net::recv(&self.fd, bytes, RecvFlags::DONTWAIT))?.map(|(received, _)| received))
    }

    /// Returns whether there are bytes to receive: `None` if there are none yet, `false` after the end of the stream.
    pub fn peek(&self) -> io::Result<Option<bool>> {
        let received = net::recv(&self.fd, &mut [0_u8; 1][..], RecvFlags::DONTWAIT | RecvFlags::PEEK);
        Ok(unless_blocked(received)?.map(|(received, _)| received > 0))
    }

    /// Sends the kernel's pending acknowledgement now, instead of with the next data or after the next read. The kernel
    /// delays later acknowledgements again. If none is pending, the effect is the opposite: the kernel delays later
    /// ones less.
    pub fn acknowledge(&self) {
        self.set_option(libc::IPPROTO_TCP, libc::TCP_QUICKACK, 2);
    }

    pub fn shut_down(&self, how: Shutdown) {
        let _ = net::shutdown(&self.fd, how);
    }
}

/// Returns `None` if a call would block, or a signal interrupted it.
fn unless_blocked<T>(result: rustix::io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(value) => Ok(Some(value)),
        Err(Errno::AGAIN | Errno::INTR) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
