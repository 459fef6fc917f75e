//! Connection attempts of this end.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dat_core::transport::{ConnectRetry, ConnectionReport};
use dat_memory::qp::Phase;

use super::{Greeting, Half};
use crate::conn::Conn;
use crate::socket::Socket;

/// A connection attempt, which repeats TCP connections until one succeeds or the time for retries ends.
pub struct Attempt {
    pub conn: Arc<Conn>,
    pub to: SocketAddr,
    /// The greeting to send, then the received one.
    pub greeting: Greeting,
    pub retry: ConnectRetry,
    /// The end of the program's timeout.
    pub deadline: Option<Instant>,
}

impl Attempt {
    /// Starts a TCP connection. Returns an error if the attempt has failed.
    pub fn start(self) -> io::Result<()> {
        let device = self.conn.device.clone();
        match Socket::connect(SocketAddr::new(device.place.address, 0), self.to) {
            Ok(socket) => {
                if let Some(local) = socket.local() {
                    self.conn.port.store(local.port().into(), Ordering::Relaxed);
                }
                let (number, deadline) = (self.conn.number, self.deadline);
                device.handshakes.add(number, Half::Connecting { socket, attempt: self }, deadline)
            }
            Err(error) => self.retry(error),
        }
    }

    /// Schedules another TCP connection if there was no listener. Otherwise returns the error.
    fn retry(mut self, error: io::Error) -> io::Result<()> {
        match self.retry.next_attempt(Instant::now()) {
            Some(until) if error.kind() == io::ErrorKind::ConnectionRefused => {
                let (device, number) = (self.conn.device.clone(), self.conn.number);
                let until = self.deadline.into_iter().chain([until]).min();
                device.handshakes.add(number, Half::Waiting(self), until)
            }
            _ => Err(error),
        }
    }

    /// Does what [`Attempt::start`] does, and reports a failure. Called without a lock.
    pub fn start_again(self) {
        let conn = self.conn.clone();
        report(&conn, self.start());
        // The program may have disconnected while the attempt was not in the set.
        if conn.base.phase() == Phase::Dead {
            conn.device.handshakes.remove(conn.number);
        }
    }

    /// Handles a failed TCP connection. Called without a lock.
    pub fn connection_failed(self, error: io::Error) {
        let conn = self.conn.clone();
        report(&conn, self.retry(error));
    }
}

fn report(conn: &Conn, attempt: io::Result<()>) {
    if let Err(error) = attempt {
        log::debug!(target: host::diagnostics::CM, "connection {}: cannot connect: {error}", conn.number);
        conn.give_up(failure(&error));
    }
}

pub fn failure(error: &io::Error) -> ConnectionReport {
    match error.raw_os_error() {
        Some(
            libc::ENETUNREACH
            | libc::EHOSTUNREACH
            | libc::EADDRNOTAVAIL
            | libc::ENETDOWN
            | libc::EHOSTDOWN
            | libc::ETIMEDOUT,
        ) => ConnectionReport::Unreachable,
        _ => ConnectionReport::NonPeerRejected,
    }
}
