//! Attempts of this side to connect.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use dat_core::transport::{ConnectRetry, ConnectionReport};

use super::{Greeting, Half};
use crate::conn::{Conn, Phase};
use crate::socket::Socket;

/// An attempt to connect. It makes TCP connections until one of them stands, or no time is left to wait for a listener.
pub struct Attempt {
    pub conn: Arc<Conn>,
    pub to: SocketAddr,
    pub greeting: Greeting,
    pub retry: ConnectRetry,
}

impl Attempt {
    /// Starts a TCP connection.
    ///
    /// # Errors
    /// The attempt has failed.
    pub fn start(self) -> io::Result<()> {
        let device = self.conn.device().clone();
        match Socket::connect(SocketAddr::new(device.place.address, 0), self.to) {
            Ok(socket) => {
                if let Some(local) = socket.local() {
                    self.conn.set_port(local.port());
                }
                device.handshakes.add(self.conn.number(), Half::Connecting { socket, attempt: self }, true)
            }
            Err(error) => self.retry(error),
        }
    }

    /// Starts another TCP connection some time after one that has failed, if no socket listened.
    ///
    /// # Errors
    /// The attempt has failed.
    fn retry(mut self, error: io::Error) -> io::Result<()> {
        match self.retry.next_attempt(Instant::now()) {
            Some(until) if error.kind() == io::ErrorKind::ConnectionRefused => {
                let (device, number) = (self.conn.device().clone(), self.conn.number());
                device.handshakes.add(number, Half::Waiting { attempt: self, until }, false)
            }
            _ => Err(error),
        }
    }

    /// Does what [`Attempt::start`] does, and reports if the attempt has failed. Called without a lock.
    pub fn start_again(self) {
        let conn = self.conn.clone();
        report(&conn, self.start());
        // The program may have given up before the attempt was in the set again.
        if conn.phase() == Phase::Dead {
            conn.device().handshakes.remove(conn.number());
        }
    }

    /// Handles the failure of a TCP connection. Called without a lock.
    pub fn connection_failed(self, error: io::Error) {
        let conn = self.conn.clone();
        report(&conn, self.retry(error));
    }
}

/// Reports an attempt that has failed.
fn report(conn: &Conn, attempt: io::Result<()>) {
    if let Err(error) = attempt {
        log::debug!(target: host::diagnostics::CM, "connection {}: cannot connect: {error}", conn.number());
        conn.give_up(failure(&error));
    }
}

/// Returns what the failure of an attempt means.
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
