//! Connection attempts of this end.

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::time::Instant;

use dat_core::transport::{ConnectionReport, Rejection};
use dat_software::qp::Phase;

use crate::conn::After;
use crate::handshakes::{Attempt, Half};
use crate::hello::{self, Refusal};
use crate::socket::Socket;
use crate::stream::Stream;

impl Attempt {
    /// Runs a step of an attempt that was removed from the list of handshakes. Defers the report of a failure.
    pub fn run(self, step: impl FnOnce(Self) -> io::Result<()>) {
        let (conn, to) = (self.conn.clone(), self.to);
        if let Err(error) = step(self) {
            log::debug!(target: host::diagnostics::CM, "connection {}: cannot connect to {to}: {error}", conn.number);
            conn.device.later(After::GivenUp(conn.clone(), ConnectionReport::of(&error)));
        }
        // The program may have disconnected while the attempt was not in the list.
        if conn.base.phase() == Phase::Dead {
            conn.device.handshakes.remove(conn.number);
        }
    }

    /// Adds the attempt to the list of handshakes. It stays there until its socket is ready, or until `next` (the time
    /// of the next TCP connection) or the program's timeout.
    fn wait(self, next: Option<Instant>) -> io::Result<()> {
        let (device, number) = (self.conn.device.clone(), self.conn.number);
        let deadline = self.deadline.into_iter().chain(next).min();
        device.handshakes.add(number, Half::Attempt(self), deadline)
    }

    pub fn start(self) -> io::Result<()> {
        let socket = Socket::connect(SocketAddr::new(self.conn.device.place.address, 0), self.to);
        self.begin(socket)
    }

    /// Stores the socket of a new TCP connection, and waits for the result. Passes an error on to [`Attempt::retry`].
    pub fn begin(mut self, socket: io::Result<Socket>) -> io::Result<()> {
        match socket {
            Ok(socket) => {
                self.conn.port.store(socket.port(), Ordering::Relaxed);
                self.socket = Some(socket);
                self.wait(None)
            }
            Err(error) => self.retry(error),
        }
    }

    /// Schedules another TCP connection if the peer has no listener, and time is left. Otherwise returns the error.
    fn retry(mut self, error: io::Error) -> io::Result<()> {
        match self.retry.next_attempt(Instant::now()) {
            next @ Some(_) if error.kind() == io::ErrorKind::ConnectionRefused => self.wait(next),
            _ => Err(error),
        }
    }

    /// Continues an attempt whose TCP connection has a result, or whose greeting of the passive side is complete.
    pub fn proceed(mut self) -> io::Result<()> {
        match self.socket.take() {
            Some(socket) if self.has_greeted => self.answered(socket),
            Some(socket) => self.greet(socket),
            None => Ok(()),
        }
    }

    fn greet(mut self, socket: Socket) -> io::Result<()> {
        let sent = socket.take_error().and_then(|()| match socket.local() == Some(self.to) {
            // Without a listener, a socket with the destination's port connects to itself.
            true => Err(io::ErrorKind::ConnectionRefused.into()),
            false => socket.send_bytes(&self.greeting),
        });
        match sent {
            Ok(sent) if sent == self.greeting.len() => {
                (self.socket, self.has_greeted) = (Some(socket), true);
                self.wait(None)
            }
            Ok(_) => Err(io::ErrorKind::WriteZero.into()),
            Err(error) => self.retry(error),
        }
    }

    fn answered(mut self, socket: Socket) -> io::Result<()> {
        let conn = self.conn.clone();
        match hello::decode(&self.got) {
            Some((Ok(theirs), private_data)) => {
                let stream = conn.new_stream(Stream::room().map_err(|_| io::ErrorKind::OutOfMemory)?, socket);
                // Added before the program can post, because only the set of sockets reports room in a full socket.
                conn.device.shared.sockets.add(stream.socket.as_fd(), conn.number)?;
                if conn.attach(&stream, &theirs) {
                    // An empty record: the acceptor waits for a first record.
                    let _ = stream.report();
                    conn.established(private_data);
                }
                Ok(())
            }
            Some((Err(Refusal::Rejected(Rejection::Consumer)), private_data)) => {
                conn.give_up(ConnectionReport::PeerRejected(private_data));
                Ok(())
            }
            Some((Err(Refusal::Again), _)) => {
                self.got.clear();
                self.has_greeted = false;
                let next = self.retry.again(Instant::now());
                self.wait(Some(next))
            }
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}
