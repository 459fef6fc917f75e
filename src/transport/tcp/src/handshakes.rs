//! The handshakes of an adapter: sockets that carry no records, with their deadlines.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use dat_core::transport::{ConnectRetry, ListenerSink};
use host::lock::Mutex;
use host::memory::{self, Room};
use host::poll::Epoll;

use crate::Tcp;
use crate::conn::Conn;
use crate::hello::{self, MAX_PRIVATE_DATA, Refusal};
use crate::socket::Socket;
use crate::stream::Stream;

/// Time in which a peer must complete its greeting.
pub const GREETING_TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum number of peers without a complete greeting; one host may have half of them.
const MAX_GREETINGS: usize = 1024;
/// Maximum number of deadlines that are handled before other work.
const MAX_DUE: usize = 64;
/// Maximum number of streams that linger after a close.
const MAX_LEAVING: usize = 1024;
/// Maximum time for the peer to read everything after this end has closed its stream.
pub const LINGER: Duration = Duration::from_secs(2);

/// Bit in the number of a closed stream. Its connection may still have a half, whose number lacks the bit.
pub const CLOSED: u64 = 1 << 63;

pub type Greeting = ArrayVec<u8, { hello::SIZE + MAX_PRIVATE_DATA }>;

/// A service point, a peer without a complete greeting, or an attempt of this end, with its socket in
/// [`Handshakes::sockets`]. Or an accepted connection without a record from its peer, or a stream that this end has
/// closed, with its socket in `Shared::sockets`.
#[expect(clippy::large_enum_variant, reason = "each half has a box of its own, and few exist")]
pub enum Half {
    Listening { socket: Socket, qualifier: u64, sink: ListenerSink<Tcp> },
    Greeting { socket: Socket, service: u64, peer: SocketAddr, got: Greeting },
    Attempt(Attempt),
    Accepted(Arc<Conn>),
    Leaving(Arc<Stream>),
}

impl Half {
    fn socket(&self) -> Option<&Socket> {
        match self {
            Half::Listening { socket, .. } | Half::Greeting { socket, .. } => Some(socket),
            Half::Attempt(attempt) => attempt.socket.as_ref(),
            Half::Accepted(_) | Half::Leaving(_) => None,
        }
    }
}

/// A connection attempt, which repeats TCP connections until one succeeds or the time for retries ends.
pub struct Attempt {
    pub conn: Arc<Conn>,
    pub to: SocketAddr,
    /// `None` between two TCP connections.
    pub socket: Option<Socket>,
    /// The greeting to send.
    pub greeting: Greeting,
    /// Set once the greeting was sent over `socket`.
    pub has_greeted: bool,
    /// The received bytes of the peer's greeting.
    pub got: Greeting,
    pub retry: ConnectRetry,
    /// The end of the program's timeout; `None` without a timeout.
    pub deadline: Option<Instant>,
}

pub struct Handshakes {
    pub sockets: Epoll,
    pub halves: Mutex<Halves>,
    /// Set if accepts must pause, because the process has no free descriptor.
    pub accept_paused: AtomicBool,
}

struct Entry {
    number: u64,
    deadline: Option<Instant>,
    half: Box<Half>,
}

/// The list of handshakes, sorted by number. Unlike a hash table, it needs no memory to replace removed entries.
#[derive(Default)]
pub struct Halves {
    list: Vec<Entry>,
    is_closed: bool,
}

impl Halves {
    fn find(&self, number: u64) -> std::result::Result<usize, usize> {
        self.list.binary_search_by_key(&number, |entry| entry.number)
    }

    pub fn get(&mut self, number: u64) -> Option<&mut Half> {
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
            // A new TCP connection becomes writable when it has a result.
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

    /// If `counts` accepts at least `most` halves, removes and returns the accepted half with the earliest deadline.
    fn remove_oldest(&self, most: usize, counts: impl Fn(&Half, Option<Instant>) -> bool) -> Option<Half> {
        let (mut found, mut oldest) = (0, None);
        for Entry { number, deadline, half } in &self.halves.lock().list {
            if counts(half, *deadline) {
                found += 1;
                oldest = oldest.into_iter().chain([(*deadline, *number)]).min();
            }
        }
        let (_, number) = oldest.filter(|_| found >= most.max(1))?;
        self.remove(number)
    }

    /// Counts the peers without a complete greeting that have had `time` for it: peers of the host `of`, or of all
    /// hosts. If there are at least `most`, lets the oldest connect again, closes its socket, and returns `true`.
    pub fn close_oldest(&self, of: Option<IpAddr>, most: usize, time: Duration) -> bool {
        let (of, before) = (of.map(network), Instant::now() + GREETING_TIMEOUT - time);
        let oldest = self.remove_oldest(most, |half, deadline| match half {
            Half::Greeting { peer, .. } => deadline <= Some(before) && of.is_none_or(|of| of == network(peer.ip())),
            _ => false,
        });
        let Some(Half::Greeting { socket, .. }) = oldest else { return false };
        log::debug!(target: host::diagnostics::CM, "service points: too many greetings: the oldest one is closed");
        Refusal::Again.send(&socket, &[]);
        true
    }

    pub fn make_room(&self, address: IpAddr) {
        let most = descriptors(MAX_GREETINGS);
        let is_long = self.halves.lock().list.len() >= most / 2;
        if is_long && !self.close_oldest(Some(address), most / 2, Duration::ZERO) {
            self.close_oldest(None, most, Duration::ZERO);
        }
    }

    /// Keeps the stream of a closed connection until its peer has read everything, up to [`LINGER`].
    pub fn linger(&self, number: u64, stream: Arc<Stream>) {
        let most = descriptors(MAX_LEAVING);
        if self.leaving_count() >= most {
            drop(self.remove_oldest(most, |half, _| matches!(half, Half::Leaving(_))));
        }
        // If that fails, the drop closes the stream immediately.
        let _ = self.add(number | CLOSED, Half::Leaving(stream), Some(Instant::now() + LINGER));
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

    /// Closes all sockets, and rejects halves that are added later.
    pub fn close(&self) {
        let _closed = std::mem::replace(&mut *self.halves.lock(), Halves { is_closed: true, ..Halves::default() });
    }
}

/// Returns a limit for descriptors that peers cause: `most`, but at most an eighth of the process's limit.
fn descriptors(most: usize) -> usize {
    host::limit::open_files().ok().flatten().map_or(most, |limit| most.min(limit as usize / 8))
}

/// Returns the part of an address that identifies a host, because an IPv6 host can have 2^64 addresses.
fn network(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(v6) => IpAddr::V6((u128::from(v6) >> 64 << 64).into()),
    }
}
