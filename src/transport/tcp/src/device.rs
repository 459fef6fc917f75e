//! The shared state of an open adapter: connections, sockets, and deferred work.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use dat_census::Beacon;
use dat_software::objects::Owner;
use dat_software::regions::{ROWS, RegionTable};
use host::event_fd::EventFd;
use host::lock::{Mutex, RwLock};
use host::memory::{self, NoMemory, Room};
use host::poll::Epoll;
use host::topic::{Reason, Topic};

use crate::Tcp;
use crate::conn::{After, Conn};
use crate::handshakes::Handshakes;
use crate::locate::Place;
use crate::socket::Socket;
use crate::stream::Shared;

pub struct Device {
    pub place: Place,
    pub shared: Arc<Shared>,
    /// Listening sockets, connection attempts, and all deadlines.
    pub handshakes: Handshakes,
    pub wakeup: EventFd,
    pub beacon: Beacon<Tcp>,
    pub stop: AtomicBool,
    /// Number of program threads that sleep on the set of sockets, or are about to.
    pub sleepers: AtomicUsize,
    /// Number of agents and descriptors that need reports without a call of the program (`Transport::watch`).
    pub watchers: AtomicUsize,
    /// Set while the progress thread leaves polling to `sleepers`, and sleeps for up to `PARK`.
    pub parked: AtomicBool,
    /// Set while the progress thread sleeps on the set of sockets, so that noted and deferred work must wake it.
    pub watching: AtomicBool,
    /// Number of accepted connections that are about to be reported as established.
    pub beginning: AtomicUsize,
    /// Number of polls by program threads.
    pub polls: AtomicU64,
    /// Set while the program polls often, so that requests can wait for several polls.
    pub is_brisk: AtomicBool,
    /// Connections and attempts with their numbers, sorted by number.
    pub table: RwLock<Vec<(u64, Arc<Conn>)>>,
    noted: Mutex<Vec<Arc<Conn>>>,
    is_noted: AtomicBool,
    /// Set if a noted connection does not wait for later posts, so that the next poll without data sends.
    is_due: AtomicBool,
    /// Number of polls since the last post that waits for later posts.
    idle: AtomicU32,
    deferred: Mutex<Vec<After>>,
    is_deferred: AtomicBool,
}

/// Returns the position of a connection, or the position at which to insert it.
fn find(table: &[(u64, Arc<Conn>)], number: u64) -> Result<usize, usize> {
    table.binary_search_by_key(&number, |(number, _)| *number)
}

impl Device {
    /// Opens the adapter of a place. An error contains one line.
    pub fn open(place: Place) -> Result<Arc<Device>, Reason> {
        // Checks that sockets can use the address.
        Socket::listen(SocketAddr::new(place.address, 0)).map_err(|error| {
            Topic::DoesNotOpen.error(&error, format!("cannot listen at {}: {error}", place.address))
        })?;
        let no_descriptor = |error: io::Error| Topic::DoesNotOpen.error(&error, format!("no descriptor: {error}"));
        let no_memory = |_: NoMemory| Topic::DoesNotOpen.reason("no memory");
        let regions = RegionTable::new(None, ROWS as u32);
        let sockets = Epoll::new().map_err(no_descriptor)?;
        let shared = Shared { regions, sockets, blocked: Mutex::default() };
        let device = Device {
            place,
            shared: memory::arc(shared).map_err(no_memory)?,
            handshakes: Handshakes::new().map_err(no_descriptor)?,
            wakeup: EventFd::new().map_err(no_descriptor)?,
            beacon: Beacon::open(),
            stop: AtomicBool::new(false),
            sleepers: AtomicUsize::new(0),
            watchers: AtomicUsize::new(0),
            parked: AtomicBool::new(false),
            watching: AtomicBool::new(false),
            beginning: AtomicUsize::new(0),
            polls: AtomicU64::new(0),
            is_brisk: AtomicBool::new(false),
            table: RwLock::default(),
            noted: Mutex::default(),
            is_noted: AtomicBool::new(false),
            is_due: AtomicBool::new(false),
            idle: AtomicU32::new(0),
            deferred: Mutex::default(),
            is_deferred: AtomicBool::new(false),
        };
        memory::arc(device).map_err(no_memory)
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

    /// Notes a connection for a flush. If any noted connection `is_due`, the next poll without data flushes all of
    /// them, otherwise a poll after several others.
    pub fn note(&self, conn: &Arc<Conn>, is_due: bool) {
        let is_new = !conn.noted.swap(true, Ordering::AcqRel);
        if is_new {
            self.noted.lock().push(conn.clone());
        }
        // The flag is set after the addition, because a flush clears it before it takes the list.
        if is_due {
            self.is_due.store(true, Ordering::Relaxed);
        } else {
            self.idle.store(0, Ordering::Relaxed);
        }
        if is_new {
            // The progress thread sets `watching` before it checks `is_noted`, so it sees this flag or is woken.
            self.is_noted.store(true, Ordering::SeqCst);
            // The program might not poll again, so the progress thread must.
            self.wake_if(&self.watching);
        }
    }

    /// Replaces `noted`, an empty list, by the noted connections.
    pub fn take_noted(&self, noted: &mut Vec<Arc<Conn>>) {
        self.is_noted.store(false, Ordering::SeqCst);
        self.is_due.store(false, Ordering::Relaxed);
        std::mem::swap(noted, &mut *self.noted.lock());
    }

    /// Returns whether all noted connections wait for later posts.
    pub fn is_gathering(&self) -> bool {
        self.is_noted() && !self.is_due.load(Ordering::Relaxed)
    }

    /// Counts a poll while posts wait for later ones. Returns the number of polls since the last such post.
    pub fn count_idle(&self) -> u32 {
        let idle = self.idle() + 1;
        self.idle.store(idle, Ordering::Relaxed);
        idle
    }

    pub fn idle(&self) -> u32 {
        self.idle.load(Ordering::Relaxed)
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

    /// Defers work that a poll has found. The caller of the poll does the work, or wakes the progress thread.
    pub fn defer(&self, after: After) {
        self.deferred.lock().push(after);
        self.is_deferred.store(true, Ordering::SeqCst);
    }

    /// Defers work to a thread that holds no lock, and wakes the progress thread if it sleeps.
    pub fn later(&self, after: After) {
        self.defer(after);
        self.wake_if(&self.watching);
        self.wake_if(&self.parked);
    }

    pub fn take_deferred(&self) -> Vec<After> {
        self.is_deferred.swap(false, Ordering::AcqRel);
        std::mem::take(&mut *self.deferred.lock())
    }

    pub fn is_deferred(&self) -> bool {
        self.is_deferred.load(Ordering::SeqCst)
    }

    /// Counts a poll by a program thread. A lost increment is harmless.
    pub fn count_poll(&self) {
        self.polls.store(self.polls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    }
}

impl Owner for Device {
    fn regions(&self) -> &RegionTable {
        &self.shared.regions
    }

    fn region_freed(&self, key: u32) {
        // In reverse order, because the failure of a connection removes it from the list.
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
