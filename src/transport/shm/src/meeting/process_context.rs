//! The state of this process in one rendezvous directory: links, service points and progress thread.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use dat_census::{Census, copies};
use dat_core::addr::Address;
use dat_core::error::{Error, Resource, Result};
use dat_core::transport::ListenerSink;
use dat_software::objects::Owner;
use dat_software::regions::RegionTable;
use host::lock::Mutex;
use host::memory::{self, NoMemory, Room};
use host::thread::Thread;
use once_cell::sync::OnceCell;

use crate::Shm;
use crate::conn::{Conn, Ending};
use crate::control_region::ControlRegion;
use crate::link::{Link, Links};
use crate::os::directory::{ANY, Claim, Reachable};
use crate::os::vm;
use crate::peer_segment::PeerSegment;
use crate::thread::PendingConnect;
use crate::wire::{Message, Probe};

const TASKS: usize = 64;

pub enum Command {
    /// Connects to a service point at an address. The timeout is for the complete attempt.
    Connect(PendingConnect, Address, Option<Duration>),
    Deliver(Arc<Link>, Message),
    WantRoom(Arc<Link>),
    Abandon(Arc<Link>),
    Fail(Arc<Conn>),
    /// Reports the end of a connection once the peer's transfers have ended.
    Finish(Ending),
}

pub struct ProcessContext {
    reachable: Mutex<Option<Arc<Reachable>>>,
    pub links: Links,
    commands: Mutex<VecDeque<Command>>,
    points: Mutex<BTreeMap<u64, ListenerSink<Shm>>>,
    /// The link of this process with itself.
    pub own: OnceCell<Arc<Link>>,
    pub thread: Mutex<Option<Thread>>,
    pub adapters: AtomicUsize,
    pub census: Census<Shm>,
    stopped: AtomicBool,
    /// Set unless the environment disables copies between processes.
    pub vm: bool,
    /// Set once Yama was asked to permit copies by other processes.
    traceable: AtomicBool,
}

impl Owner for ProcessContext {
    fn regions(&self) -> &RegionTable {
        &self.links.control.regions
    }

    fn await_peers(&self) {
        self.links.await_peers();
    }
}

impl ProcessContext {
    /// Creates a context with the process's link to itself and a target thread. The caller starts the progress thread.
    pub fn new(reachable: &Arc<Reachable>) -> io::Result<Arc<Self>> {
        let links = Links::new(ControlRegion::new()?)?;
        links.control.copy_target.open()?;
        let peer_segment = memory::arc(PeerSegment::create(&links.control, None)?)?;
        let context = memory::arc(ProcessContext {
            reachable: Mutex::new(Some(reachable.clone())),
            links,
            commands: Mutex::default(),
            points: Mutex::default(),
            own: OnceCell::new(),
            thread: Mutex::default(),
            adapters: AtomicUsize::new(0),
            census: Census::default(),
            stopped: AtomicBool::new(false),
            vm: copies::is_wanted(),
            traceable: AtomicBool::new(false),
        })?;
        let own = Link::new(Arc::downgrade(&context), peer_segment, reachable.name.clone(), None)?;
        context.links.add(&own);
        let _ = context.own.set(own);
        Ok(context)
    }

    /// Returns the probe for process `pid`. The first valid probe also asks Yama to permit copies.
    pub fn probe(&self, pid: i32) -> Probe {
        if !self.vm {
            return Probe::UNWANTED;
        }
        let probe = self.links.control.probe(pid);
        if probe.addr != 0 && !self.traceable.swap(true, Ordering::Relaxed) {
            vm::allow_tracing();
        }
        probe
    }

    pub fn room_for_command(&self) -> std::result::Result<(), NoMemory> {
        self.commands.lock().room(TASKS)
    }

    pub fn command(&self, command: Command) {
        let mut commands = self.commands.lock();
        if self.is_stopped() {
            // No thread executes commands any longer, and a queued command would keep its connection and this context
            // alive.
            drop(commands);
            drop(command);
            return;
        }
        commands.push_back(command);
        drop(commands);
        self.links.control.wakeup_fd.wake();
    }

    pub fn next_command(&self) -> Option<Command> {
        self.commands.lock().pop_front()
    }

    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }

    pub fn stop(&self) {
        self.stopped.store(true, Ordering::Release);
        self.links.control.wakeup_fd.wake();
    }

    /// Waits for the end of the progress thread, ends the target thread, and closes the listening socket. While another
    /// thread releases a claim, the socket and its file may briefly remain.
    pub fn join(&self) {
        let thread = self.thread.lock().take();
        // The progress thread may itself close the last adapter; `join` then only detaches it.
        if let Some(thread) = thread {
            thread.join();
        }
        let left = std::mem::take(&mut *self.commands.lock());
        drop(left);
        self.links.control.copy_target.close();
        drop(self.reachable.lock().take());
    }

    /// Listens at `qualifier`, or at any free qualifier. Returns the listener and the qualifier.
    ///
    /// # Errors
    /// [`Error::of_listen`]; [`Resource::Device`] if the context has been closed; [`Resource::Memory`].
    pub fn listen(self: &Arc<Self>, qualifier: Option<u64>, sink: ListenerSink<Shm>) -> Result<(Listener, u64)> {
        let reachable = self.reachable.lock().clone().ok_or(Error::InsufficientResources(Resource::Device))?;
        let mut points = self.points.lock();
        // Fails here if memory is lacking, because the later insertion into `points`, which allocates less, cannot
        // report that.
        memory::probe(2048)?;
        let claim = match qualifier {
            Some(qualifier) => reachable.directory.claim(qualifier, &reachable),
            None => reachable.directory.claim_any(ANY, &reachable),
        };
        let claim = claim.map_err(|error| {
            if error.kind() != io::ErrorKind::AddrInUse {
                reachable.directory.log_failure(&error);
            }
            Error::of_listen(&error, qualifier)
        })?;
        let qualifier = claim.qualifier;
        // This process may have the qualifier, if the file of its earlier claim was removed manually.
        if points.contains_key(&qualifier) {
            return Err(Error::QualifierInUse);
        }
        points.insert(qualifier, sink);
        drop(points);
        Ok((Listener { context: self.clone(), claim }, qualifier))
    }

    pub fn point(&self, qualifier: u64) -> Option<ListenerSink<Shm>> {
        self.points.lock().get(&qualifier).cloned()
    }
}

/// A listening service point; dropping it stops listening.
pub struct Listener {
    context: Arc<ProcessContext>,
    claim: Claim,
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.context.points.lock().remove(&self.claim.qualifier);
    }
}

#[cfg(all(test, not(loom)))]
mod tests;
