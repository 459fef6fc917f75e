//! This process as its peers see it: its name, its links, its service points and its one thread.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use dat_core::addr::Address;
use dat_core::error::{Error, Resource, Result};
use dat_core::transport::ListenerSink;
use dat_memory::objects::Owner;
use host::lock::Mutex;
use host::memory::{self, NoMemory, Room};
use host::thread::Thread;
use once_cell::sync::OnceCell;

use crate::Shm;
use crate::census::Census;
use crate::conn::{Conn, Ending};
use crate::control_region::ControlRegion;
use crate::link::{Link, Links};
use crate::os::directory::{ANY, Claim, Reachable, SocketName};
use crate::os::vm;
use crate::peer_segment::PeerSegment;
use crate::regions::{Published, RegionTable};
use crate::thread::PendingConnect;
use crate::wire::{Message, Probe};

/// Tasks that may come before the thread fetches them, and after room was made for them.
const TASKS: usize = 64;

/// A task for the progress thread.
pub enum Command {
    /// Connect to a host, within this time for the whole attempt.
    Connect(PendingConnect, Address, Option<Duration>),
    /// Handle a message of this process to itself.
    Deliver(Arc<Link>, Message),
    /// Wait until the link's socket has room.
    WantRoom(Arc<Link>),
    /// End the link, whose peer does not read its messages.
    Abandon(Arc<Link>),
    /// End this passive end, which cannot come up: its peer has given up.
    Fail(Arc<Conn>),
    /// Tell of the end of a connection when the transfers of its peer are over.
    Finish(Ending),
}

/// This process in one directory.
pub struct ProcessContext {
    /// Name of this process's socket there.
    pub name: SocketName,
    /// The socket itself, until the node stops.
    reachable: Mutex<Option<Arc<Reachable>>>,
    /// Its links with others and with itself.
    pub links: Links,
    commands: Mutex<VecDeque<Command>>,
    points: Mutex<BTreeMap<u64, ListenerSink<Shm>>>,
    ports: AtomicU64,
    own: OnceCell<Arc<Link>>,
    /// Its thread, which ends with the last adapter.
    pub thread: Mutex<Option<Thread>>,
    /// The number of open adapters; see [`crate::nodes`].
    pub adapters: AtomicUsize,
    /// These adapters, for those who ask.
    pub census: Census,
    stopped: AtomicBool,
    /// Copies between processes are to be tried.
    vm: bool,
    /// Yama was asked to let other processes copy.
    traceable: AtomicBool,
}

impl Owner for ProcessContext {
    type Mirror = Published;

    fn regions(&self) -> &RegionTable {
        &self.links.control.regions
    }

    fn await_peers(&self) {
        self.links.await_peers();
    }
}

impl ProcessContext {
    /// A node that can be reached at `reachable`, linked with itself; it has a door, but no thread yet.
    pub fn new(reachable: &Arc<Reachable>) -> io::Result<Arc<Self>> {
        let name = reachable.name.clone();
        let links = Links::new(ControlRegion::new()?)?;
        links.control.copy_target.open()?;
        let peer_segment = memory::arc(PeerSegment::create(&links.control, None)?)?;
        let context = memory::arc(ProcessContext {
            name: name.clone(),
            reachable: Mutex::new(Some(reachable.clone())),
            links,
            commands: Mutex::default(),
            points: Mutex::default(),
            ports: AtomicU64::new(1),
            own: OnceCell::new(),
            thread: Mutex::default(),
            adapters: AtomicUsize::new(0),
            census: Census::default(),
            stopped: AtomicBool::new(false),
            vm: vm::is_wanted(),
            traceable: AtomicBool::new(false),
        })?;
        let own = Link::new(Arc::downgrade(&context), peer_segment, name, None)?;
        context.links.add(&own);
        let _ = context.own.set(own);
        Ok(context)
    }

    /// The link of this process with itself.
    pub fn own(&self) -> Option<&Arc<Link>> {
        self.own.get()
    }

    /// The word by which the process `pid` finds out whether it can read the memory of this one. Yama is asked to allow
    /// that with the first process for which it counts, and not where such copies are not wanted.
    pub fn probe(&self, pid: i32) -> Probe {
        let probe = self.links.control.probe(pid);
        if self.vm && probe.addr != 0 && !self.traceable.swap(true, Ordering::Relaxed) {
            vm::allow_tracing();
        }
        probe
    }

    /// True if this process can copy to and from the memory of the peer of `peer_segment`.
    pub fn can_copy(&self, peer_segment: &PeerSegment) -> bool {
        self.vm && peer_segment.copy_target() != 0
    }

    /// A port qualifier for an end of a connection.
    pub fn next_port(&self) -> u64 {
        // Above the qualifiers of 16 bits that programs take for service points.
        0x1_0000 + self.ports.fetch_add(1, Ordering::Relaxed)
    }

    // ---- The thread ----

    /// Makes room for tasks that calls of the program give the thread.
    pub fn room_for_command(&self) -> std::result::Result<(), NoMemory> {
        self.commands.lock().room(TASKS)
    }

    /// Asks the thread to do something, unless that has to end.
    pub fn command(&self, command: Command) {
        let mut commands = self.commands.lock();
        if self.is_stopped() {
            // Nobody would take it off, and its connection keeps the node.
            drop(commands);
            drop(command);
            return;
        }
        commands.push_back(command);
        drop(commands);
        self.links.control.wakeup_fd.wake();
    }

    /// The next task for the thread.
    pub fn next_command(&self) -> Option<Command> {
        self.commands.lock().pop_front()
    }

    /// True if the thread is to end.
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    /// Has the thread end.
    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.links.control.wakeup_fd.wake();
    }

    /// Waits for the end of the thread, then closes the door and waits for the end of the socket: its file is gone on
    /// return, unless a claim that another thread is giving back keeps it for a moment longer.
    pub fn join(&self) {
        let thread = self.thread.lock().take();
        // The last adapter may go on the thread itself, in a report to the program.
        if let Some(thread) = thread {
            thread.join();
        }
        // Tasks that are left hold connections, and these the node. No task is added from now on.
        let left = std::mem::take(&mut *self.commands.lock());
        drop(left);
        self.links.control.copy_target.close();
        drop(self.reachable.lock().take());
    }

    // ---- Service points ----

    /// Starts to listen; gives the listener and its qualifier.
    ///
    /// # Errors
    /// [`Error::QualifierInUse`], [`Error::QualifierUnavailable`] if none is free,
    /// [`Error::InsufficientResources`].
    pub fn listen(self: &Arc<Self>, qualifier: Option<u64>, sink: ListenerSink<Shm>) -> Result<(Listener, u64)> {
        let reachable = self.reachable.lock().clone().ok_or(Error::InsufficientResources(Resource::Device))?;
        let mut points = self.points.lock();
        // The nodes of such a tree are smaller.
        memory::probe(2048)?;
        let claim = match qualifier {
            Some(qualifier) => reachable.directory.claim(qualifier, &reachable),
            None => reachable.directory.claim_any(ANY, &reachable),
        };
        let claim = claim.map_err(|error| match (error.kind(), qualifier) {
            (io::ErrorKind::AddrInUse, Some(_)) => Error::QualifierInUse,
            (io::ErrorKind::AddrInUse, None) => Error::QualifierUnavailable,
            _ => {
                reachable.directory.lament(&error);
                Error::InsufficientResources(Resource::Device)
            }
        })?;
        let qualifier = claim.qualifier;
        // Not even if somebody has removed the claim in the directory.
        if points.contains_key(&qualifier) {
            return Err(Error::QualifierInUse);
        }
        points.insert(qualifier, sink);
        drop(points);
        Ok((Listener { context: self.clone(), claim }, qualifier))
    }

    /// The service point that listens on `qualifier` in this process.
    pub fn point(&self, qualifier: u64) -> Option<ListenerSink<Shm>> {
        self.points.lock().get(&qualifier).cloned()
    }
}

/// A service point that listens; dropped to stop.
pub struct Listener {
    context: Arc<ProcessContext>,
    /// Dropped, after the service point, to give the qualifier back.
    claim: Claim,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.context.points.lock().remove(&self.claim.qualifier);
    }
}
