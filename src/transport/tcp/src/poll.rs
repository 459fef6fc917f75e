//! The poll of an adapter, which handles ready sockets.
//!
//! A program thread polls the whole adapter when it dequeues, and when it waits, until it sleeps on the set of sockets
//! (epoll). If the program does neither, the progress thread sleeps on the set and polls itself.
//!
//! An idle poll makes one system call: it reads the socket expected next, or after several reads asks the set, at a
//! cost independent of idle sockets. Each connection stores which connection received next after it last time, for
//! reports and for other records (`Conn::next`). That one is expected, because programs tend to use a fixed order.
//!
//! # Deferred work
//! A connection with an unsent acknowledgement or gathered requests is *noted* in a list. The next poll without data
//! sends these, and the kernel's acknowledgement of the last reports. So do complete polls, and polls after [`STREAK`]
//! polls with data. Threads send for noted connections before they sleep. Work that needs a thread without locks
//! ([`After`]) is *deferred* in a second list.
//!
//! A program that posts one request, then polls once, would send one record per system call. So while it polls often,
//! the posts of a stream ([`Leave::WithLater`](crate::tx::Leave)) wait for later ones, for up to [`IDLE`] polls after
//! the last post. The first of these polls return immediately. Before core ends a connection, it polls completely,
//! which sends them.

use std::mem;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use dat_core::transport::Poll;
use dat_software::qp::Phase;
use host::lock::Mutex;
use host::memory::{self, NoMemory};
use host::pause::{self, Pause};
use host::poll::Ready;

use crate::conn::{After, Conn};
use crate::device::Device;
use crate::handshakes::{CLOSED, LINGER};
use crate::record::End;
use crate::rx::ConnEnd;

/// Maximum bytes of a read into the buffer. Long payloads are received directly in their destination.
const BUFFER: usize = 32 << 10;
/// Maximum time of a complete poll, which must report everything that happened before it.
const COMPLETE: Duration = Duration::from_millis(10);
/// Maximum successive polls with data before a poll asks the set and sends acknowledgements, to serve other peers.
const STREAK: u32 = 8;
/// Number of successive reads without data after which the set is asked. The values are for no, some, and over
/// [`STEADY`] receptions in the expected order.
const MISSES: [u32; 3] = [0, 7, 24];
const STEADY: u32 = 64;
/// Number of polls after the last post of a stream after which a poll without data sends its gathered requests.
const IDLE: u32 = 4;
/// Number of polls after each post of a stream that return immediately.
const SKIPPED: u32 = 2;
/// Maximum number of consecutive polls that return immediately.
const MAX_SKIPPED: u32 = 16;
/// Minimum number of polls per [`TICK`] of a program that counts as polling often.
pub const BRISK: u64 = 64;
/// Interval at which the progress thread checks for polls of the program. Gathered requests leave within two intervals.
pub const TICK: Duration = Duration::from_millis(2);
/// Interval of the progress thread's checks while a program thread sleeps on the set of sockets.
pub const PARK: Duration = Duration::from_millis(10);
/// Maximum time without progress while the close of an adapter waits for peers: no further peer has read everything.
const CLOSE_LINGER: Duration = Duration::from_millis(500);

/// The state of the poll, with preallocated memory.
#[derive(Default)]
struct Polling {
    buffer: Vec<u8>,
    noted: Vec<Arc<Conn>>,
    /// Number of the last receiving connection, and whether it received more than reports.
    last: (u64, bool),
    /// Set if the last reception had only reports of handled bytes, and no flush has followed.
    reports: bool,
    /// The connection expected to receive next.
    next: Option<Arc<Conn>>,
    /// Number of receptions in the expected order.
    ordered: u32,
    streak: u32,
    /// Number of successive reads of `next` without data, and the maximum before the set is asked.
    misses: u32,
    most: u32,
}

pub struct Poller {
    pub device: Arc<Device>,
    polling: Mutex<Polling>,
    /// Number of polls that returned immediately since the last one that did not.
    skipped: AtomicU32,
}

impl Poller {
    pub fn new(device: Arc<Device>) -> Result<Arc<Poller>, NoMemory> {
        let mut buffer = memory::vec(BUFFER)?;
        buffer.resize(BUFFER, 0);
        let polling = Mutex::new(Polling { buffer, ..Polling::default() });
        memory::arc(Poller { device, polling, skipped: AtomicU32::new(0) })
    }

    /// Does deferred work, and reports new connections first. Returns whether there were new connections.
    pub fn run_deferred(&self) -> bool {
        let mut begins = false;
        while self.device.is_deferred() {
            let mut deferred = self.device.take_deferred();
            deferred.sort_by_key(|after| !matches!(after, After::Used(_)));
            begins |= matches!(deferred.first(), Some(After::Used(_)));
            deferred.into_iter().for_each(|after| self.run(after));
        }
        begins
    }

    fn run(&self, after: After) {
        match after {
            After::ConnEnd(conn, ConnEnd::Failed(fatal)) => conn.fail(fatal),
            After::ConnEnd(conn, ConnEnd::Left(end)) => {
                self.settle();
                conn.peer_left(end);
            }
            After::Drained(conn) => conn.base.sink.drained(),
            After::Used(conn) => {
                conn.established(Vec::new());
                self.device.beginning.fetch_sub(1, Ordering::AcqRel);
            }
            After::GivenUp(conn, report) => conn.give_up(report),
        }
    }

    /// Returns whether a poll may return immediately. At most [`MAX_SKIPPED`] consecutive polls may, so that a program
    /// that posts without end also receives.
    fn may_skip(&self) -> bool {
        let skipped = self.skipped.load(Ordering::Relaxed);
        let may = skipped < MAX_SKIPPED;
        self.skipped.store(if may { skipped + 1 } else { 0 }, Ordering::Relaxed);
        may
    }

    /// Returns whether a thread is polling now. A poll that sends much can outlast a [`TICK`], without a change of the
    /// count.
    pub fn is_polled(&self) -> bool {
        self.polling.try_lock().is_none()
    }

    pub fn poll_once(&self, how: Poll) {
        self.collect(how);
        while self.device.is_deferred() && self.run_deferred() {
            // Polls again, because the first records of the new connections have arrived.
            self.collect(Poll::IfFree);
        }
    }

    /// Reports as established the accepted connections that their peers have used, before the caller reports the end of
    /// a different connection. A program relies on its peer's order if the peer first uses one connection, then ends
    /// another. But a poll may read their sockets in the opposite order. Called without a lock.
    fn settle(&self) {
        let device = &self.device;
        if !device.handshakes.has_accepted() {
            return;
        }
        self.collect(Poll::Complete);
        for after in device.take_deferred() {
            if let After::Used(_) = after { self.run(after) } else { device.later(after) }
        }
        // Another thread may be about to report such a connection, so this waits for that thread.
        let (mut pause, until) = (Pause::new(), Instant::now() + COMPLETE);
        while device.beginning.load(Ordering::Acquire) > 0 && Instant::now() < until {
            pause.pass();
        }
    }

    /// Handles the expected or the ready sockets, and sends for noted connections. Defers work that needs a thread
    /// without locks. With [`Poll::IfFree`], may return immediately.
    pub fn collect(&self, how: Poll) {
        let device = &*self.device;
        if how == Poll::IfFree && device.is_gathering() && device.count_idle() <= SKIPPED && self.may_skip() {
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
        let flushes = (polling.streak == 0 || how == Poll::Complete) && (polling.reports || device.is_noted());
        let must = || found || how == Poll::Complete || device.idle() > IDLE;
        if flushes && (!device.is_gathering() || must()) {
            self.flush(polling);
        }
    }

    /// Handles ready sockets. Returns whether any of them had data.
    fn collect_ready(&self, polling: &mut Polling) -> bool {
        let (device, mut found) = (&*self.device, false);
        device.shared.sockets.look(|ready| {
            let Some(conn) = device.conn(ready.token) else {
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
            device.conn(last).inspect(|last| last.next[usize::from(had_records)].store(conn.number, Ordering::Relaxed));
            self.expect_next(polling, conn, received);
        });
        // An ended connection receives nothing, so it is not expected.
        polling.next.take_if(|next| next.base.phase() > Phase::Up);
        found
    }

    /// Records what a connection has received, and determines the connection to expect next.
    #[inline(always)]
    fn expect_next(&self, polling: &mut Polling, conn: Arc<Conn>, had_records: bool) {
        polling.ordered = polling.ordered.wrapping_add(1);
        polling.last = (conn.number, had_records);
        polling.reports = !had_records;
        polling.next = match conn.next[usize::from(had_records)].load(Ordering::Relaxed) {
            number if number == conn.number => Some(conn),
            number => self.device.conn(number),
        };
    }

    /// If connections are noted, sends their pending data and does deferred work.
    pub fn flush_all(&self) {
        if self.device.is_noted() {
            self.flush(&mut self.polling.lock());
            self.run_deferred();
        }
    }

    #[inline(never)] // Inlined, it would take registers from each poll.
    fn flush(&self, polling: &mut Polling) {
        // Connections noted during the loop wait for the next poll.
        self.device.take_noted(&mut polling.noted);
        for conn in polling.noted.drain(..) {
            conn.flush();
        }
        if mem::take(&mut polling.reports) {
            let last = self.device.conn(polling.last.0);
            last.and_then(|conn| conn.base.sink.lock_tx().map(|tx| tx.acknowledge_reports()));
        }
    }

    /// Ends all connections, waits until their peers have read everything, and closes all streams.
    pub fn close(&self) {
        let device = &self.device;
        let conns: Vec<_> = device.table.read().iter().map(|(_, conn)| conn.clone()).collect();
        conns.into_iter().for_each(|conn| _ = conn.close(false, Some(End::Disconnected)));
        self.run_deferred();
        pause::drain(CLOSE_LINGER, LINGER, || device.handshakes.leaving_count(), || self.poll_once(Poll::Complete));
        device.handshakes.close();
        // These connections own references to the device. They are dropped without a lock.
        let (mut noted, next) = (Vec::new(), self.polling.lock().next.take());
        device.take_noted(&mut noted);
        drop((noted, next, device.take_deferred()));
    }

    /// Handles the socket of a closed connection, and discards late data of the peer. Returns whether data arrived.
    #[cold]
    fn ready_late(&self, ready: Ready, buffer: &mut [u8]) -> bool {
        let handshakes = &self.device.handshakes;
        let Some(stream) = handshakes.leaving(ready.token | CLOSED) else { return false };
        if ready.writable {
            stream.on_room(drop);
        }
        let received = if ready.readable { stream.socket.recv_bytes(buffer) } else { Ok(None) };
        if let Ok(Some(0)) | Err(_) = received {
            handshakes.remove(ready.token | CLOSED);
        }
        matches!(received, Ok(Some(1..)))
    }
}
