//! The shared state of an open adapter: connections, sockets, and the poll.
//!
//! # Polling
//! A program thread polls the whole adapter when it dequeues, and when it waits, until it sleeps on the set of sockets
//! (epoll). If the program does neither, the progress thread sleeps on the set and polls itself.
//!
//! An idle poll makes one system call: it reads the expected next socket, or after several reads asks the set, whose
//! cost is independent of idle sockets. The expected socket is the one that followed the same kind of record of the
//! same connection last time, because programs tend to use their connections in a fixed order.
//!
//! # Deferred work
//! A connection with an unsent acknowledgement or gathered requests is noted. The next poll without data sends these,
//! and the kernel's acknowledgement of the last reports. So do complete polls, and polls after [`STREAK`] polls with
//! data. Threads send for noted connections before they sleep. Work for a thread without locks is deferred.
//!
//! A program that posts one request, then polls once, would send one record per system call. So while it polls often,
//! the posts of a stream ([`Leave::WithLater`](crate::tx::Leave)) wait for later ones, for up to [`IDLE`] polls after the
//! last post. The first of these polls return immediately. Core polls completely before it ends a connection.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dat_census::Beacon;
use dat_core::transport::Poll;
use dat_software::objects::Owner;
use dat_software::qp::Phase;
use dat_software::regions::{ROWS, RegionTable};
use host::event_fd::EventFd;
use host::lock::{Mutex, RwLock};
use host::memory::{self, NoMemory, Room};
use host::pause::{self, Pause};
use host::poll::{Epoll, Ready};
use host::topic::{Reason, Topic};

use crate::Tcp;
use crate::cm::{Half, Handshakes};
use crate::conn::{After, Conn};
use crate::locate::Place;
use crate::record::End;
use crate::socket::Socket;
use crate::stream::{Regions, Shared, Stream};

/// Maximum bytes per read, except for payloads received in place.
const BUFFER: usize = 32 << 10;
/// Maximum time of a complete poll, which must report everything that happened before it.
const COMPLETE: Duration = Duration::from_millis(10);
/// Maximum successive polls with data before the set is asked and acknowledgements are sent, to serve other peers.
const STREAK: u32 = 8;
/// Number of reads without data after which the set is asked: after 0, some, and over [`STEADY`] receptions in order.
const MISSES: [u32; 3] = [0, 7, 24];
const STEADY: u32 = 64;
/// Number of polls after the last post of a stream after which a poll without data sends its gathered requests.
const IDLE: u32 = 4;
/// Number of polls after each post of a stream that return immediately.
const SKIPPED: u32 = 2;
/// Maximum number of consecutive polls that return immediately.
const MAX_SKIPPED: u32 = 16;
/// Minimum number of polls in a [`TICK`] of a program that polls often.
pub const BRISK: u64 = 64;
/// Interval at which the progress thread checks for polls of the program. Gathered requests leave within two.
pub const TICK: Duration = Duration::from_millis(2);
/// The same while a program thread sleeps on the set of sockets.
pub const PARK: Duration = Duration::from_millis(10);
/// Maximum number of lingering streams.
const MAX_LEAVING: usize = 1024;
/// Time for the peer to read everything.
const LINGER: Duration = Duration::from_secs(2);
/// Time for the next peer to read everything when the adapter is closed.
const CLOSE_LINGER: Duration = Duration::from_millis(500);

/// Bit in the number of a closed stream, whose connection may still have another half.
pub const CLOSED: u64 = 1 << 63;

/// The state of the poll, with preallocated memory.
#[derive(Default)]
struct Polling {
    buffer: Vec<u8>,
    noted: Vec<Arc<Conn>>,
    /// Number of the last receiving connection, and whether it received more than reports.
    last: (u64, bool),
    /// Set if only reports arrived last, without a flush since.
    reports: bool,
    /// The connection expected to receive next.
    next: Option<Arc<Conn>>,
    /// Number of receptions in the expected order.
    ordered: u32,
    streak: u32,
    /// Number of successive reads of `next` without data, and the maximum.
    misses: u32,
    most: u32,
}

pub struct Device {
    pub place: Place,
    pub shared: Arc<Shared>,
    /// Listening sockets, connection attempts, and all deadlines.
    pub handshakes: Handshakes,
    pub wakeup: EventFd,
    pub beacon: Beacon<Tcp>,
    pub stop: AtomicBool,
    /// Number of program threads that sleep on the set, or are about to.
    pub sleepers: AtomicUsize,
    /// Number of users that need reports without calls of the program.
    pub watchers: AtomicUsize,
    /// Set while the progress thread leaves polling to sleepers.
    pub parked: AtomicBool,
    /// Set while the progress thread sleeps without a timeout.
    pub watching: AtomicBool,
    /// Number of accepted connections that are about to be reported as established.
    pub beginning: AtomicUsize,
    /// Number of polls by program threads.
    pub polls: AtomicU64,
    /// Set while the program polls often, so that requests can wait for several polls.
    pub is_brisk: AtomicBool,
    numbers: AtomicU64,
    /// Connections and attempts with their numbers, sorted.
    pub table: RwLock<Vec<(u64, Arc<Conn>)>>,
    polling: Mutex<Polling>,
    noted: Mutex<Vec<Arc<Conn>>>,
    is_noted: AtomicBool,
    /// Set if a noted connection does not wait for later posts.
    is_due: AtomicBool,
    /// Number of polls since the last post that waits for later ones.
    idle: AtomicU32,
    /// Number of polls that returned immediately since the last one that did not.
    skipped: AtomicU32,
    deferred: Mutex<Vec<After>>,
    is_deferred: AtomicBool,
}

/// Returns the position of a connection, or the position at which to insert it.
fn find(table: &[(u64, Arc<Conn>)], number: u64) -> Result<usize, usize> {
    table.binary_search_by_key(&number, |(number, _)| *number)
}

/// Returns a limit for descriptors that peers cause: `most`, but at most an eighth of the process's limit.
pub fn descriptors(most: usize) -> usize {
    host::limit::open_files().ok().flatten().map_or(most, |limit| most.min(limit as usize / 8))
}

impl Device {
    /// Opens the adapter of a place. An error is one line.
    pub fn open(place: Place) -> Result<Arc<Device>, Reason> {
        // The address must be usable.
        Socket::listen(SocketAddr::new(place.address, 0)).map_err(|error| {
            Topic::DoesNotOpen.error(&error, format!("cannot listen at {}: {error}", place.address))
        })?;
        let no_descriptor = |error: io::Error| Topic::DoesNotOpen.error(&error, format!("no descriptor: {error}"));
        let no_memory = |_: NoMemory| Topic::DoesNotOpen.reason("no memory");
        let mut buffer = memory::vec(BUFFER).map_err(no_memory)?;
        buffer.resize(BUFFER, 0);
        let regions = RegionTable::new((), ROWS as u32);
        let sockets = Epoll::new().map_err(no_descriptor)?;
        let shared = Shared { regions, sockets, blocked: Mutex::default() };
        let device = Device {
            place,
            shared: memory::arc(shared).map_err(no_memory)?,
            handshakes: Handshakes::new().map_err(no_descriptor)?,
            wakeup: EventFd::new().map_err(no_descriptor)?,
            beacon: Beacon::default(),
            stop: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            watchers: AtomicUsize::new(0),
            parked: AtomicBool::new(false),
            watching: AtomicBool::new(false),
            beginning: AtomicUsize::new(0),
            polls: AtomicU64::new(0),
            is_brisk: AtomicBool::new(false),
            numbers: AtomicU64::new(1),
            table: RwLock::default(),
            polling: Mutex::new(Polling { buffer, ..Polling::default() }),
            noted: Mutex::default(),
            is_noted: AtomicBool::new(false),
            is_due: AtomicBool::new(false),
            idle: AtomicU32::new(0),
            skipped: AtomicU32::new(0),
            deferred: Mutex::default(),
            is_deferred: AtomicBool::new(false),
        };
        memory::arc(device).map_err(no_memory)
    }

    pub fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Reserves memory for one more connection.
    pub fn expect(&self) -> Result<(), NoMemory> {
        self.table.write().room(1)
    }

    pub fn enter(&self, conn: &Arc<Conn>) {
        let mut table = self.table.write();
        let (Ok(at) | Err(at)) = find(&table, conn.number);
        table.insert(at, (conn.number, conn.clone()));
    }

    pub fn forget(&self, number: u64) {
        let mut table = self.table.write();
        let _removed = find(&table, number).map(|at| table.remove(at));
        drop(table);
        self.shared.blocked.lock().retain(|blocked| *blocked != number);
        self.handshakes.remove(number);
    }

    pub fn conn(&self, number: u64) -> Option<Arc<Conn>> {
        let table = self.table.read();
        Some(table[find(&table, number).ok()?].1.clone())
    }

    /// Adds a connection to those that the next poll without data flushes, or, if none of them `is_due`, a poll after
    /// [`IDLE`] others.
    pub fn note(&self, conn: &Arc<Conn>, is_due: bool) {
        let is_new = !conn.noted.swap(true, Ordering::AcqRel);
        if is_new {
            self.noted.lock().push(conn.clone());
        }
        // A flush clears the flag before it takes the list.
        if is_due {
            self.is_due.store(true, Ordering::Relaxed);
        } else {
            self.idle.store(0, Ordering::Relaxed);
        }
        if is_new {
            // The progress thread sets its flag before it checks this one.
            self.is_noted.store(true, Ordering::SeqCst);
            // The program might not poll again.
            self.wake_if(&self.watching);
        }
    }

    /// Returns whether all noted connections wait for later posts.
    fn is_gathering(&self) -> bool {
        self.is_noted() && !self.is_due.load(Ordering::Relaxed)
    }

    /// Counts a poll while posts wait for later ones. Returns the number of polls since the last such post.
    fn count_idle(&self) -> u32 {
        let idle = self.idle.load(Ordering::Relaxed) + 1;
        self.idle.store(idle, Ordering::Relaxed);
        idle
    }

    /// Returns whether a poll may return immediately, so that a program that posts without end also receives.
    fn may_skip(&self) -> bool {
        let skipped = self.skipped.load(Ordering::Relaxed);
        let may = skipped < MAX_SKIPPED;
        self.skipped.store(if may { skipped + 1 } else { 0 }, Ordering::Relaxed);
        may
    }

    /// Wakes the progress thread if it has set `sleeps`, a flag of this device.
    pub fn wake_if(&self, sleeps: &AtomicBool) {
        if sleeps.load(Ordering::SeqCst) && sleeps.swap(false, Ordering::SeqCst) {
            self.wakeup.wake();
        }
    }

    pub fn is_noted(&self) -> bool {
        self.is_noted.load(Ordering::SeqCst)
    }

    /// Defers work of [`Device::collect`], whose caller does it, or wakes the progress thread.
    pub fn defer(&self, after: After) {
        self.deferred.lock().push(after);
        self.is_deferred.store(true, Ordering::SeqCst);
    }

    /// Defers work to a thread that holds no lock.
    pub fn later(&self, after: After) {
        self.defer(after);
        self.wake_if(&self.watching);
        self.wake_if(&self.parked);
    }

    /// Does deferred work, new connections first. Returns whether there were any.
    pub fn run_deferred(&self) -> bool {
        let mut begins = false;
        while self.is_deferred.swap(false, Ordering::AcqRel) {
            let mut deferred = std::mem::take(&mut *self.deferred.lock());
            deferred.sort_by_key(|after| !matches!(after, After::Used(_)));
            begins |= matches!(deferred.first(), Some(After::Used(_)));
            deferred.into_iter().for_each(After::run);
        }
        begins
    }

    pub fn is_deferred(&self) -> bool {
        self.is_deferred.load(Ordering::SeqCst)
    }

    /// Counts a poll by a program thread. A lost increment is harmless.
    pub fn count_poll(&self) {
        self.polls.store(self.polls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }

    /// Returns whether a thread is polling. A poll that sends much can take longer than a [`TICK`].
    pub fn is_polled(&self) -> bool {
        self.polling.try_lock().is_none()
    }

    pub fn poll_once(&self, how: Poll) {
        self.collect(how);
        while self.is_deferred() && self.run_deferred() {
            // The first records of new connections have arrived.
            self.collect(Poll::IfFree);
        }
    }

    /// Reports accepted connections that a peer used before it ended another. The socket of the other may have been
    /// read first, but programs rely on the peer's order. Called without a lock.
    pub fn settle(&self) {
        if !self.handshakes.has_accepted() {
            return;
        }
        self.collect(Poll::Complete);
        let deferred = std::mem::take(&mut *self.deferred.lock());
        for after in deferred {
            if let After::Used(_) = after { after.run() } else { self.later(after) }
        }
        // Another thread may be about to report one.
        let (mut pause, until) = (Pause::new(), Instant::now() + COMPLETE);
        while self.beginning.load(Ordering::Acquire) > 0 && Instant::now() < until {
            pause.pass();
        }
    }

    /// Handles ready sockets, and defers work for a thread without a lock.
    pub fn collect(&self, how: Poll) {
        if how == Poll::IfFree && self.is_gathering() && self.count_idle() <= SKIPPED && self.may_skip() {
            return;
        }
        let polling = match how {
            Poll::IfFree => self.polling.try_lock(),
            Poll::Complete => Some(self.polling.lock()),
        };
        let Some(mut polling) = polling else { return };
        let polling = &mut *polling;
        let mut found = false;
        let expects = polling.misses < polling.most && polling.streak < STREAK;
        if let Some(next) = polling.next.take_if(|_| how == Poll::IfFree && expects) {
            let received = next.receive(&mut polling.buffer);
            found = received.is_some();
            polling.misses = if found { 0 } else { polling.misses + 1 };
            match received {
                Some(received) => self.expect_next(polling, next, received),
                None => polling.next = Some(next),
            }
        } else {
            polling.misses = 0;
            let end = (how == Poll::Complete).then(|| Instant::now() + COMPLETE);
            while self.collect_ready(polling) {
                found = true;
                if end.is_none_or(|end| Instant::now() >= end) {
                    break;
                }
            }
        }
        polling.streak = if found && polling.streak < STREAK { polling.streak + 1 } else { 0 };
        let flushes = (polling.streak == 0 || how == Poll::Complete) && (polling.reports || self.is_noted());
        let must = || found || how == Poll::Complete || self.idle.load(Ordering::Relaxed) > IDLE;
        if flushes && (!self.is_gathering() || must()) {
            self.flush(polling);
        }
    }

    /// Handles ready sockets. Returns whether one had data.
    fn collect_ready(&self, polling: &mut Polling) -> bool {
        let mut found = false;
        self.shared.sockets.look(|ready| {
            let Some(conn) = self.conn(ready.token) else {
                return found |= self.ready_late(ready, &mut polling.buffer);
            };
            if ready.writable {
                conn.writable();
            }
            let received = if ready.readable { conn.receive(&mut polling.buffer) } else { None };
            let Some(received) = received else { return };
            found = true;
            let is_expected = polling.next.as_ref().is_some_and(|next| Arc::ptr_eq(next, &conn));
            polling.ordered = if is_expected { polling.ordered } else { 0 };
            polling.most = MISSES[usize::from(polling.ordered > 0) + usize::from(polling.ordered > STEADY)];
            let (last, had_records) = polling.last;
            self.conn(last).inspect(|last| last.next[usize::from(had_records)].store(conn.number, Ordering::Relaxed));
            self.expect_next(polling, conn, received);
        });
        // An ended connection receives nothing.
        polling.next.take_if(|next| next.base.phase() > Phase::Up);
        found
    }

    /// Records what a connection has received, and determines the one to expect next.
    #[inline(always)]
    fn expect_next(&self, polling: &mut Polling, conn: Arc<Conn>, had_records: bool) {
        polling.ordered = polling.ordered.wrapping_add(1);
        polling.last = (conn.number, had_records);
        polling.reports = !had_records;
        polling.next = match conn.next[usize::from(had_records)].load(Ordering::Relaxed) {
            number if number == conn.number => Some(conn),
            number => self.conn(number),
        };
    }

    /// If connections are noted, sends their pending data and does deferred work.
    pub fn flush_all(&self) {
        if self.is_noted() {
            self.flush(&mut self.polling.lock());
            self.run_deferred();
        }
    }

    #[inline(never)] // Polls need its registers.
    fn flush(&self, polling: &mut Polling) {
        self.is_noted.store(false, Ordering::SeqCst);
        self.is_due.store(false, Ordering::Relaxed);
        // Connections noted during the loop wait for the next poll.
        std::mem::swap(&mut polling.noted, &mut *self.noted.lock());
        for conn in polling.noted.drain(..) {
            conn.flush();
        }
        if std::mem::take(&mut polling.reports) {
            self.conn(polling.last.0).and_then(|conn| conn.base.sink.lock_tx().map(|tx| tx.acknowledge_reports()));
        }
    }

    /// Keeps the stream of a closed connection until its peer has read everything, up to [`LINGER`].
    pub fn linger(&self, number: u64, stream: Arc<Stream>) {
        let most = descriptors(MAX_LEAVING);
        if self.handshakes.leaving_count() >= most {
            self.handshakes.remove_oldest(most, |half, _| matches!(half, Half::Leaving(_)));
        }
        // On failure, this closes the stream.
        let _ = self.handshakes.add(number | CLOSED, Half::Leaving(stream), Some(Instant::now() + LINGER));
        self.wakeup.wake();
    }

    /// Ends all connections, waits until their peers have read everything, and closes all streams.
    pub fn close(&self) {
        let conns: Vec<_> = self.table.read().iter().map(|(_, conn)| conn.clone()).collect();
        conns.into_iter().for_each(|conn| _ = conn.close(false, Some(End::Disconnected)));
        self.run_deferred();
        pause::drain(CLOSE_LINGER, LINGER, || self.handshakes.leaving_count(), || self.poll_once(Poll::Complete));
        self.handshakes.close();
        // These connections own references to the device. They are dropped without a lock.
        let _next = self.polling.lock().next.take();
        let _left = (std::mem::take(&mut *self.noted.lock()), std::mem::take(&mut *self.deferred.lock()));
    }

    /// Handles the socket of a closed connection, and discards late data of the peer. Returns whether there was any.
    #[cold]
    fn ready_late(&self, ready: Ready, buffer: &mut [u8]) -> bool {
        let Some(stream) = self.handshakes.leaving(ready.token | CLOSED) else { return false };
        if ready.writable {
            stream.on_room(drop);
        }
        let received = if ready.readable { stream.socket.recv_bytes(buffer) } else { Ok(None) };
        if let Ok(Some(0)) | Err(_) = received {
            self.handshakes.remove(ready.token | CLOSED);
        }
        matches!(received, Ok(Some(1..)))
    }
}

impl Owner for Device {
    type Mirror = ();

    fn regions(&self) -> &Regions {
        &self.shared.regions
    }

    fn region_freed(&self, key: u32) {
        // In reverse, because a failed connection is removed from the list.
        let blocked = self.shared.blocked.lock().len();
        for at in (0..blocked).rev() {
            let number = self.shared.blocked.lock().get(at).copied();
            let Some(conn) = number.and_then(|number| self.conn(number)) else { continue };
            if let Some(fatal) = conn.stream().and_then(|stream| stream.lost_with(key)) {
                conn.fail(fatal);
            }
        }
    }
}
