//! What a connection's socket is told about peers that are gone without a word, and what it knows of them.

use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::time::Duration;

use rustix::net::sockopt;

/// The kernel asks the host of the peer for a sign of life once nothing has come for this time,
const IDLE: Duration = Duration::from_secs(10);
/// so often,
const QUESTIONS: u32 = 5;
/// at this distance, before it ends the connection.
const DISTANCE: Duration = Duration::from_secs(3);
/// The longest time between two attempts to send what the peer's host has not acknowledged: 15 of them take 14 seconds then, and
/// a quarter of an hour otherwise. Kernels before 6.15 do not know it.
const RETRY_MS: libc::c_int = 1000;
/// The number of that option, which the C library does not have yet.
const TCP_RTO_MAX_MS: libc::c_int = 44;
/// A host that has not acknowledged anything for this time is gone: with the questions above a living one does it more often. So
/// is one that has not since the kernel has repeated something.
const SILENCE: Duration = Duration::from_secs(12);

/// The state of a connection that is over.
const CLOSED: u8 = 7;

/// Calls `f` with a socket of libfabric's.
fn with<R>(fd: RawFd, f: impl FnOnce(BorrowedFd<'_>) -> R) -> R {
    // SAFETY: if it is closed, calls fail, or find a socket whose connection is none of libfabric's.
    f(unsafe { BorrowedFd::borrow_raw(fd) })
}

/// Has the kernel end the connection when the host of the peer is gone.
pub fn watch_peer(fd: RawFd) {
    with(fd, |socket| {
        let _ = sockopt::set_tcp_keepidle(socket, IDLE);
        let _ = sockopt::set_tcp_keepintvl(socket, DISTANCE);
        let _ = sockopt::set_tcp_keepcnt(socket, QUESTIONS);
        let _ = sockopt::set_socket_keepalive(socket, true);
        let retry = RETRY_MS;
        let (value, size) = (&raw const retry, mem::size_of_val(&retry) as libc::socklen_t);
        // SAFETY: the option has a number as its value.
        let _ = unsafe { libc::setsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, TCP_RTO_MAX_MS, value.cast(), size) };
    });
}

/// Whether the host of the peer was silent for so long that it is gone.
pub fn is_silent(fd: RawFd) -> bool {
    with(fd, |socket| {
        // SAFETY: numbers alone, for which zero is a value.
        let mut info: libc::tcp_info = unsafe { mem::zeroed() };
        let mut size = mem::size_of_val(&info) as libc::socklen_t;
        let place = (&raw mut info).cast();
        // SAFETY: there is room for as many bytes as it says.
        let result =
            unsafe { libc::getsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, libc::TCP_INFO, place, &raw mut size) };
        let silence = Duration::from_millis(info.tcpi_last_ack_recv.into());
        let over = result == 0 && info.tcpi_state == CLOSED;
        over && (info.tcpi_retransmits > 0 || info.tcpi_probes > 0 || silence >= SILENCE)
    })
}
