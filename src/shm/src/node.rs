//! This process as its peers see it: its published memory, its links, its one thread.
//!
//! # Who makes progress
//! Arrived data is handled by whoever calls in: a dequeue or a wait handles what there is
//! for any connection of the process. When nobody calls in, somebody has to be woken,
//! and peers learn whom from one word of published memory:
//!
//! | word | who watches | a peer with news |
//! |---|---|---|
//! | [`AWAKE`] | callers poll; the thread looks in now and then | does nothing |
//! | [`Bell::Waiter`] | one blocked waiter (the *leader*), in poll(2) | rings the first bell |
//! | [`Bell::Thread`] | the thread, in epoll(7) | rings the second bell |
//!
//! Whoever writes the word looks for news once more afterwards, and whoever has news
//! publishes it before reading the word, so nothing is slept over (SYNC sleep).

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use dat_core::addr::Address;
use dat_core::error::{Error, Resource, Result};
use dat_core::transport::ListenerSink;
use host::doorbell::Doorbell;
use host::fork;
use once_cell::sync::OnceCell;
use parking_lot::{Mutex, RwLock};

use crate::Shm;
use crate::conn::Conn;
use crate::link::{Link, PAIR_HEAD, PAIR_SIZE};
use crate::os::directory::{ANY, Claim, ClaimError, Directory, SocketName};
use crate::os::memory::{Access, SharedMemory};
use crate::os::vm;
use crate::regions::RegionTable;
use crate::thread;
use crate::wire::{Message, Probe};

/// Nobody sleeps.
pub const AWAKE: u32 = 0;

/// Whom to wake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bell {
    /// A blocked waiter.
    Waiter = 0,
    /// The thread.
    Thread = 1,
}

impl Bell {
    /// Reads the word of published memory.
    pub fn from_word(word: u32) -> Option<Bell> {
        match word {
            1 => Some(Bell::Waiter),
            2 => Some(Bell::Thread),
            _ => None,
        }
    }

    fn word(self) -> u32 {
        self as u32 + 1
    }
}

/// Bytes of a node's published memory apart from its regions.
pub const HOME_SIZE: usize = 4096;

/// How long a caller waits for another thread that handles what has arrived.
const PATIENCE: Duration = Duration::from_millis(5);

/// Callers poll this often before the thread is told not to be rung for.
const POLLS_BEFORE_AWAKE: u32 = 64;

/// A value with cache lines of its own.
#[derive(Default)]
#[repr(align(128))]
struct Padded<T>(T);

/// How callers call in.
#[derive(Default)]
struct Callers {
    polls: AtomicU32,
    /// Polls in a row while peers ring for the thread.
    loops: AtomicU32,
}

/// What the thread is asked to do.
pub enum Command {
    /// Connect.
    Connect {
        /// The active end.
        conn: Arc<Conn>,
        /// The host.
        address: Address,
        /// The service point.
        qualifier: u64,
        /// For the peer.
        private_data: Vec<u8>,
        /// Time for all of it.
        timeout: Option<Duration>,
    },
    /// A message of this process to itself.
    Deliver(Arc<Link>, Message),
    /// The link's socket was full.
    WantRoom(Arc<Link>),
    /// The passive end of this connection cannot come up: its peer has given up.
    Fail(Arc<Conn>),
}

/// This process.
pub struct Node {
    /// Where processes meet.
    pub directory: Directory,
    /// Name of this process's socket there.
    pub name: SocketName,
    home: SharedMemory,
    regions: RegionTable,
    bells: [Doorbell; 2],
    /// Whether a blocked waiter watches. The word of published memory changes under this
    /// lock alone.
    leader: Padded<Mutex<bool>>,
    links: RwLock<Vec<Arc<Link>>>,
    /// The links again, for the one who makes progress.
    progress: Padded<Mutex<Vec<Arc<Link>>>>,
    commands: Mutex<VecDeque<Command>>,
    points: Mutex<HashMap<u64, (ListenerSink<Shm>, u64)>>,
    callers: Padded<Callers>,
    ports: AtomicU64,
    serial: AtomicU64,
    own: OnceCell<Arc<Link>>,
    thread: Mutex<Option<JoinHandle<()>>>,
    adapters: AtomicUsize,
    stopped: AtomicBool,
    /// A value that peers read to learn whether they can.
    probe: Box<u64>,
    /// Whether to try what the kernel offers for copies between processes.
    vm: bool,
}

/// A service point that listens; dropped to stop.
pub struct ShmListener {
    node: Arc<Node>,
    qualifier: u64,
    serial: u64,
    #[allow(dead_code)] // dropped to give the qualifier back
    claim: Claim,
}

impl Drop for ShmListener {
    fn drop(&mut self) {
        let mut points = self.node.points.lock();
        if points.get(&self.qualifier).is_some_and(|(_, serial)| *serial == self.serial) {
            points.remove(&self.qualifier);
        }
    }
}

type Nodes = Mutex<HashMap<PathBuf, Weak<Node>>>;
/// The nodes of this process, one a directory. A child of fork starts over with a new map.
static NODES: AtomicPtr<Nodes> = AtomicPtr::new(std::ptr::null_mut());

fn nodes() -> &'static Nodes {
    let mut map = NODES.load(Ordering::Acquire);
    if map.is_null() {
        let fresh = Box::into_raw(Box::<Nodes>::default());
        map = match NODES.compare_exchange(map, fresh, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => fresh,
            Err(other) => {
                // SAFETY: made three lines above and given to nobody.
                drop(unsafe { Box::from_raw(fresh) });
                other
            }
        };
    }
    // SAFETY: maps are never freed once they are published.
    unsafe { &*map }
}

/// In the child of a fork: the parent's sockets are not this process's, and neither are
/// its nodes, whose lock another thread may have held.
pub fn after_fork_in_child() {
    NODES.store(std::ptr::null_mut(), Ordering::Release);
    fork::close_in_child();
}

impl Node {
    /// The node of this process in the directory that `instance` names.
    pub fn get(instance: &str) -> Result<Arc<Node>> {
        let mut nodes = nodes().lock();
        let device = |error: std::io::Error| {
            log::error!("shm: {error}");
            Error::InsufficientResources(Resource::Device)
        };
        // What OFED wrote for its own providers, such as "ib0 0", means nothing here.
        let path = if instance.starts_with('/') { instance } else { "" };
        let directory = Directory::open(path).map_err(device)?;
        if let Some(node) = nodes.get(directory.path()).and_then(Weak::upgrade)
            && !node.is_stopped()
        {
            node.adapters.fetch_add(1, Ordering::AcqRel);
            return Ok(node);
        }
        let path = directory.path().to_owned();
        let node = Node::start(directory).map_err(device)?;
        node.adapters.fetch_add(1, Ordering::AcqRel);
        nodes.insert(path, Arc::downgrade(&node));
        Ok(node)
    }

    fn start(directory: Directory) -> std::io::Result<Arc<Node>> {
        let reachable = directory.listen()?;
        let name = reachable.name().clone();
        let home = SharedMemory::create("dat-shm-home", HOME_SIZE, Access::ReadOnly)?;
        let node = Arc::new(Node {
            directory,
            name: name.clone(),
            home,
            regions: RegionTable::new()?,
            bells: [Doorbell::new()?, Doorbell::new()?],
            leader: Padded::default(),
            links: RwLock::default(),
            progress: Padded::default(),
            commands: Mutex::default(),
            points: Mutex::default(),
            callers: Padded::default(),
            ports: AtomicU64::new(1),
            serial: AtomicU64::new(0),
            own: OnceCell::new(),
            thread: Mutex::default(),
            adapters: AtomicUsize::new(0),
            stopped: AtomicBool::new(false),
            probe: Box::new(u64::from(std::process::id()) << 32 ^ 0x0064_6174_2d73_686d),
            vm: vm::is_wanted(),
        });
        let memory = SharedMemory::create_mapped("dat-shm-self", PAIR_SIZE, PAIR_HEAD, Access::ReadWrite)?;
        let own = Link::new(&node, memory, name, std::process::id() as i32, None);
        node.add_link(&own);
        let _ = node.own.set(own);
        vm::allow_tracing();
        *node.thread.lock() = Some(thread::start(&node, reachable)?);
        Ok(node)
    }

    /// The link of this process with itself.
    pub fn own(&self) -> Option<&Arc<Link>> {
        self.own.get()
    }

    /// What peers map to see the registered memory.
    pub fn home(&self) -> &SharedMemory {
        &self.home
    }

    /// The registered memory of this process.
    pub fn regions(&self) -> &RegionTable {
        &self.regions
    }

    /// The bell that wakes a blocked waiter, or the thread.
    pub fn bell(&self, bell: Bell) -> &Doorbell {
        &self.bells[bell as usize]
    }

    /// What peers read to learn whether they can.
    pub fn probe(&self) -> Probe {
        Probe { addr: (&raw const *self.probe).expose_provenance() as u64, value: *self.probe }
    }

    /// Whether this process can copy to and from the memory of `pid`, which says what is
    /// to be found where.
    pub fn can_copy(&self, pid: i32, there: &Probe) -> bool {
        self.vm && vm::probe(pid, there.addr, there.value)
    }

    /// A port qualifier for an end of a connection.
    pub fn next_port(&self) -> u64 {
        // Outside of what a program can take for a service point of 16 bits.
        0x1_0000 + self.ports.fetch_add(1, Ordering::Relaxed)
    }

    fn word(&self) -> &AtomicU32 {
        match self.home.at(0) {
            Ok(word) => word,
            Err(_) => unreachable!("the first word lies inside the memory"),
        }
    }

    /// The links of this process.
    pub fn links(&self) -> Vec<Arc<Link>> {
        self.links.read().clone()
    }

    /// Adds a link; its connections are looked after from now on.
    pub fn add_link(&self, link: &Arc<Link>) {
        self.links.write().push(link.clone());
        self.progress.0.lock().push(link.clone());
    }

    /// Takes a link off.
    pub fn remove_link(&self, link: &Arc<Link>) {
        self.links.write().retain(|known| !Arc::ptr_eq(known, link));
        self.progress.0.lock().retain(|known| !Arc::ptr_eq(known, link));
    }

    /// Waits until no peer is in the middle of a transfer that began before the call: to
    /// be called after a region was closed to peers.
    pub fn await_peers_idle(&self) {
        for link in self.links() {
            link.await_all_idle();
        }
    }

    /// Handles what there is, unless another thread does; true if there was anything.
    pub fn poll(&self) -> bool {
        // Only to tell the thread that somebody calls in: a lost count does no harm.
        let callers = &self.callers.0;
        callers.polls.store(callers.polls.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        if self.word().load(Ordering::Relaxed) == Bell::Thread.word() {
            let loops = callers.loops.load(Ordering::Relaxed) + 1;
            callers.loops.store(loops, Ordering::Relaxed);
            if loops > POLLS_BEFORE_AWAKE {
                // Callers poll in a loop: spare peers the bell, but have the thread look
                // in from now on, in case they stop.
                callers.loops.store(0, Ordering::Relaxed);
                self.bell(Bell::Thread).ring();
            }
        }
        // Another thread may have put a message into the program's memory and be about to
        // queue its completion, which the caller, having seen the message, now expects.
        match self.progress.0.try_lock().or_else(|| self.progress.0.try_lock_for(PATIENCE)) {
            Some(links) => progress_all(&links),
            None => false,
        }
    }

    /// As [`Node::poll`], for the node's own thread, which is no caller.
    pub fn look(&self) -> bool {
        match self.progress.0.try_lock() {
            Some(links) => progress_all(&links),
            None => false,
        }
    }

    /// Handles what there is, after any other thread that does.
    pub fn settle(&self) -> bool {
        progress_all(&self.progress.0.lock())
    }

    fn any_ready(&self) -> bool {
        self.links.read().iter().any(|link| link.any_ready())
    }

    /// Prepares a waiter for sleep. If it becomes the leader it has to poll the bell.
    pub fn arm(&self) -> bool {
        self.callers.0.loops.store(0, Ordering::Relaxed);
        {
            let mut leader = self.leader.0.lock();
            if std::mem::replace(&mut *leader, true) {
                return false;
            }
            self.word().store(Bell::Waiter.word(), Ordering::SeqCst);
        }
        // SYNC sleep: news that came before is found here, news that comes later rings.
        fence(Ordering::SeqCst);
        if self.any_ready() {
            self.bell(Bell::Waiter).ring();
        }
        true
    }

    /// Ends what [`Node::arm`] began.
    pub fn disarm(&self, leader: bool) {
        if !leader {
            return;
        }
        self.bell(Bell::Waiter).clear();
        {
            let mut leader = self.leader.0.lock();
            *leader = false;
            // Until the next one arms, the thread watches.
            self.word().store(Bell::Thread.word(), Ordering::SeqCst);
        }
        // SYNC sleep: as in arm.
        fence(Ordering::SeqCst);
        if self.any_ready() {
            self.bell(Bell::Thread).ring();
        }
    }

    /// Wakes whoever sleeps in this process.
    pub fn wake_sleeper(&self) {
        // SYNC sleep: the news was published before this look.
        fence(Ordering::SeqCst);
        if let Some(bell) = Bell::from_word(self.word().load(Ordering::SeqCst)) {
            self.bell(bell).ring();
        }
    }

    /// How often callers have polled; changes while they do.
    pub fn polls(&self) -> u32 {
        self.callers.0.polls.load(Ordering::Relaxed)
    }

    /// Whether a blocked waiter watches.
    pub fn led(&self) -> bool {
        *self.leader.0.lock()
    }

    /// The thread is awake: nobody needs to ring for it.
    pub fn thread_awake(&self) {
        let leader = self.leader.0.lock();
        if !*leader {
            self.word().store(AWAKE, Ordering::SeqCst);
        }
    }

    /// The thread is going to sleep for as long as nobody rings; false if there is news.
    pub fn thread_asleep(&self) -> bool {
        {
            let leader = self.leader.0.lock();
            if *leader {
                return true;
            }
            self.word().store(Bell::Thread.word(), Ordering::SeqCst);
        }
        // SYNC sleep: as in arm.
        fence(Ordering::SeqCst);
        !self.any_ready()
    }

    /// Asks the thread to do something.
    pub fn command(&self, command: Command) {
        self.commands.lock().push_back(command);
        self.bell(Bell::Thread).ring();
    }

    /// What the thread was asked to do.
    pub fn next_command(&self) -> Option<Command> {
        self.commands.lock().pop_front()
    }

    /// Hands this process a message of its own.
    pub fn deliver(&self, link: &Arc<Link>, message: Message) {
        self.command(Command::Deliver(link.clone(), message));
    }

    /// Has the rest of a link's messages sent when there is room.
    pub fn want_room(&self, link: &Arc<Link>) {
        self.command(Command::WantRoom(link.clone()));
    }

    /// Starts to listen.
    pub fn listen(self: &Arc<Self>, qualifier: Option<u64>, sink: ListenerSink<Shm>) -> Result<(ShmListener, u64)> {
        let serial = self.serial.fetch_add(1, Ordering::Relaxed);
        let mut points = self.points.lock();
        let (claim, qualifier) = match qualifier {
            Some(qualifier) => {
                if points.contains_key(&qualifier) {
                    return Err(Error::QualifierInUse);
                }
                (self.directory.claim(qualifier, &self.name).map_err(claim_error)?, qualifier)
            }
            None => {
                let claim = self.directory.claim_any(ANY, &self.name).map_err(|error| match claim_error(error) {
                    Error::QualifierInUse => Error::QualifierUnavailable,
                    other => other,
                })?;
                let qualifier = claim.qualifier();
                (claim, qualifier)
            }
        };
        points.insert(qualifier, (sink, serial));
        drop(points);
        Ok((ShmListener { node: self.clone(), qualifier, serial, claim }, qualifier))
    }

    /// Who listens on `qualifier` in this process.
    pub fn point(&self, qualifier: u64) -> Option<ListenerSink<Shm>> {
        self.points.lock().get(&qualifier).map(|(sink, _)| sink.clone())
    }

    /// An adapter is closed; with the last one the thread ends, and has ended on return.
    pub fn release(&self) {
        {
            let _nodes = nodes().lock();
            if self.adapters.fetch_sub(1, Ordering::AcqRel) != 1 {
                return;
            }
            self.stopped.store(true, Ordering::Release);
        }
        self.bell(Bell::Thread).ring();
        let thread = self.thread.lock().take();
        // The last adapter may go on the thread itself, in a report to the program.
        if let Some(thread) = thread.filter(|thread| thread.thread().id() != std::thread::current().id())
            && thread.join().is_err()
        {
            log::error!("shm: the thread panicked");
        }
    }

    /// Whether the thread is to end.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

fn progress_all(links: &[Arc<Link>]) -> bool {
    links.iter().fold(false, |any, link| link.progress() | any)
}

fn claim_error(error: ClaimError) -> Error {
    match error {
        ClaimError::Taken => Error::QualifierInUse,
        ClaimError::Io(error) => {
            log::error!("shm: {error}");
            Error::InsufficientResources(Resource::Device)
        }
    }
}
