//! Connection management: service points, connection attempts, and the greetings that both ends exchange first.
//!
//! ```text
//! active side                               passive side
//! connect ── TCP ─────────────────────────> accept
//! greeting: terms, private data ──────────> a request for the program
//!         <──────── greeting: terms, or a rejection
//! established; an empty record ───────────> established
//! ```
//!
//! The progress thread handles these sockets in a separate epoll set. After [`GREETING_TIMEOUT`], it closes the sockets
//! of peers without a complete greeting, and ends accepted connections whose peer has sent no record. At
//! `MAX_GREETINGS` incomplete greetings, it closes the socket of the oldest with [`Refusal::Again`]. After that reply,
//! or while the peer has no listener, the active side repeats its attempt ([`ConnectRetry`]).

use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use dat_core::addr::{Address, port_of};
use dat_core::error::{Error, Result};
use dat_core::transport::{Connect, ConnectRetry, ConnectionReport, ConnectionRequestInfo, ListenerSink, Rejection};
use dat_software::qp::Phase;
use dat_software::regions::next_port;
use host::poll::Ready;
use host::{limit, net};

use crate::Tcp;
use crate::conn::Conn;
use crate::device::Device;
use crate::handshakes::{Attempt, GREETING_TIMEOUT, Greeting, Half};
use crate::hello::{self, MAX_PRIVATE_DATA, Refusal, Terms};
use crate::record::End;
use crate::rx::ConnEnd;
use crate::socket::Socket;
use crate::stream::Stream;

mod attempt;

/// Time that each peer has for its greeting before a lack of free descriptors can close its socket.
const MIN_GREETING_TIME: Duration = Duration::from_secs(1);
/// Maximum number of accepts at one service point before the progress thread handles other sockets.
const MAX_ACCEPTS: usize = 64;
/// Time in which no service point accepts, after a lack of descriptors.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

/// A listening service point. A drop closes it.
pub struct Listener {
    device: Arc<Device>,
    number: u64,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.device.handshakes.remove(self.number);
    }
}

/// A pending connection request. A drop rejects it.
pub struct Incoming {
    socket: Option<Socket>,
    theirs: Terms,
}

impl Drop for Incoming {
    fn drop(&mut self) {
        self.refuse(Rejection::Provider, &[]);
    }
}

impl Incoming {
    pub fn refuse(&mut self, why: Rejection, private_data: &[u8]) {
        if let Some(socket) = self.socket.take() {
            Refusal::Rejected(why).send(&socket, private_data);
        }
    }

    /// Accepts the request with `conn`. After an error, the request is still pending.
    pub fn accept(incoming: &mut Option<Self>, conn: &Arc<Conn>, private_data: &[u8]) -> Result<()> {
        let Some(request) = incoming.as_mut() else { return Err(Error::Internal) };
        let device = &conn.device;
        device.expect()?;
        let room = Stream::room()?;
        let Some(socket) = request.socket.take() else { return Err(Error::Internal) };
        let stream = conn.new_stream(room, socket);
        conn.base.shift(Phase::Idle, Phase::Accepting);
        let theirs = request.theirs;
        let terms = Terms { reads_in: conn.terms.reads_in.min(theirs.reads_out), ..conn.terms };
        *incoming = None;
        if !conn.attach(&stream, &theirs) {
            return Ok(());
        }
        device.enter(conn);
        conn.port.store(stream.socket.port(), Ordering::Relaxed);
        let greeting = hello::encode(Ok(terms), private_data);
        // Nothing was sent before, so the socket takes all of the greeting.
        let sent = stream.socket.send_bytes(&greeting).is_ok_and(|sent| sent == greeting.len());
        let (accepted, deadline) = (Half::Accepted(conn.clone()), Some(Instant::now() + GREETING_TIMEOUT));
        // The half is added before the socket is watched, because the peer's first record removes the half.
        let watched = sent
            && device.handshakes.add(conn.number, accepted, deadline).is_ok()
            && device.shared.sockets.add(stream.socket.as_fd(), conn.number).is_ok();
        if !watched {
            log::debug!(target: host::diagnostics::CM, "connection request: cannot accept: its peer has ended");
            conn.end_later(ConnEnd::Left(End::Disconnected));
        }
        device.wakeup.wake();
        Ok(())
    }
}

/// Listens on `qualifier`, or on a port that the kernel selects.
pub fn listen(device: &Arc<Device>, qualifier: Option<u64>, sink: ListenerSink<Tcp>) -> Result<(Listener, u64)> {
    let at = SocketAddr::new(device.place.address, qualifier.map_or(0, port_of));
    let failed = |error: io::Error| {
        net::log_listen_failure(at, &error);
        Error::of_listen(&error, qualifier)
    };
    let socket = Socket::listen(at).map_err(failed)?;
    let qualifier = qualifier.unwrap_or_else(|| socket.port().into());
    let number = next_port();
    device.handshakes.add(number, Half::Listening { socket, qualifier, sink }, None).map_err(failed)?;
    device.wakeup.wake();
    Ok((Listener { device: device.clone(), number }, qualifier))
}

pub fn connect(conn: &Arc<Conn>, connect: &Connect<'_>) -> Result<()> {
    let device = &conn.device;
    device.expect()?;
    let ip = Some(connect.address.ip()).filter(|ip| !ip.is_unspecified()).unwrap_or(device.place.address);
    let to = SocketAddr::new(ip, port_of(connect.qualifier));
    let deadline = connect.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let greeting = hello::encode(Ok(conn.terms), connect.private_data);
    let socket = match Socket::connect(SocketAddr::new(device.place.address, 0), to) {
        Err(error) if limit::is_lack(&error) => {
            log::warn!("endpoint: cannot connect to {to}: {error}");
            return Err(Error::lacking(&error));
        }
        socket => socket,
    };
    conn.base.shift(Phase::Idle, Phase::Connecting);
    device.enter(conn);
    let retry = ConnectRetry::new(Instant::now());
    let (conn, got) = (conn.clone(), Greeting::new());
    let attempt = Attempt { conn, to, socket: None, greeting, has_greeted: false, got, retry, deadline };
    attempt.run(|attempt| attempt.begin(socket));
    device.wakeup.wake();
    Ok(())
}

/// Handles a ready socket of the list of handshakes. Called without a lock.
pub fn handle(device: &Arc<Device>, Ready { token: number, .. }: Ready) {
    let set = &device.handshakes;
    let received = match set.halves.lock().get(number) {
        Some(Half::Listening { .. }) => None,
        Some(Half::Greeting { socket, got, .. }) => Some(receive(socket, got)),
        Some(Half::Attempt(Attempt { socket: Some(socket), got, has_greeted: true, .. })) => Some(receive(socket, got)),
        _ => Some(Ok(true)),
    };
    let Some(received) = received else { return accept(device, number) };
    if matches!(received, Ok(false)) {
        return;
    }
    match set.remove(number) {
        Some(Half::Attempt(attempt)) => attempt.run(|attempt| received.and_then(|_| attempt.proceed())),
        Some(Half::Greeting { socket, service, peer, got }) if received.is_ok() => {
            request(device, socket, service, peer, &got);
        }
        _ => {}
    }
}

/// Accepts up to [`MAX_ACCEPTS`] connections to the service point `number`.
fn accept(device: &Arc<Device>, number: u64) {
    let set = &device.handshakes;
    for _ in 0..MAX_ACCEPTS {
        let accepted = match set.halves.lock().get(number) {
            Some(Half::Listening { socket, .. }) => socket.accept(),
            _ => return,
        };
        match accepted {
            Ok(Some((socket, peer))) => {
                set.make_room(peer.ip());
                let half = Half::Greeting { socket, service: number, peer, got: Greeting::new() };
                let _ = set.add(next_port(), half, Some(Instant::now() + GREETING_TIMEOUT));
            }
            Ok(None) => return,
            Err(error) => {
                log::debug!(target: host::diagnostics::CM, "service point: cannot accept: {error}");
                // The connection stays in the backlog, so the socket stays ready. Unless a closed peer frees a
                // descriptor, accepts pause, so that this thread does not spin.
                if !set.close_oldest(None, 1, MIN_GREETING_TIME) {
                    set.accept_paused.store(true, Ordering::Relaxed);
                }
                return;
            }
        }
    }
}

/// Handles the passed deadline of a half that was removed from the list. Called without a lock.
pub fn expire(half: Half, now: Instant) {
    match half {
        Half::Attempt(attempt) if attempt.deadline.is_none_or(|deadline| deadline > now) => {
            attempt.run(Attempt::start);
        }
        Half::Attempt(attempt) => attempt.conn.give_up(ConnectionReport::TimedOut),
        // The first record may have arrived shortly before, for example while this process was stopped.
        Half::Accepted(conn) if !conn.first_record() && conn.base.phase() == Phase::Accepting => {
            conn.peer_left(End::Disconnected);
        }
        // The drop closes the socket.
        Half::Accepted(_) | Half::Greeting { .. } | Half::Listening { .. } | Half::Leaving(_) => {}
    }
}

/// Receives bytes of a greeting. Returns whether it is complete, or an error if the peer has left or uses another
/// protocol.
fn receive(socket: &Socket, got: &mut Greeting) -> io::Result<bool> {
    loop {
        let wanted = hello::SIZE + got.get(8..hello::SIZE).map_or(0, |rest| usize::from(rest[0]).min(MAX_PRIVATE_DATA));
        if got.len() == wanted {
            return Ok(true);
        }
        let mut bytes = [0; hello::SIZE + MAX_PRIVATE_DATA];
        match socket.recv_bytes(&mut bytes[..wanted - got.len()])? {
            Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Some(received) => got.extend(bytes[..received].iter().copied()),
            None if hello::can_begin(got) => return Ok(false),
            None => return Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

fn request(device: &Arc<Device>, socket: Socket, service: u64, peer: SocketAddr, greeting: &[u8]) {
    let service = match device.handshakes.halves.lock().get(service) {
        Some(Half::Listening { qualifier, sink, .. }) => Some((*qualifier, sink.clone())),
        _ => None,
    };
    // If `incoming` is dropped here or by core, it rejects the request.
    let mut incoming = Incoming { socket: Some(socket), theirs: Terms::default() };
    let Some((qualifier, sink)) = service else { return };
    let Some((Ok(theirs), private_data)) = hello::decode(greeting) else { return };
    incoming.theirs = theirs;
    let about = ConnectionRequestInfo {
        qualifier,
        remote_qualifier: peer.port().into(),
        remote_address: Address::new(peer),
        private_data,
        datagrams: Some(theirs.datagrams).filter(|number| *number != 0),
    };
    let _ = sink.request(incoming, about);
}
