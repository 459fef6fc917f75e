//! Sockets: every system call on them that this transport makes.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;
use std::{mem, ptr};

use dat_memory::user::{Source, Target};
use host::cancel::Shielded;
use host::fork::{CloseOnFork, with_fork_lock};
use rustix::io::Errno;
use rustix::net::{
    self, AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketFlags, SocketType, ipproto, sockopt,
};

/// Idle time before the first keepalive probe.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(10);
/// Keepalive probes without an answer after which the kernel ends the connection.
const KEEPALIVE_PROBES: u32 = 5;
/// Time between keepalive probes.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(3);
/// Maximum time between two retransmissions: 15 of them then take 14 seconds, and a quarter of an hour otherwise. Kernels
/// before 6.15 do not have the option.
const MAX_RETRY_MS: libc::c_int = 1000;
/// The number of that option, which libc lacks.
const TCP_RTO_MAX_MS: libc::c_int = 44;
/// A closed connection whose peer acknowledged nothing for this time lost its peer's host.
const SILENCE: Duration = Duration::from_secs(12);
/// `TCP_CLOSE`, a state of a connection.
const CLOSED: u8 = 7;
/// Connections that the kernel keeps for [`Socket::accept`].
const BACKLOG: i32 = 4096;

/// A TCP socket that never blocks. Children of a fork close it, and so does exec.
#[derive(Debug)]
pub struct Socket {
    // Ends before the descriptor is closed.
    _note: CloseOnFork,
    fd: Shielded<OwnedFd>,
}

impl AsFd for Socket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

fn flags() -> SocketFlags {
    SocketFlags::CLOEXEC | SocketFlags::NONBLOCK
}

impl Socket {
    /// Creates a descriptor and notes it, with no fork between the two.
    fn noted(create: impl FnOnce() -> rustix::io::Result<OwnedFd>) -> io::Result<Socket> {
        with_fork_lock(|| {
            let fd = create()?;
            Ok(Socket { _note: CloseOnFork::new(&fd), fd: Shielded::new(fd) })
        })
    }

    fn new(address: &SocketAddr) -> io::Result<Socket> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        Socket::noted(|| net::socket_with(family, SocketType::STREAM, flags(), Some(ipproto::TCP)))
    }

    /// Listens at an address. Port 0 lets the kernel choose one.
    ///
    /// # Errors
    /// The error of the system, such as `AddrInUse`.
    pub fn listen(at: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::new(&at)?;
        sockopt::set_socket_reuseaddr(&socket, true)?;
        if at.is_ipv6() {
            sockopt::set_ipv6_v6only(&socket, true)?;
        }
        net::bind(&socket, &at)?;
        net::listen(&socket, BACKLOG)?;
        Ok(socket)
    }

    /// Starts to connect to `to` from the address `from`. The socket becomes writable when the attempt ends, and
    /// [`Socket::take_error`] then returns the outcome.
    ///
    /// # Errors
    /// The error of the system.
    pub fn connect(from: SocketAddr, to: SocketAddr) -> io::Result<Socket> {
        let socket = Socket::new(&to)?;
        // A service point can listen at the port of this socket.
        sockopt::set_socket_reuseaddr(&socket, true)?;
        // The kernel chooses the port with regard to both addresses when the socket connects, not when it is bound.
        let on: libc::c_int = 1;
        socket.set_option(libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT, on);
        net::bind(&socket, &from)?;
        socket.set_up(from.ip() == to.ip());
        match net::connect(&socket, &to) {
            Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
            Err(error) => Err(error.into()),
        }
    }

    /// Accepts a connection. Returns `None` if there is none.
    ///
    /// # Errors
    /// The error of the system, such as too many open files; the connection stays in the backlog then.
    pub fn accept(&self) -> io::Result<Option<(Socket, SocketAddr)>> {
        let mut peer = None;
        let accepted = Socket::noted(|| {
            let (fd, address) = net::acceptfrom_with(&self.fd, flags())?;
            peer = address.and_then(|address: SocketAddrAny| SocketAddr::try_from(address).ok());
            Ok(fd)
        });
        match (accepted, peer) {
            (Ok(socket), Some(peer)) => {
                socket.set_up(socket.local().is_some_and(|local| local.ip() == peer.ip()));
                Ok(Some((socket, peer)))
            }
            (Ok(_), None) => Ok(None),
            // The peer has gone already.
            (Err(error), _) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::ConnectionAborted) => {
                Ok(None)
            }
            (Err(error), _) => Err(error),
        }
    }

    /// Turns off the delay of small segments, and lets the kernel end the connection when the host of the peer no longer answers.
    /// A connection within this host cannot be congested: an algorithm that paces segments, such as BBR, halves its bandwidth.
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

    /// Returns the local address.
    pub fn local(&self) -> Option<SocketAddr> {
        net::getsockname(&self.fd).ok().and_then(|address| address.try_into().ok())
    }

    /// Returns the address of the peer.
    pub fn peer(&self) -> Option<SocketAddr> {
        net::getpeername(&self.fd).ok().flatten().and_then(|address| address.try_into().ok())
    }

    /// Returns why the socket failed, if it did.
    pub fn take_error(&self) -> io::Result<()> {
        Ok(sockopt::socket_error(&self.fd)??)
    }

    fn set_option(&self, level: libc::c_int, name: libc::c_int, value: libc::c_int) {
        let (place, size) = (&raw const value, mem::size_of_val(&value) as libc::socklen_t);
        // SAFETY: the value of the option is an int, and `place` points to one.
        let _ = unsafe { libc::setsockopt(self.fd.as_fd().as_raw_fd(), level, name, place.cast(), size) };
    }

    /// Returns whether the connection ended because the host of the peer no longer answered.
    pub fn is_silent(&self) -> bool {
        // SAFETY: the structure has only numbers, for which zero is a value.
        let mut info: libc::tcp_info = unsafe { mem::zeroed() };
        let mut size = mem::size_of_val(&info) as libc::socklen_t;
        let (fd, place) = (self.fd.as_fd().as_raw_fd(), (&raw mut info).cast());
        // SAFETY: `place` has room for `size` bytes.
        let result = unsafe { libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut size) };
        let silence = Duration::from_millis(info.tcpi_last_ack_recv.into());
        let closed = result == 0 && info.tcpi_state == CLOSED;
        closed && (info.tcpi_retransmits > 0 || info.tcpi_probes > 0 || silence >= SILENCE)
    }

    /// Sends what fits of the pieces. Returns the number of bytes, 0 if there is no room.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn send(&self, pieces: &[Source<'_>]) -> io::Result<usize> {
        let vecs = Source::as_vecs(pieces);
        let flags = libc::MSG_NOSIGNAL | libc::MSG_DONTWAIT;
        // SAFETY: the call only reads the pieces, which can be read (contract of `Source::new`).
        self.transfer(vecs, |fd, message| unsafe { libc::syscall(libc::SYS_sendmsg, fd, message, flags) })?
            .map_or(Ok(0), Ok)
    }

    /// Receives what is there into the pieces. Returns `None` if nothing is there, and `Some(0)` after the end of the stream.
    ///
    /// # Errors
    /// The connection has failed.
    pub fn recv(&self, pieces: &[Target<'_>]) -> io::Result<Option<usize>> {
        let vecs = Target::as_vecs(pieces);
        let flags = libc::MSG_DONTWAIT;
        // SAFETY: the call writes only into the pieces, which can be written (contract of `Target::new`).
        self.transfer(vecs, |fd, message| unsafe { libc::syscall(libc::SYS_recvmsg, fd, message, flags) })
    }

    /// Makes a call with these pieces until no signal interrupts it. Returns `None` if it would block. Preserves errno. The functions
    /// of libc are cancellation points, so `call` is a system call.
    fn transfer(
        &self,
        vecs: &[libc::iovec],
        call: impl Fn(i32, *mut libc::msghdr) -> libc::c_long,
    ) -> io::Result<Option<usize>> {
        // SAFETY: a structure of numbers and pointers, for which zero is a value.
        let mut message: libc::msghdr = unsafe { mem::zeroed() };
        message.msg_iov = ptr::from_ref(vecs).cast_mut().cast();
        message.msg_iovlen = vecs.len() as _;
        // SAFETY: libc returns a valid pointer to the errno of this thread.
        let errno = unsafe { libc::__errno_location() };
        // SAFETY: as said above.
        let before = unsafe { errno.read() };
        let result = loop {
            let result = call(self.fd.as_fd().as_raw_fd(), &raw mut message);
            if result >= 0 {
                break Ok(Some(result as usize));
            }
            match io::Error::last_os_error() {
                error if error.kind() == io::ErrorKind::Interrupted => {}
                error if error.kind() == io::ErrorKind::WouldBlock => break Ok(None),
                error => break Err(error),
            }
        };
        // SAFETY: as said above.
        unsafe { errno.write(before) };
        result
    }

    /// Sends bytes of this library. Returns the number of bytes, 0 if there is no room.
    ///
    /// # Errors
    /// The connection has ended.
    pub fn send_bytes(&self, bytes: &[u8]) -> io::Result<usize> {
        match net::send(&self.fd, bytes, SendFlags::NOSIGNAL | SendFlags::DONTWAIT) {
            Ok(sent) => Ok(sent),
            Err(Errno::AGAIN | Errno::INTR) => Ok(0),
            Err(error) => Err(error.into()),
        }
    }

    /// Receives bytes for this library. The result is that of [`Socket::recv`].
    ///
    /// # Errors
    /// The connection has failed.
    pub fn recv_bytes(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        match net::recv(&self.fd, bytes, RecvFlags::DONTWAIT) {
            Ok((received, _)) => Ok(Some(received)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns whether there is something to receive: `None` if nothing is there yet, false after the end of the stream.
    ///
    /// # Errors
    /// The connection has failed.
    pub fn peek(&self) -> io::Result<Option<bool>> {
        let mut byte = [0_u8; 1];
        match net::recv(&self.fd, &mut byte[..], RecvFlags::DONTWAIT | RecvFlags::PEEK) {
            Ok((received, _)) => Ok(Some(received > 0)),
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Ends the sending direction, or both. The peer reads the end of the stream.
    pub fn shut_down(&self, how: Shutdown) {
        let _ = net::shutdown(&self.fd, how);
    }
}
