//! What all of an open adapter shares: libfabric's objects, the connections by number, and the poll.
//!
//! # Who polls
//! libfabric moves bytes only in calls. A thread of the program that dequeues polls for the whole adapter, and so does one
//! that waits, until it sleeps on the descriptor of the completion queues. The adapter's thread looks every [`TICK`] whether
//! the program still polls, and every [`PARK`] while a thread of it sleeps; once nobody does either, the adapter's thread sleeps
//! on the descriptor and polls itself. So a target that makes no call is written and read all the same, and a process at rest costs nothing.
//!
//! # What is left for later
//! A connection that owes its peer a word, or found no room in libfabric, is noted ([`Device::note`]) and looked at again by
//! the next poll that finds nothing. A report that needs a lock which the reporting thread has is kept ([`Device::later`]) for
//! the end of the poll.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use arrayvec::ArrayVec;
use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{ConnectionReport, Poll};
use dat_memory::regions::{Party, RegionTable};
use host::event_fd::EventFd;
use host::fork;
use host::lock::{Mutex, RwLock};
use host::memory::{self, Room};
use host::pause::Pause;
use host::timers::Timers;

use crate::bulk::{self, Holders};
use crate::cm::Service;
use crate::conn::{After, Conn};
use crate::hello::{self, Word};
use crate::link::{Link, SLOT_BITS, Slot};
use crate::locate::Place;
use crate::sys::{self, CmEvent, Completion, EventQueue, Fabric, Load, Passive, Queues};

/// The table of registered memory. No other process sees it.
pub type Regions = RegionTable<()>;

/// Rows of the table of regions.
pub const ROWS: u32 = 1 << 18;
/// Batches that a poll handles at most.
const BATCHES: usize = 64;
/// The time for which the adapter's thread polls beside the program, since that did not poll when something came: a target that
/// looks at its memory gets a write in 1.3 ms otherwise.
pub const STAY: Duration = Duration::from_millis(100);
/// Time between two looks whether the program polls. Where it does, on the processor of the thread, 64 B one way take 8.6 to
/// 10.7 us in the mean with a look each millisecond, and 7.4 to 8.2 us with one each 4 milliseconds.
pub const TICK: Duration = Duration::from_millis(4);
/// The same while a thread of the program sleeps, which may be held up, or may go on without a call.
pub const PARK: Duration = Duration::from_millis(10);
/// The time that a peer has to hear that this side has left.
const LINGER: Duration = Duration::from_secs(2);
/// The same when the adapter is closed.
pub const LAST: Duration = Duration::from_millis(200);
/// The least that libfabric has to copy in a call: records that are never kept fit.
const LEAST_INJECT: usize = 64;

/// No memory, or something else that libfabric needs.
pub fn no_memory() -> Error {
    Error::InsufficientResources(Resource::Memory)
}

/// Connections that are being made.
#[derive(Default)]
pub struct Work {
    /// Attempts with a limit.
    pub timers: Timers<Arc<Conn>>,
    /// Attempts that have failed at once.
    pub reports: Vec<(Arc<Conn>, ConnectionReport)>,
    /// Connections that the program has ended, and for which libfabric moved bytes then.
    pub endings: Vec<Arc<Conn>>,
}

/// What a poll uses, so that it allocates nothing.
#[derive(Default)]
struct Polling {
    batch: ArrayVec<Completion, 32>,
    noted: Vec<Arc<Conn>>,
}

/// What all of an open adapter shares.
pub struct Device {
    pub place: Place,
    pub fabric: Arc<Fabric>,
    pub events: Arc<EventQueue>,
    /// Rejects requests: libfabric wants a passive endpoint for that, and the one that took them may be gone.
    pub rejector: Passive,
    pub queues: Queues,
    pub regions: Regions,
    /// Which of them libfabric moves bytes of, and for whom.
    pub holders: Holders,
    /// Service points by the number of libfabric's passive endpoint.
    pub services: Mutex<HashMap<usize, Service>>,
    pub work: Mutex<Work>,
    /// Wakes the adapter's thread.
    pub bell: Arc<EventFd>,
    /// The adapter's thread is to end.
    pub stop: AtomicBool,
    /// Threads of the program that sleep, or are about to, on the descriptor of the completion queues.
    sleepers: AtomicUsize,
    /// Needs for events although no thread of the program calls in.
    pub watchers: AtomicUsize,
    /// The adapter's thread leaves polling to sleepers.
    pub parked: AtomicBool,
    /// The adapter's thread sleeps until something comes.
    pub watching: AtomicBool,
    /// Connections in [`Phase::Accepting`](crate::conn::Phase): the endpoint is not told yet that they stand.
    pub unsettled: AtomicUsize,
    /// Those that were found to stand, of which the thread that has found it is about to tell.
    pub beginning: AtomicUsize,
    /// Polls by threads of the program.
    polls: AtomicU64,
    numbers: AtomicU64,
    table: RwLock<HashMap<u64, Arc<Conn>>>,
    /// Connections that this side has left, and until when their peers have time to hear of it.
    leaving: Mutex<HashMap<u64, (Arc<Link>, Instant)>>,
    polling: Mutex<Polling>,
    noted: Mutex<Vec<Arc<Conn>>>,
    is_noted: AtomicBool,
    kept: Mutex<Vec<After>>,
    is_kept: AtomicBool,
}

impl Device {
    /// Opens libfabric's provider at a place.
    ///
    /// # Errors
    /// One line that says why.
    pub fn open(place: Place) -> std::result::Result<Arc<Device>, String> {
        let source = SocketAddr::new(place.address, 0);
        sys::load().map_err(Load::to_string)?;
        let failed = |what: &str, error| format!("libfabric, provider {}: {what}: {error}", place.provider);
        // libfabric has locks of its own for this, which a child must not find locked.
        let fabric = fork::undivided(|| Fabric::open(&place.provider, source))
            .map_err(|error| failed(&format!("no endpoint with connections at {}", place.address), error))?;
        if fabric.inject_size() < LEAST_INJECT {
            return Err(format!(
                "libfabric, provider {}: copies {} bytes in a call, and {LEAST_INJECT} are needed",
                place.provider,
                fabric.inject_size()
            ));
        }
        let events = EventQueue::open(&fabric).map_err(|error| failed("no queue of events", error))?;
        let rejector =
            Passive::silent(&fabric, &events, source).map_err(|error| failed("no endpoint to reject", error))?;
        let bell = EventFd::new().map_err(|error| format!("no descriptor: {error}"))?;
        let bell = memory::arc(bell).map_err(|_| "no memory".to_owned())?;
        let queues = Queues::open(&fabric, &bell).map_err(|error| failed("no completion queue", error))?;
        let device = Device {
            place,
            fabric,
            events,
            rejector,
            queues,
            regions: RegionTable::new((), ROWS),
            holders: Holders::default(),
            services: Mutex::default(),
            work: Mutex::default(),
            bell,
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
            polling: Mutex::default(),
            noted: Mutex::default(),
            is_noted: AtomicBool::new(false),
            kept: Mutex::default(),
            is_kept: AtomicBool::new(false),
        };
        memory::arc(device).map_err(|_| "no memory".to_owned())
    }

    /// A number that no other connection of this adapter ever has.
    pub fn next_number(&self) -> u64 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// Enters a connection, whose completions are handled from now on.
    pub fn enter(&self, conn: &Arc<Conn>) {
        self.table.write().insert(conn.number(), conn.clone());
    }

    /// Makes room for another connection in the table.
    ///
    /// # Errors
    /// There is no memory.
    pub fn expect(&self) -> Result<()> {
        Ok(self.table.write().room(1)?)
    }

    /// Forgets a connection.
    pub fn forget(&self, number: u64) {
        self.table.write().remove(&number);
    }

    /// The connection of this number.
    pub fn conn(&self, number: u64) -> Option<Arc<Conn>> {
        self.table.read().get(&number).cloned()
    }

    /// Whether there is no connection, nor an attempt at one, nor one whose peer is still to hear of its end.
    pub fn is_idle(&self) -> bool {
        self.table.read().is_empty() && self.leaving.lock().is_empty()
    }

    /// Keeps a connection that this side has left until its peer has heard of it.
    pub fn linger(&self, number: u64, link: Arc<Link>) {
        self.leaving.lock().insert(number, (link, Instant::now() + LINGER));
        self.bell.ring();
    }

    /// The peer of a connection that this side has left is gone.
    pub fn let_go(&self, number: u64) {
        let left = self.leaving.lock().remove(&number);
        drop(left);
    }

    /// Has the adapter's thread do that: libfabric may keep a thread that closes an endpoint waiting, and with it all data.
    fn let_go_soon(&self, number: u64) {
        if let Some((_, until)) = self.leaving.lock().get_mut(&number) {
            *until = Instant::now();
        }
        self.bell.ring();
    }

    /// Lets those go whose time is up; gives the time until that of the next one is.
    pub fn let_go_due(&self, now: Instant) -> Option<Duration> {
        let mut due = Vec::new();
        let mut leaving = self.leaving.lock();
        leaving.retain(|_, (link, until)| {
            let stays = *until > now;
            if !stays {
                due.push(link.clone());
            }
            stays
        });
        let next = leaving.values().map(|(_, until)| *until).min();
        drop(leaving);
        drop(due);
        next.map(|next| next.saturating_duration_since(now))
    }

    /// Handles events where nobody takes requests any more. libfabric would keep the sockets of those that are not answered.
    fn refuse_all(&self) {
        while let Some(event) = self.events.next() {
            match event {
                CmEvent::Shutdown { ep } | CmEvent::Failed { ep, .. } => self.let_go(ep as u64),
                CmEvent::Request { info, .. } => self.rejector.reject(info, &hello::encode(Word::Refused, &[])),
                CmEvent::Connected { .. } => {}
            }
        }
    }

    /// Gives the peers of all connections that this side has left a little time to hear of it, and lets them go.
    pub fn let_all_go(&self) {
        self.poll_while(LAST, || {
            self.refuse_all();
            !self.leaving.lock().is_empty() || self.events.retired() > 0
        });
        self.refuse_all();
        let left = std::mem::take(&mut *self.leaving.lock());
        drop(left);
    }

    /// All connections.
    pub fn conns(&self) -> Vec<Arc<Conn>> {
        self.table.read().values().cloned().collect()
    }

    /// Has a connection looked at again soon.
    pub fn note(&self, conn: &Arc<Conn>) {
        self.noted.lock().push(conn.clone());
        // This store and the look at the flag come in one order with those of the adapter's thread, which sets the flag
        // before it looks for connections that are noted.
        self.is_noted.store(true, Ordering::SeqCst);
        self.wake_if_watching();
    }

    /// Has the adapter's thread look again before it sleeps until something comes: the program may not poll again.
    fn wake_if_watching(&self) {
        if self.watching.load(Ordering::SeqCst) && self.watching.swap(false, Ordering::SeqCst) {
            self.bell.ring();
        }
    }

    /// Has the adapter's thread look at what was noted or kept, where threads of the program sleep.
    pub fn wake_if_parked(&self) {
        if self.parked.load(Ordering::SeqCst) {
            self.bell.ring();
        }
    }

    /// Whether connections are to be looked at again.
    pub fn is_noted(&self) -> bool {
        self.is_noted.load(Ordering::SeqCst)
    }

    /// Has something done soon, by a thread that has no lock.
    pub fn later(&self, after: After) {
        self.kept.lock().push(after);
        self.is_kept.store(true, Ordering::SeqCst);
        self.wake_if_watching();
        self.wake_if_parked();
    }

    /// Does what was kept for a thread without a lock.
    pub fn run_kept(&self) {
        while self.is_kept.swap(false, Ordering::AcqRel) {
            let kept = std::mem::take(&mut *self.kept.lock());
            kept.into_iter().for_each(After::run);
        }
    }

    /// Whether something was kept for a thread without a lock.
    pub fn is_kept(&self) -> bool {
        self.is_kept.load(Ordering::SeqCst)
    }

    /// Polls for a thread of the program.
    pub fn poll(&self, how: Poll) {
        self.polls.fetch_add(1, Ordering::Relaxed);
        self.poll_once(how);
    }

    /// How often threads of the program have polled.
    pub fn polls(&self) -> u64 {
        self.polls.load(Ordering::Relaxed)
    }

    /// Polls for all connections, and reports what is found; false if that is nothing.
    pub fn poll_once(&self, how: Poll) -> bool {
        let mut after = Vec::new();
        let found = self.collect(how, &mut after);
        // What begins comes first.
        after.sort_by_key(|after| !after.is_beginning());
        let begins = after.first().is_some_and(After::is_beginning);
        after.into_iter().for_each(After::run);
        if self.is_kept() {
            self.run_kept();
        }
        if begins {
            // libfabric may have read more than one record, of which its descriptor does not tell.
            self.poll_once(Poll::IfFree);
        }
        found
    }

    /// Has those connections told to stand that a peer has used before it ended another one: each has a socket of its own, and
    /// this one may have been read first. Programs count on the order in which the peer has done it. Called without a lock.
    pub fn settle(&self) {
        if self.unsettled.load(Ordering::Acquire) == 0 {
            return;
        }
        // Once more after each that begins, as in a poll.
        let mut begins = true;
        while begins {
            let mut after = Vec::new();
            self.collect(Poll::Complete, &mut after);
            begins = after.iter().any(After::is_beginning);
            for after in after {
                if after.is_beginning() { after.run() } else { self.later(after) }
            }
        }
        // Another thread may have found one, and be about to tell.
        let (mut pause, until) = (Pause::new(), Instant::now() + TICK);
        while self.beginning.load(Ordering::Acquire) > 0 && Instant::now() < until {
            pause.pass();
        }
    }

    /// Polls for all connections; gives what is to be done, and false if nothing was found.
    fn collect(&self, how: Poll, after: &mut Vec<After>) -> bool {
        let polling = match how {
            Poll::IfFree => self.polling.try_lock(),
            Poll::Complete => Some(self.polling.lock()),
        };
        let Some(mut polling) = polling else { return false };
        let Polling { batch, noted } = &mut *polling;
        let mut found = false;
        for _ in 0..BATCHES {
            batch.clear();
            self.queues.read(batch);
            if batch.is_empty() {
                self.flush(noted, after);
                break;
            }
            found = true;
            for completion in batch.iter() {
                self.completed(completion, after);
            }
            if how == Poll::IfFree && !batch.is_full() {
                break;
            }
        }
        found
    }

    fn completed(&self, completion: &Completion, after: &mut Vec<After>) {
        // What failed belongs to a connection that has ended, of which the queue of events tells.
        let Some(slot) = Slot::of_context(completion.context & ((1 << SLOT_BITS) - 1)) else { return };
        if completion.failed {
            return;
        }
        let (number, len) = (completion.context >> SLOT_BITS, completion.len);
        let Some(conn) = self.conn(number) else { return self.completed_late(number, slot, len) };
        let over = match slot {
            Slot::Receive(at) => !conn.received(at, len, after),
            Slot::BulkIn => !conn.bulk_arrived(len, after),
            Slot::BulkOut => !conn.bulk_sent(after),
            _ => false,
        };
        if over {
            self.completed_late(number, slot, len);
        } else if let Slot::Answer(at) = slot {
            conn.sent(at, after);
        }
    }

    /// Handles a completion of a connection that this side has left.
    #[cold]
    fn completed_late(&self, number: u64, slot: Slot, len: usize) {
        let link = self.leaving.lock().get(&number).map(|(link, _)| link.clone());
        let Some(link) = link else { return };
        let left = match slot {
            Slot::Receive(at) => link.is_left(at, len),
            Slot::BulkIn => {
                link.bulk_in();
                link.receive(0).is_err()
            }
            Slot::BulkOut => {
                link.bulk_out();
                false
            }
            Slot::Request(_) | Slot::Answer(_) => false,
        };
        if left {
            self.let_go_soon(number);
        }
    }

    /// Whether the peer of a connection that this side has left has not gone.
    pub fn is_leaving(&self, number: u64) -> bool {
        self.leaving.lock().contains_key(&number)
    }

    /// Polls while `f` says so, but no longer than `limit`. Called without a lock.
    pub fn poll_while(&self, limit: Duration, f: impl Fn() -> bool) {
        let end = Instant::now() + limit;
        while f() && Instant::now() < end {
            self.poll_once(Poll::Complete);
            if f() && self.queues.try_wait(false) {
                let _ = host::poll::wait([Some(self.queues.fd())], Some(TICK));
            }
        }
    }

    /// Gives libfabric a moment to finish what it moves, before all connections end.
    pub fn finish_all(&self) {
        self.poll_while(bulk::PATIENCE, || !self.holders.is_empty());
    }

    /// Gives libfabric a moment to finish what it moves from or to a region. Called without a lock.
    pub fn await_region(&self, key: u32) {
        self.poll_while(bulk::PATIENCE, || self.holders.has(key));
    }

    /// Takes a region or a window away. Connections for which libfabric still moves its bytes are cut.
    pub fn remove_region(&self, key: u32) {
        // No other connection can have its bytes moved once the row is closed.
        self.regions.remove_with(key, || self.cut_holders(key));
    }

    fn cut_holders(&self, key: u32) {
        if self.holders.has(key) {
            self.holders.of(key).iter().for_each(|link| link.cut());
        }
    }

    /// Revokes a window for the connection that has the end `own`; false if it may not. Connections that still write to it are
    /// cut.
    pub fn invalidate(&self, key: u32, own: &Party) -> bool {
        self.regions.invalidate_with(key, own, || self.cut_holders(key)).is_some()
    }

    /// Looks at the connections that were noted.
    fn flush(&self, noted: &mut Vec<Arc<Conn>>, after: &mut Vec<After>) {
        if !self.is_noted.swap(false, Ordering::AcqRel) {
            return;
        }
        // Those that are noted meanwhile have their turn with the next poll.
        std::mem::swap(noted, &mut *self.noted.lock());
        for conn in noted.drain(..) {
            conn.flush(after);
        }
    }

    /// A thread of the program is about to sleep on the descriptor of the completion queues.
    pub fn begin_sleep(&self) {
        self.sleepers.fetch_add(1, Ordering::SeqCst);
        // libfabric may refuse while something is to be read.
        for _ in 0..BATCHES {
            if self.queues.try_wait(false) {
                return;
            }
            self.poll_once(Poll::Complete);
        }
    }

    /// It does not sleep any more.
    pub fn end_sleep(&self) {
        self.sleepers.fetch_sub(1, Ordering::SeqCst);
    }

    /// Whether a thread of the program sleeps, or is about to.
    pub fn has_sleepers(&self) -> bool {
        self.sleepers.load(Ordering::SeqCst) > 0
    }

    /// Gives the adapter's thread work.
    pub fn command(&self, change: impl FnOnce(&mut Work)) {
        change(&mut self.work.lock());
        self.bell.ring();
    }

    /// The attempts whose time is up.
    pub fn take_due(&self, now: Instant) -> Option<Arc<Conn>> {
        self.work.lock().timers.take_due(now)
    }
}
