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
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use dat_core::addr::{Address, port_of};
use dat_core::error::{Error, Result};
use dat_core::transport::{Connect, ConnectRetry, ConnectionReport, ConnectionRequestInfo, ListenerSink, Rejection};
use dat_software::qp::Phase;
use host::lock::Mutex;
use host::memory::{self, Room};
use host::poll::{Epoll, Ready};
use host::{limit, net};
use rustix::net::Shutdown;

use crate::Tcp;
use crate::conn::Conn;
use crate::device::{CLOSED, Device, descriptors};
use crate::hello::{self, MAX_PRIVATE_DATA, Terms};
use crate::record::End;
use crate::rx::ConnEnd;
use crate::socket::Socket;
use crate::stream::Stream;

mod attempt;

use attempt::Attempt;

/// Time in which a peer must complete its greeting.
const GREETING_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum time for a greeting if the process has no free descriptor.
const MIN_GREETING_TIME: Duration = Duration::from_secs(1);
/// Maximum number of peers without a complete greeting; one host may have half of them.
const MAX_GREETINGS: usize = 1024;
/// Maximum number of accepts before the next socket's turn.
const MAX_ACCEPTS: usize = 64;
/// Maximum number of deadlines that are handled before other work.
const MAX_DUE: usize = 64;
/// Time without accepts after a lack of descriptors.
pub const ACCEPT_PAUSE: Duration = Duration::from_millis(20);

type Greeting = ArrayVec<u8, { hello::SIZE + MAX_PRIVATE_DATA }>;

/// A service point, a peer without a complete greeting, an attempt of this end, an accepted connection that its peer
/// has not used, or a stream that this end has closed. The adapter's set contains the sockets of the last two.
pub enum Half {
    Listening { socket: Socket, qualifier: u64, sink: ListenerSink<Tcp> },
    Greeting { socket: Socket, service: u64, peer: SocketAddr, got: Greeting },
    Attempt(Attempt),
    Accepted(Arc<Conn>),
    Leaving(Arc<Stream>),
}

impl Half {
    /// Handles a passed deadline. Called without a lock.
    pub fn expire(self, now: Instant) {
        match self {
            Half::Attempt(attempt) if attempt.deadline.is_none_or(|deadline| deadline > now) => {
                attempt.run(Attempt::start);
            }
            Half::Attempt(attempt) => attempt.conn.give_up(ConnectionReport::TimedOut),
            // While this process was stopped, the first record may have arrived.
            Half::Accepted(conn) if !conn.first_record() && conn.base.phase() == Phase::Accepting => {
                conn.peer_left(End::Disconnected);
            }
            // The drop closes the socket.
            Half::Accepted(_) | Half::Greeting { .. } | Half::Listening { .. } | Half::Leaving(_) => {}
        }
    }

    fn socket(&self) -> Option<&Socket> {
        match self {
            Half::Listening { socket, .. } | Half::Greeting { socket, .. } => Some(socket),
            Half::Attempt(attempt) => attempt.socket.as_ref(),
            Half::Accepted(_) | Half::Leaving(_) => None,
        }
    }
}

pub struct Handshakes {
    pub sockets: Epoll,
    halves: Mutex<Halves>,
    /// Set if accepts must pause.
    pub accept_paused: AtomicBool,
}

struct Entry {
    number: u64,
    deadline: Option<Instant>,
    half: Box<Half>,
}

/// Entries, sorted by number. Unlike a hash table, the list needs no memory to replace removed entries.
#[derive(Default)]
struct Halves {
    list: Vec<Entry>,
    is_closed: bool,
}

impl Halves {
    fn find(&self, number: u64) -> std::result::Result<usize, usize> {
        self.list.binary_search_by_key(&number, |entry| entry.number)
    }

    fn get(&mut self, number: u64) -> Option<&mut Half> {
        let at = self.find(number).ok()?;
        Some(&mut self.list[at].half)
    }
}

impl Handshakes {
    pub fn new() -> io::Result<Handshakes> {
        Ok(Handshakes { sockets: Epoll::new()?, halves: Mutex::default(), accept_paused: AtomicBool::new(false) })
    }

    pub fn add(&self, number: u64, half: Half, deadline: Option<Instant>) -> io::Result<()> {
        let half = memory::boxed(half)?;
        let mut halves = self.halves.lock();
        if halves.is_closed {
            return Err(io::ErrorKind::NotConnected.into());
        }
        halves.list.room(1)?;
        if let Some(socket) = half.socket() {
            self.sockets.add(socket.as_fd(), number)?;
            // A new TCP connection becomes writable.
            if matches!(&*half, Half::Attempt(attempt) if !attempt.has_greeted) {
                self.sockets.modify(socket.as_fd(), number, true)?;
            }
        }
        let (Ok(at) | Err(at)) = halves.find(number);
        halves.list.insert(at, Entry { number, deadline, half });
        Ok(())
    }

    pub fn remove(&self, number: u64) -> Option<Half> {
        let mut halves = self.halves.lock();
        let at = halves.find(number).ok()?;
        let Entry { half, .. } = halves.list.remove(at);
        if let Some(socket) = half.socket() {
            let _ = self.sockets.delete(socket.as_fd());
        }
        Some(*half)
    }

    /// Returns the numbers of halves whose deadline has passed, up to [`MAX_DUE`]. Also returns the next deadline.
    pub fn due(&self, now: Instant) -> (ArrayVec<u64, MAX_DUE>, Option<Instant>) {
        let (mut due, mut next) = (ArrayVec::new(), None);
        for Entry { number, deadline, .. } in &self.halves.lock().list {
            match deadline {
                Some(deadline) if *deadline <= now => drop(due.try_push(*number)),
                deadline => next = next.into_iter().chain(*deadline).min(),
            }
        }
        (due, next)
    }

    /// Removes the half with the earliest deadline if `counts` accepts at least `most`. Returns whether it did.
    pub fn remove_oldest(&self, most: usize, counts: impl Fn(&Half, Option<Instant>) -> bool) -> bool {
        let (mut found, mut oldest) = (0, None);
        for Entry { number, deadline, half } in &self.halves.lock().list {
            if counts(half, *deadline) {
                found += 1;
                oldest = oldest.into_iter().chain([(*deadline, *number)]).min();
            }
        }
        let removes = found >= most.max(1);
        if let Some((_, number)) = oldest.filter(|_| removes) {
            self.remove(number);
        }
        removes
    }

    /// Like [`Handshakes::remove_oldest`], for peers of `of` or of all hosts that have had `time` for their greeting.
    fn close_oldest(&self, of: Option<IpAddr>, most: usize, time: Duration) -> bool {
        let (of, before) = (of.map(network), Instant::now() + GREETING_TIMEOUT - time);
        let closes = self.remove_oldest(most, |half, deadline| match half {
            Half::Greeting { peer, .. } => deadline <= Some(before) && of.is_none_or(|of| of == network(peer.ip())),
            _ => false,
        });
        if closes {
            log::debug!(target: host::diagnostics::CM, "service points: too many greetings: the oldest one is closed");
        }
        closes
    }

    fn make_room(&self, address: IpAddr) {
        let most = descriptors(MAX_GREETINGS);
        let is_long = self.halves.lock().list.len() >= most / 2;
        if is_long && !self.close_oldest(Some(address), most / 2, Duration::ZERO) {
            self.close_oldest(None, most, Duration::ZERO);
        }
    }

    /// Returns a stream that this end has closed.
    pub fn leaving(&self, number: u64) -> Option<Arc<Stream>> {
        match self.halves.lock().get(number) {
            Some(Half::Leaving(stream)) => Some(stream.clone()),
            _ => None,
        }
    }

    /// Returns whether accepted connections have not been reported as established.
    pub fn has_accepted(&self) -> bool {
        self.halves.lock().list.iter().any(|entry| matches!(*entry.half, Half::Accepted(_)))
    }

    pub fn leaving_count(&self) -> usize {
        let list = &self.halves.lock().list;
        list.len() - list.partition_point(|entry| entry.number < CLOSED)
    }

    /// Closes all sockets, also those added later.
    pub fn close(&self) {
        let _closed = std::mem::replace(&mut *self.halves.lock(), Halves { is_closed: true, ..Halves::default() });
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
        if let Some(socket) = self.socket.take() {
            let _ = socket.send_bytes(&hello::encode(Err(why), private_data));
            socket.shut_down(Shutdown::Write);
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
        // Nothing was sent before, so the socket has room.
        let sent = stream.socket.send_bytes(&greeting).is_ok_and(|sent| sent == greeting.len());
        let (accepted, deadline) = (Half::Accepted(conn.clone()), Some(Instant::now() + GREETING_TIMEOUT));
        // The peer's first record removes the half, so this order.
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
    let number = device.next_number();
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
    let attempt = Attempt { conn: conn.clone(), to, socket: None, greeting, has_greeted: false, retry, deadline };
    attempt.run(|attempt| attempt.begin(socket));
    device.wakeup.wake();
    Ok(())
}

/// Handles a ready socket. Called without a lock.
pub fn handle(device: &Arc<Device>, Ready { token: number, .. }: Ready) {
    let set = &device.handshakes;
    let received = match set.halves.lock().get(number) {
        Some(Half::Listening { .. }) => None,
        Some(Half::Greeting { socket, got, .. }) => Some(receive(socket, got)),
        Some(Half::Attempt(Attempt { socket: Some(socket), greeting, has_greeted: true, .. })) => {
            Some(receive(socket, greeting))
        }
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

/// Accepts connections to a service point.
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
                let _ = set.add(device.next_number(), half, Some(Instant::now() + GREETING_TIMEOUT));
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

/// Receives bytes of a greeting. Returns whether it is complete, or an error if the peer has left or another protocol.
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
    // The drop rejects the request.
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
