//! What all of an open adapter shares: the connections by number, the set of their sockets, and the poll.
//!
//! # Polling
//! A thread of the program that dequeues polls for the whole adapter. So does one that waits, until it sleeps on the set of
//! sockets, from which the kernel wakes it. The progress thread checks every [`TICK`] whether the program still polls, and every
//! [`PARK`] while a thread of it sleeps. When the program does neither, the progress thread sleeps on the set and polls itself,
//! so a target that makes no call is served.
//!
//! A poll makes one system call if it finds nothing: it reads the socket that it expects to have data next, or, in every eighth
//! poll, asks the set. It expects the socket that came after the same kind of record of the same connection the time before:
//! programs use their connections in the same order again and again. The set costs the same for any number of sockets at rest.
//!
//! # Deferred work
//! A connection that owes its peer a report, or has gathered requests, is noted ([`Device::note`]). The next poll that finds
//! nothing sends both, and so does each poll that must be complete, and one after [`STREAK`] others. A report that needs a lock
//! which the reporting thread holds is deferred ([`Device::later`]) to the end of the poll.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{ConnectionReport, Poll};
use dat_memory::objects::Owner;
use dat_memory::regions::{AccessContext, ROWS, RegionTable};
use host::event_fd::EventFd;
use host::lock::{Mutex, RwLock};
use host::memory::{self, Room};
use host::pause::Pause;
use host::poll::{Epoll, Ready};
use host::timers::Timers;
use host::topic::{Reason, Topic};

use crate::cm::Handshakes;
use crate::conn::{After, Conn, Phase, Received};
use crate::locate::Place;
use crate::socket::Socket;

mod leaving;

use leaving::Leaving;

/// The table of registered memory, which no other process reads.
pub type Regions = RegionTable<()>;

/// Bytes that one read takes, apart from a payload that is received into its place.
const BUFFER: usize = 32 << 10;
/// Sockets that one poll handles.
const BATCH: usize = 64;
/// Maximum time of a poll that must report everything that happened before it.
const COMPLETE: Duration = Duration::from_millis(10);
/// Successive polls that find something, after which the set is asked and reports are sent: a peer that always sends must not
/// hide the others.
const STREAK: u32 = 8;
/// Reads of a socket without data, after which the set is asked.
const MISSES: u32 = 7;
/// Interval at which the progress thread checks whether the program polls. Requests that were gathered leave within two of
/// it if the program does not poll any more.
pub const TICK: Duration = Duration::from_millis(1);
/// The same while a thread of the program sleeps on the set of sockets.
pub const PARK: Duration = Duration::from_millis(10);

/// The error for lack of memory, or of descriptors.
pub fn no_memory() -> Error {
    Error::InsufficientResources(Resource::Memory)
}

/// Attempts at connections.
#[derive(Default)]
pub struct Work {
    /// Attempts with a time limit.
    pub timers: Timers<Arc<Conn>>,
    /// Attempts that failed within a call.
    pub reports: Vec<(Arc<Conn>, ConnectionReport)>,
}

/// The memory of a poll, which so allocates nothing.
struct Polling {
    buffer: Vec<u8>,
    ready: Vec<Ready>,
    noted: Vec<Arc<Conn>>,
    /// The number of the connection that received last, and what it received.
    last: (u64, Received),
    /// The connection that is expected to receive next.
    next: Option<Arc<Conn>>,
    /// The last expectation was right: polls read the next connection before they ask the set.
    is_steady: bool,
    /// Successive polls that found something.
    streak: u32,
    /// Successive polls that read the next connection and found no data.
    misses: u32,
}

/// What all of an open adapter shares.
pub struct Device {
    /// The address and the interface.
    pub place: Place,
    /// Registered memory.
    pub regions: Regions,
    /// Sockets of connections, by number.
    sockets: Epoll,
    /// Listening sockets, and those of connections that are being made.
    pub handshakes: Handshakes,
    /// Attempts at connections.
    pub work: Mutex<Work>,
    /// Wakes the progress thread.
    pub wakeup: EventFd,
    /// The progress thread must end.
    pub stop: AtomicBool,
    /// Threads of the program that sleep on the set, or are about to.
    sleepers: AtomicUsize,
    /// Needs for reports although no thread of the program makes a call.
    pub watchers: AtomicUsize,
    /// The progress thread leaves polling to sleepers.
    pub parked: AtomicBool,
    /// The progress thread sleeps without a limit.
    pub watching: AtomicBool,
    /// Connections in [`Phase::Accepting`].
    pub unsettled: AtomicUsize,
    /// Those of them whose first record was found, and is about to be reported.
    pub beginning: AtomicUsize,
    /// Polls by threads of the program.
    polls: AtomicU64,
    numbers: AtomicU64,
    table: RwLock<HashMap<u64, Arc<Conn>, BuildHasherDefault<Spread>>>,
    /// Streams that this side has left, and when they are closed.
    leaving: Mutex<Leaving>,
    /// Connections whose sockets had no room for a whole record.
    blocked: Mutex<Vec<u64>>,
    polling: Mutex<Polling>,
    noted: Mutex<Vec<Arc<Conn>>>,
    is_noted: AtomicBool,
    deferred: Mutex<Vec<After>>,
    is_deferred: AtomicBool,
}

/// A hash of numbers that this adapter gives out, which no peer chooses.
#[derive(Default)]
struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, number: u64) {
        // 2^64 divided by the golden ratio spreads successive numbers over the high bits, too.
        self.0 = (self.0 ^ number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// Returns how many descriptors of a kind that peers cause are open at most: `most`, or a part of the process's limit.
pub fn descriptors(most: usize) -> usize {
    let limit = host::limit::open_files().ok().flatten();
    limit.map_or(most, |limit| most.min(limit as usize / 8))
}

/// Returns the buffer of a poll. Returns `None` if there is no memory.
fn buffer() -> Option<Vec<u8>> {
    let mut buffer = memory::vec(BUFFER).ok()?;
    buffer.resize(BUFFER, 0);
    Some(buffer)
}

impl Device {
    /// Opens the adapter of a place.
    ///
    /// # Errors
    /// A line that states the reason.
    pub fn open(place: Place) -> std::result::Result<Arc<Device>, Reason> {
        // The address must be usable.
        Socket::listen(SocketAddr::new(place.address, 0)).map_err(|error| {
            Topic::DoesNotOpen.error(&error, format!("cannot listen at {}: {error}", place.address))
        })?;
        let no_descriptor = |error: io::Error| Topic::DoesNotOpen.error(&error, format!("no descriptor: {error}"));
        let no_memory = || Topic::DoesNotOpen.reason("no memory");
        let device = Device {
            place,
            regions: RegionTable::new((), ROWS as u32),
            sockets: Epoll::new().map_err(no_descriptor)?,
            handshakes: Handshakes::new().map_err(no_descriptor)?,
            work: Mutex::default(),
            wakeup: EventFd::new().map_err(no_descriptor)?,
            stop: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            watchers: AtomicUsize::new(0),
            parked: AtomicBool::new(false),
            watching: AtomicBool::new(false),
            unsettled: AtomicUsize::new(0),
            beginning: AtomicUsize::new(0),
            polls: AtomicU64::new(0),
            numbers: AtomicU64::new(1),
            table: RwLock::default(),
            leaving: Mutex::default(),
            blocked: Mutex::default(),
            polling: Mutex::new(Polling {
                buffer: buffer().ok_or_else(no_memory)?,
                ready: memory::vec(BATCH).map_err(|_| no_memory())?,
                noted: Vec::new(),
                last: (0, Received::Reports),
                next: None,
                is_steady: false,
                streak: 0,
                misses: 0,
            }),
            noted: Mutex::default(),
            is_noted: AtomicBool::new(false),
            deferred: Mutex::default(),
            is_deferred: AtomicBool::new(false),
        };
        memory::arc(device).map_err(|_| no_memory())
    }

    /// Returns a number that no other connection of this adapter ever has.
    pub fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    // ---- Connections and their sockets ----

    /// Makes room for another connection.
    ///
    /// # Errors
    /// There is no memory.
    pub fn expect(&self) -> Result<()> {
        Ok(self.table.write().room(1)?)
    }

    /// Adds a connection.
    pub fn enter(&self, conn: &Arc<Conn>) {
        self.table.write().insert(conn.number(), conn.clone());
    }

    /// Removes a connection.
    pub fn forget(&self, number: u64) {
        let removed = self.table.write().remove(&number);
        drop(removed);
        self.blocked.lock().retain(|blocked| *blocked != number);
        self.handshakes.remove(number);
    }

    /// Returns the connection with this number.
    pub fn conn(&self, number: u64) -> Option<Arc<Conn>> {
        self.table.read().get(&number).cloned()
    }

    /// Returns all connections.
    pub fn conns(&self) -> Vec<Arc<Conn>> {
        self.table.read().values().cloned().collect()
    }

    /// Adds the socket of a connection to the set.
    ///
    /// # Errors
    /// The error of the system.
    pub fn add_socket(&self, socket: &Socket, number: u64) -> std::io::Result<()> {
        self.sockets.add(socket.as_fd(), number)
    }

    /// Removes a socket from the set, before it is closed.
    pub fn remove_socket(&self, socket: &Socket) {
        let _ = self.sockets.delete(socket.as_fd());
    }

    /// Asks for a report when a socket has room, or no longer.
    pub fn await_room(&self, socket: &Socket, number: u64, room: bool) {
        let _ = self.sockets.modify(socket.as_fd(), number, room);
    }

    /// The descriptor of the set, which is readable when a socket is.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.sockets.as_fd()
    }

    // ---- Deferred work ----

    /// Adds a connection to those that the next poll without other work inspects.
    pub fn note(&self, conn: &Arc<Conn>) {
        self.noted.lock().push(conn.clone());
        // The progress thread sets its flag before it checks this one.
        self.is_noted.store(true, Ordering::SeqCst);
        self.wake_if_watching();
    }

    /// Wakes the progress thread if it sleeps without a limit: the program may not poll again.
    fn wake_if_watching(&self) {
        if self.watching.load(Ordering::SeqCst) && self.watching.swap(false, Ordering::SeqCst) {
            self.wakeup.wake();
        }
    }

    /// Wakes the progress thread if threads of the program sleep.
    pub fn wake_if_parked(&self) {
        if self.parked.load(Ordering::SeqCst) && self.parked.swap(false, Ordering::SeqCst) {
            self.wakeup.wake();
        }
    }

    /// Returns whether connections are noted.
    pub fn is_noted(&self) -> bool {
        self.is_noted.load(Ordering::SeqCst)
    }

    /// Defers work to a thread that holds no lock.
    pub fn later(&self, after: After) {
        self.deferred.lock().push(after);
        self.is_deferred.store(true, Ordering::SeqCst);
        self.wake_if_watching();
        self.wake_if_parked();
    }

    /// Does deferred work.
    pub fn run_deferred(&self) {
        while self.is_deferred.swap(false, Ordering::AcqRel) {
            let deferred = std::mem::take(&mut *self.deferred.lock());
            deferred.into_iter().for_each(After::run);
        }
    }

    /// Returns whether work is deferred.
    pub fn is_deferred(&self) -> bool {
        self.is_deferred.load(Ordering::SeqCst)
    }

    // ---- The poll ----

    /// Polls for a thread of the program.
    pub fn poll(&self, how: Poll) {
        self.polls.fetch_add(1, Ordering::Relaxed);
        self.poll_once(how);
    }

    /// Returns how often threads of the program have polled.
    pub fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }

    /// Returns whether a thread polls at the moment. A poll that finds much to send takes longer than a [`TICK`].
    pub fn is_polled(&self) -> bool {
        self.polling.try_lock().is_none()
    }

    /// Polls all connections, and reports what is found. Returns false if that is nothing.
    pub fn poll_once(&self, how: Poll) -> bool {
        let mut after = Vec::new();
        let mut found = self.collect(how, &mut after);
        while !after.is_empty() {
            // Connections that begin are reported before others end.
            after.sort_by_key(|after| !after.is_beginning());
            let begins = after.first().is_some_and(After::is_beginning);
            after.drain(..).for_each(After::run);
            if begins {
                // Their first records have arrived.
                found |= self.collect(Poll::IfFree, &mut after);
            }
        }
        if self.is_deferred() {
            self.run_deferred();
        }
        found
    }

    /// Reports connections that a peer has used before it ended another one: each has a socket of its own, and this one may have
    /// been read first. Programs rely on the order in which the peer did both. Called without a lock.
    pub fn settle(&self) {
        if self.unsettled.load(Ordering::Acquire) == 0 {
            return;
        }
        let mut after = Vec::new();
        self.collect(Poll::Complete, &mut after);
        for after in after {
            if after.is_beginning() { after.run() } else { self.later(after) }
        }
        // Another thread may have found one, and be about to report it.
        let (mut pause, until) = (Pause::new(), Instant::now() + TICK);
        while self.beginning.load(Ordering::Acquire) > 0 && Instant::now() < until {
            pause.pass();
        }
    }

    /// Handles the sockets that are ready, and collects what must be done without a lock. Returns whether something was found.
    fn collect(&self, how: Poll, after: &mut Vec<After>) -> bool {
        let polling = match how {
            Poll::IfFree => self.polling.try_lock(),
            Poll::Complete => Some(self.polling.lock()),
        };
        let Some(mut polling) = polling else { return false };
        let polling = &mut *polling;
        let mut found = false;
        let expects = polling.is_steady && polling.misses < MISSES && polling.streak < STREAK;
        if how == Poll::IfFree && expects {
            let received = polling.next.as_ref().and_then(|next| next.receive(&mut polling.buffer, after));
            found = received.is_some();
            polling.misses = if found { 0 } else { polling.misses + 1 };
            if let Some(received) = received {
                if let Some(next) = polling.next.take() {
                    self.expect_next(polling, next, received);
                }
            }
        } else {
            polling.misses = 0;
            let end = (how == Poll::Complete).then(|| Instant::now() + COMPLETE);
            while self.collect_ready(polling, after) {
                found = true;
                if end.is_none_or(|end| Instant::now() >= end) {
                    break;
                }
            }
        }
        polling.streak = if found && polling.streak < STREAK { polling.streak + 1 } else { 0 };
        if polling.streak == 0 || how == Poll::Complete {
            self.flush(&mut polling.noted, after);
        }
        found
    }

    /// Handles up to [`BATCH`] sockets that are ready. Returns whether one of them had something.
    fn collect_ready(&self, polling: &mut Polling, after: &mut Vec<After>) -> bool {
        let mut ready = std::mem::take(&mut polling.ready);
        self.sockets.look(|found| ready.push(found));
        let mut found = false;
        for one in ready.drain(..) {
            let Some(conn) = self.conn(one.token) else {
                self.ready_late(one, &mut polling.buffer);
                continue;
            };
            if one.writable {
                conn.writable(after);
            }
            if !one.readable {
                continue;
            }
            if let Some(received) = conn.receive(&mut polling.buffer, after) {
                found = true;
                polling.is_steady = polling.next.as_ref().is_some_and(|next| Arc::ptr_eq(next, &conn));
                let (last, what) = polling.last;
                self.conn(last).inspect(|last| last.set_next(what, conn.number()));
                self.expect_next(polling, conn, received);
            }
        }
        polling.ready = ready;
        // A connection that has ended is of no use.
        polling.next.take_if(|next| next.phase() > Phase::Up);
        found
    }

    /// Notes what a connection has received, and determines which one is expected to receive next.
    fn expect_next(&self, polling: &mut Polling, conn: Arc<Conn>, received: Received) {
        polling.last = (conn.number(), received);
        polling.next = match conn.next(received) {
            number if number == conn.number() => Some(conn),
            number => self.conn(number),
        };
    }

    /// Sends what noted connections owe, and does deferred work.
    pub fn flush_all(&self) {
        let mut after = Vec::new();
        self.flush(&mut self.polling.lock().noted, &mut after);
        after.into_iter().for_each(After::run);
        self.run_deferred();
    }

    /// Sends what noted connections owe.
    fn flush(&self, noted: &mut Vec<Arc<Conn>>, after: &mut Vec<After>) {
        if !self.is_noted() || !self.is_noted.swap(false, Ordering::AcqRel) {
            return;
        }
        // Connections that are noted during the loop have their turn with the next poll.
        std::mem::swap(noted, &mut *self.noted.lock());
        for conn in noted.drain(..) {
            conn.flush(after);
        }
    }

    // ---- Sleeping threads of the program ----

    /// Prepares for the sleep of a thread of the program on the set of sockets.
    pub fn begin_sleep(&self) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        if self.is_noted() {
            self.poll_once(Poll::Complete);
        }
    }

    /// Ends the sleep of a thread of the program.
    pub fn end_sleep(&self) {
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Returns whether a thread of the program sleeps, or is about to.
    pub fn has_sleepers(&self) -> bool {
        self.sleepers.load(Ordering::SeqCst) > 0
    }

    /// Returns whether there is neither a connection nor an attempt at one, nor one whose peer still reads.
    pub fn is_idle(&self) -> bool {
        self.table.read().is_empty() && self.leaving.lock().is_empty()
    }

    // ---- Work of the progress thread ----

    /// Gives the progress thread work.
    pub fn command(&self, change: impl FnOnce(&mut Work)) {
        change(&mut self.work.lock());
        self.wakeup.wake();
    }

    /// Returns an attempt whose time limit has passed.
    pub fn take_due(&self, now: Instant) -> Option<Arc<Conn>> {
        self.work.lock().timers.take_due(now)
    }

    // ---- Memory ----

    /// Notes that the rest of a record of a connection may be in registered memory. Returns false if there is no memory.
    pub fn list_blocked(&self, number: u64) -> bool {
        let mut blocked = self.blocked.lock();
        let has_room = blocked.room(1).is_ok();
        if has_room {
            blocked.push(number);
        }
        has_room
    }

    /// Fails the connections that send from a region which is about to be freed. Called without a lock.
    pub fn region_freed(&self, key: u32) {
        // From the end, because a connection that fails leaves the list.
        let blocked = self.blocked.lock().len();
        for at in (0..blocked).rev() {
            let number = self.blocked.lock().get(at).copied();
            if let Some(conn) = number.and_then(|number| self.conn(number)) {
                conn.region_freed(key);
            }
        }
    }

    /// Invalidates a window for the connection that has the end `own`. Returns false if that connection may not.
    pub fn invalidate(&self, key: u32, own: &AccessContext) -> bool {
        self.regions.invalidate(key, own).is_some()
    }
}

impl Owner for Device {
    type Mirror = ();

    fn regions(&self) -> &Regions {
        &self.regions
    }
}
