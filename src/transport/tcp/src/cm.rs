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
//! The progress thread handles these sockets in a separate epoll set. After [`GREETING_TIMEOUT`], it closes peers
//! without a complete greeting, and accepted ones without a record. At [`MAX_GREETINGS`] greetings, it closes the
//! oldest. Without a listener, the active side repeats its attempt ([`ConnectRetry`]).

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use dat_core::addr::{Address, port_of};
use dat_core::error::{AddressFault, Error, Resource, Result};
use dat_core::transport::{Connect, ConnectRetry, ConnectionReport, ConnectionRequestInfo, ListenerSink, Rejection};
use host::lock::Mutex;
use host::memory::{self, Room};
use host::poll::{Epoll, Ready};

use crate::Tcp;
use crate::conn::{Conn, Phase};
use crate::device::{Device, descriptors, no_memory};
use crate::hello::{self, MAX_PRIVATE_DATA, Terms, Word};
use crate::record::kind;
use crate::socket::Socket;
use crate::stream::Stream;

mod attempt;

use attempt::{Attempt, failure};

/// Time in which a peer must complete its greeting.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum time for a greeting if the process has no free descriptor.
const MIN_GREETING_TIME: Duration = Duration::from_secs(1);
/// Maximum number of peers without a complete greeting; one host may have half of them.
const MAX_GREETINGS: usize = 1024;
/// Maximum number of accepts before the next socket's turn.
const MAX_ACCEPTS: usize = 64;
/// Time without accepts after a lack of descriptors.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

type Greeting = ArrayVec<u8, { hello::SIZE + MAX_PRIVATE_DATA }>;

enum Half {
    Listening { socket: Socket, qualifier: u64, sink: ListenerSink<Tcp> },
    Greeting { socket: Socket, service: u64, peer: SocketAddr, got: Greeting, until: Instant },
    Connecting { socket: Socket, attempt: Attempt },
    Waiting { attempt: Attempt, until: Instant },
    Answer { socket: Socket, conn: Arc<Conn>, got: Greeting },
}

impl Half {
    fn socket(&self) -> Option<&Socket> {
        match self {
            Half::Listening { socket, .. }
            | Half::Greeting { socket, .. }
            | Half::Connecting { socket, .. }
            | Half::Answer { socket, .. } => Some(socket),
            Half::Waiting { .. } => None,
        }
    }
}

pub struct Handshakes {
    sockets: Epoll,
    halves: Mutex<Halves>,
    accept_paused: AtomicBool,
}

/// Handshakes, sorted by number. Unlike a hash table, the list needs no memory to replace removed entries.
#[derive(Default)]
struct Halves(Vec<(u64, Box<Half>)>);

impl Halves {
    fn find(&self, number: u64) -> std::result::Result<usize, usize> {
        self.0.binary_search_by_key(&number, |(number, _)| *number)
    }

    fn get(&self, number: u64) -> Option<&Half> {
        Some(&self.0[self.find(number).ok()?].1)
    }

    fn iter(&self) -> impl Iterator<Item = (u64, &Half)> {
        self.0.iter().map(|(number, half)| (*number, &**half))
    }
}

impl Handshakes {
    pub fn new() -> io::Result<Handshakes> {
        Ok(Handshakes { sockets: Epoll::new()?, halves: Mutex::default(), accept_paused: AtomicBool::new(false) })
    }

    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.sockets.as_fd()
    }

    /// Adds a handshake. With `room`, the set also reports when its socket is writable.
    fn add(&self, number: u64, half: Half, room: bool) -> io::Result<()> {
        let half = memory::boxed(half).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut halves = self.halves.lock();
        halves.0.room(1).map_err(|_| io::ErrorKind::OutOfMemory)?;
        if let Some(socket) = half.socket() {
            self.sockets.add(socket.as_fd(), number)?;
            if room {
                self.sockets.modify(socket.as_fd(), number, true)?;
            }
        }
        let (Ok(at) | Err(at)) = halves.find(number);
        halves.0.insert(at, (number, half));
        Ok(())
    }

    pub fn remove(&self, number: u64) {
        let removed = self.take(number);
        drop(removed);
    }

    fn take(&self, number: u64) -> Option<Half> {
        let mut halves = self.halves.lock();
        let at = halves.find(number).ok()?;
        let (_, half) = halves.0.remove(at);
        if let Some(socket) = half.socket() {
            let _ = self.sockets.delete(socket.as_fd());
        }
        Some(*half)
    }

    pub fn ready(&self, into: &mut Vec<Ready>) {
        self.sockets.look(|ready| into.push(ready));
    }

    /// Closes peers after their timeout, and repeats attempts. Returns the time until the next deadline.
    pub fn handle_due(&self, now: Instant) -> Option<Duration> {
        let until = |half: &Half| match half {
            Half::Greeting { until, .. } | Half::Waiting { until, .. } => Some(*until),
            _ => None,
        };
        let halves = self.halves.lock();
        let due: Vec<u64> = halves
            .iter()
            .filter(|(_, half)| until(half).is_some_and(|until| until <= now))
            .map(|(number, _)| number)
            .collect();
        drop(halves);
        for number in due {
            if let Some(Half::Waiting { attempt, .. }) = self.take(number) {
                attempt.start_again();
            }
        }
        let next = self.halves.lock().iter().filter_map(|(_, half)| until(half)).min();
        next.map(|next| next.saturating_duration_since(now))
    }

    /// Closes the oldest greeting if at least `most` peers, of the host `of` or of all, have had `time` for theirs.
    /// Returns whether it did.
    fn close_oldest(&self, of: Option<IpAddr>, most: usize, time: Duration) -> bool {
        let (of, before) = (of.map(network), Instant::now() + GREETING_TIMEOUT - time);
        let halves = self.halves.lock();
        let (mut found, mut oldest) = (0, None);
        for (number, half) in halves.iter() {
            if let Half::Greeting { until, peer, .. } = half {
                if *until <= before && of.is_none_or(|of| of == network(peer.ip())) {
                    found += 1;
                    oldest = oldest.into_iter().chain([(*until, number)]).min();
                }
            }
        }
        drop(halves);
        let closes = found >= most.max(1);
        if let Some((_, number)) = oldest.filter(|_| closes) {
            log::debug!(target: host::diagnostics::CM, "service points: too many greetings: the oldest one is closed");
            self.remove(number);
        }
        closes
    }

    fn make_room(&self, address: IpAddr) {
        let most = descriptors(MAX_GREETINGS);
        if self.halves.lock().0.len() < most / 2 {
            return;
        }
        let _ =
            self.close_oldest(Some(address), most / 2, Duration::ZERO) || self.close_oldest(None, most, Duration::ZERO);
    }

    /// Returns whether accepts must pause, and clears the flag.
    pub fn take_accept_pause(&self) -> bool {
        self.accept_paused.swap(false, Ordering::Relaxed)
    }
}

/// Returns the part of an address that identifies a host, because an IPv6 host can have 2^64 addresses.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) >> 64 << 64).into()),
    }
}

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
        let word = match why {
            Rejection::Consumer => Word::Rejected,
            Rejection::Provider => Word::Refused,
        };
        if let Some(socket) = self.socket.take() {
            refuse(&socket, word, private_data);
        }
    }

    /// Accepts the request with `conn`. After an error, the request is still pending.
    pub fn accept(incoming: &mut Option<Self>, conn: &Arc<Conn>, private_data: &[u8]) -> Result<()> {
        let Some(request) = incoming.as_mut() else { return Err(Error::Internal) };
        let device = conn.device();
        device.expect()?;
        // Without memory, the socket must stay in the request.
        memory::probe(size_of::<Stream>())?;
        let Some(socket) = request.socket.take() else { return Err(Error::Internal) };
        let stream = Stream::new(device, socket, conn.number(), conn.zone)?;
        conn.note_peer(&request.theirs);
        if conn.shift(Phase::Idle, Phase::Accepting) {
            device.unsettled.fetch_add(1, Ordering::AcqRel);
        }
        let terms = Terms { reads_in: conn.terms.reads_in.min(request.theirs.reads_out), ..conn.terms };
        *incoming = None;
        if !conn.attach(&stream) {
            return Ok(());
        }
        device.enter(conn);
        let greeting = hello::encode(Word::Terms(terms), private_data);
        // Nothing was sent before, so the socket has room.
        let sent = stream.socket().send_bytes(&greeting).is_ok_and(|sent| sent == greeting.len());
        if !sent || device.add_socket(stream.socket(), conn.number()).is_err() {
            log::debug!(target: host::diagnostics::CM, "connection request: cannot accept: its peer has ended");
            device.command(|work| work.reports.push((conn.clone(), ConnectionReport::AcceptFailed)));
        } else {
            device.command(|work| work.timers.set(Instant::now() + GREETING_TIMEOUT, conn.clone()));
        }
        Ok(())
    }
}

fn refuse(socket: &Socket, word: Word, private_data: &[u8]) {
    let _ = socket.send_bytes(&hello::encode(word, private_data));
    socket.shut_down(rustix::net::Shutdown::Write);
}

/// Listens on `qualifier`, or on a port that the kernel selects.
pub fn listen(device: &Arc<Device>, qualifier: Option<u64>, sink: ListenerSink<Tcp>) -> Result<(Listener, u64)> {
    let at = SocketAddr::new(device.place.address, qualifier.map_or(0, port_of));
    let failed = |error: io::Error| match error.raw_os_error() {
        Some(libc::EADDRINUSE) if qualifier.is_some() => {
            log::debug!(target: host::diagnostics::CM, "service point: cannot listen: {at} is in use");
            Error::QualifierInUse
        }
        Some(libc::EADDRINUSE | libc::EADDRNOTAVAIL) if qualifier.is_none() => Error::QualifierUnavailable,
        Some(libc::EACCES) => {
            log::warn!("service point: cannot listen at {at}: ports below 1024 need a privilege");
            Error::QualifierInUse
        }
        _ => {
            log::warn!("service point: cannot listen at {at}: {error}");
            Error::InsufficientResources(Resource::Memory)
        }
    };
    let socket = Socket::listen(at).map_err(failed)?;
    let port = socket.local().map_or(at.port(), |local| local.port());
    let qualifier = qualifier.unwrap_or_else(|| port.into());
    let number = device.next_number();
    device.handshakes.add(number, Half::Listening { socket, qualifier, sink }, false).map_err(|_| no_memory())?;
    device.wakeup.wake();
    Ok((Listener { device: device.clone(), number }, qualifier))
}

pub fn check_address(device: &Device, address: &Address) -> Result<()> {
    if address.ip().is_ipv4() == device.place.address.is_ipv4() {
        Ok(())
    } else {
        Err(Error::InvalidAddress(AddressFault::Unsupported))
    }
}

pub fn connect(conn: &Arc<Conn>, connect: &Connect<'_>) -> Result<()> {
    let device = conn.device();
    device.expect()?;
    let ip = match connect.address.ip() {
        any if any.is_unspecified() => device.place.address,
        ip => ip,
    };
    let to = SocketAddr::new(ip, port_of(connect.qualifier));
    let deadline = connect.timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    let greeting = hello::encode(Word::Terms(conn.terms), connect.private_data);
    conn.shift(Phase::Idle, Phase::Connecting);
    device.enter(conn);
    let started = Attempt { conn: conn.clone(), to, greeting, retry: ConnectRetry::new(Instant::now()) }.start();
    device.command(|work| {
        if let Some(deadline) = deadline {
            work.timers.set(deadline, conn.clone());
        }
        if let Err(error) = started {
            log::debug!(target: host::diagnostics::CM, "connection {}: cannot connect to {to}: {error}", conn.number());
            work.reports.push((conn.clone(), failure(&error)));
        }
    });
    Ok(())
}

/// Handles a ready socket. Called without a lock.
pub fn handle(device: &Arc<Device>, ready: Ready) {
    let number = ready.token;
    let set = &device.handshakes;
    if let Some(Half::Listening { .. }) = set.halves.lock().get(number) {
        // The loop below accepts, once this lock is released.
    } else {
        return match set.take(number) {
            Some(Half::Greeting { socket, service, peer, got, until }) => {
                greet(device, number, Half::Greeting { socket, service, peer, got, until });
            }
            Some(Half::Connecting { socket, attempt }) => begin(device, socket, attempt),
            Some(Half::Answer { socket, conn, got }) => answer(device, socket, &conn, got),
            _ => {}
        };
    }
    for _ in 0..MAX_ACCEPTS {
        let accepted = match set.halves.lock().get(number) {
            Some(Half::Listening { socket, .. }) => socket.accept(),
            _ => return,
        };
        match accepted {
            Ok(Some((socket, peer))) => {
                set.make_room(peer.ip());
                let until = Instant::now() + GREETING_TIMEOUT;
                let half = Half::Greeting { socket, service: number, peer, got: Greeting::new(), until };
                let _ = set.add(device.next_number(), half, false);
            }
            Ok(None) => return,
            Err(error) => {
                log::debug!(target: host::diagnostics::CM, "service point: cannot accept: {error}");
                // The connection stays in the backlog. The thread must not spin.
                if !set.close_oldest(None, 1, MIN_GREETING_TIME) {
                    set.accept_paused.store(true, Ordering::Relaxed);
                }
                return;
            }
        }
    }
}

/// Receives bytes of a greeting. Returns whether it is complete, or an error if the peer has left.
fn receive(socket: &Socket, got: &mut Greeting) -> io::Result<bool> {
    loop {
        let wanted = match got.get(8) {
            Some(len) if got.len() >= hello::SIZE => hello::SIZE + usize::from(*len).min(MAX_PRIVATE_DATA),
            _ => hello::SIZE,
        };
        if got.len() == wanted && wanted >= hello::SIZE && (wanted > hello::SIZE || got[8] == 0) {
            return Ok(true);
        }
        let mut bytes = [0; hello::SIZE + MAX_PRIVATE_DATA];
        match socket.recv_bytes(&mut bytes[..wanted - got.len()])? {
            Some(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Some(received) => got.extend(bytes[..received].iter().copied()),
            None => return Ok(false),
        }
    }
}

fn greet(device: &Arc<Device>, number: u64, half: Half) {
    let Half::Greeting { socket, service, peer, mut got, until } = half else { return };
    match receive(&socket, &mut got) {
        Ok(true) => request(device, socket, service, peer, &got),
        Ok(false) if hello::can_begin(&got) => {
            let _ = device.handshakes.add(number, Half::Greeting { socket, service, peer, got, until }, false);
        }
        // The peer has another protocol or version, or has left.
        Ok(false) | Err(_) => {}
    }
}

fn request(device: &Arc<Device>, socket: Socket, service: u64, peer: SocketAddr, greeting: &[u8]) {
    let service = match device.handshakes.halves.lock().get(service) {
        Some(Half::Listening { qualifier, sink, .. }) => Some((*qualifier, sink.clone())),
        _ => None,
    };
    let (Some((qualifier, sink)), Some((Word::Terms(theirs), private_data))) = (service, hello::decode(greeting))
    else {
        return refuse(&socket, Word::Refused, &[]);
    };
    let about = ConnectionRequestInfo {
        qualifier,
        remote_qualifier: peer.port().into(),
        remote_address: Address::new(peer),
        private_data,
        datagrams: Some(theirs.datagrams).filter(|number| *number != 0),
    };
    let incoming = Incoming { socket: Some(socket), theirs };
    // If the sink returns the request, dropping it rejects it.
    let _ = sink.request(incoming, about);
}

/// Sends the active side's greeting on a new TCP connection.
fn begin(device: &Arc<Device>, socket: Socket, attempt: Attempt) {
    let conn = attempt.conn.clone();
    let sent = socket.take_error().and_then(|()| match socket.local() == socket.peer() {
        // Without a listener, a socket with the destination's port connects to itself.
        true => Err(io::ErrorKind::ConnectionRefused.into()),
        false => socket.send_bytes(&attempt.greeting),
    });
    match sent {
        Ok(sent) if sent == attempt.greeting.len() => {
            let half = Half::Answer { socket, conn: conn.clone(), got: Greeting::new() };
            if conn.phase() != Phase::Connecting || device.handshakes.add(conn.number(), half, false).is_err() {
                conn.give_up(ConnectionReport::NonPeerRejected);
            }
        }
        Ok(_) => conn.give_up(ConnectionReport::NonPeerRejected),
        Err(error) => attempt.connection_failed(error),
    }
}

/// Handles bytes of the passive side's greeting.
fn answer(device: &Arc<Device>, socket: Socket, conn: &Arc<Conn>, mut got: Greeting) {
    match receive(&socket, &mut got) {
        Ok(true) => {}
        Ok(false) => {
            let half = Half::Answer { socket, conn: conn.clone(), got };
            if conn.phase() != Phase::Connecting || device.handshakes.add(conn.number(), half, false).is_err() {
                conn.give_up(ConnectionReport::NonPeerRejected);
            }
            return;
        }
        Err(error) => return conn.give_up(failure(&error)),
    }
    match hello::decode(&got) {
        Some((Word::Terms(theirs), private_data)) => {
            let Ok(stream) = Stream::new(device, socket, conn.number(), conn.zone) else {
                return conn.give_up(ConnectionReport::NonPeerRejected);
            };
            // Before the program can post, because only the set reports room in a full socket.
            if device.add_socket(stream.socket(), conn.number()).is_err() {
                return conn.give_up(ConnectionReport::NonPeerRejected);
            }
            conn.note_peer(&theirs);
            if !conn.attach(&stream) {
                return;
            }
            // The acceptor waits for a first record.
            let _ = stream.send_record(kind::HANDLED, 0, 0);
            conn.established(private_data);
        }
        Some((Word::Rejected, private_data)) => conn.give_up(ConnectionReport::PeerRejected(private_data)),
        _ => conn.give_up(ConnectionReport::NonPeerRejected),
    }
}
