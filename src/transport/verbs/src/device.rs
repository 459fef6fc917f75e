//! The state that an open adapter, its objects and its thread share.
//!
//! It has the device, the event channel, and the tables of queue pairs, of rdma_cm identifiers by token, of completion
//! queues and of shared receive queues; posting and fetching touch none of it.
//!
//! An adapter may have thousands of completion queues, since programs make several dispatchers for each endpoint. No
//! event of one connection leads to a round through all of them: for a queue pair that ends the thread fetches from its
//! two queues, for the limit of a shared receive queue from those of its queue pairs. Rounds that nothing demands
//! ([`Device::drain_unread`]) are made by one thread at a time, take a tenth of the time at most, and leave out queues
//! that were read since the last one. A query that must know all that has completed (`Poll::Complete`) goes through all.
//!
//! # A device that goes away
//! [`Device::lose`] is called for the device's fatal event and for its removal, which rdma_cm reports to each
//! identifier that is bound to it; [`Device`] keeps one that does nothing else (`Sentinel`), so that an adapter without
//! connections gets the report too. The program gets one event, all queue pairs end, and nothing new is made. On a
//! device without disassociation, such as Soft-RoCE, the system goes on serving the process, and the removal waits
//! until all descriptors of the device are closed. So closing the adapter also closes the files of the context that
//! librdmacm opened (`Retained` in `sys/cm.rs`), and no identifier is bound to a device that no adapter is open on:
//! whose an address is, is read from /sys.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use dat_core::error::{Error, Resource, Result};
use dat_core::transport::datagrams::Exchange;
use dat_core::transport::{AdapterAttributes, AdapterSink, ConnectionReport};
use host::cancel::uncancelled;
use host::environment;
use host::event_fd::EventFd;
use host::fork::{CloseOnFork, with_fork_lock};
use host::lock::{Mutex, RwLock};
use host::memory::{self, Room};
use host::timers::Timers;
use host::topic::Topic;
use rdma_sys::rdma_port_space::RDMA_PS_UDP;

use crate::adapter::Verbs;
use crate::attributes::{self, Limits};
use crate::channels::{self, Channels};
use crate::cm::CmOwner;
use crate::cq::CompletionQueue;
use crate::datagram::answers::Answers;
use crate::datagram::cm::Attempt;
use crate::datagram::{UdPeer, UdQp};
use crate::locate::{Place, RESOLVER, locate};
use crate::memory::Regions;
use crate::qp::{Qp, QpPhase};
use crate::srq::SharedQueue;
use crate::status::exhausted;
use crate::sys::check_room;
use crate::sys::cm::{CmId, EventChannel, Retained};
use crate::sys::cq::UnusedCq;
use crate::sys::device::Context;

/// The tasks of the thread other than those that descriptors report.
#[derive(Default)]
pub struct Work {
    /// Queue pairs in the error state whose work is coming back.
    pub draining: VecDeque<Arc<Qp>>,
    /// Queue pairs whose connection ends after the last request.
    pub awaited: VecDeque<Arc<Qp>>,
    /// Queue pairs whose backlog the device refused.
    pub refused: VecDeque<Arc<Qp>>,
    /// Queue pairs with requests that wait for those before them, on a device that may forget them.
    pub fenced: VecDeque<Weak<Qp>>,
    /// Attempts at connections, each due when its time is up. It may have ended by then.
    pub timers: Timers<Weak<Qp>>,
    /// Exchanges that were accepted, which is to be reported; without the peer if the answer could not be sent.
    pub answered: VecDeque<(Exchange<Verbs>, Option<Arc<UdPeer>>)>,
    /// Attempts at exchanges for which there is no way, which is to be reported.
    pub unreachable: VecDeque<Arc<Attempt>>,
    /// Queue pairs for datagrams that have failed.
    pub failed: VecDeque<Arc<UdQp>>,
    /// Ends of attempts to be reported.
    pub reports: VecDeque<(Arc<Qp>, ConnectionReport)>,
    /// Identifiers whose disconnect message may be under way, with the time when they can be destroyed.
    pub leaving: Timers<Arc<CmId>>,
    /// Whether to fetch from all completion queues now.
    pub drain: bool,
}

/// The state that an open adapter, its objects and its thread share.
pub struct Device {
    /// The queue pairs by number. The field comes before the device, so that they are dropped first.
    pub(crate) table: RwLock<HashMap<u32, Arc<Qp>>>,
    /// The queue pairs for datagrams.
    pub(crate) datagrams: Mutex<Vec<Weak<UdQp>>>,
    /// Answers to requests for datagrams.
    pub(crate) answers: Answers,
    pub(crate) cm_owners: Mutex<HashMap<u64, CmOwner>>,
    pub(crate) work: Mutex<Work>,
    pub(crate) cqs: Mutex<Vec<Weak<CompletionQueue>>>,
    pub(crate) channels: Channels,
    pub(crate) srqs: Mutex<Vec<Weak<SharedQueue>>>,
    pub(crate) regions: Regions,
    pub(crate) place: Place,
    pub(crate) attributes: AdapterAttributes,
    /// The sink for the loss of the device, until that is reported.
    pub(crate) adapter: Mutex<Option<AdapterSink<Verbs>>>,
    pub(crate) limits: Limits,
    /// Whether tests want shared receive queues made as if the device could not resize them.
    pub(crate) force_backlog: bool,
    /// The number of sleeping waits and of agents: for these the thread fetches, since they do not call in.
    pub(crate) sleepers: AtomicUsize,
    pub(crate) stop: AtomicBool,
    /// The field comes before the bell, as it must.
    _note: CloseOnFork,
    pub(crate) wakeup_fd: EventFd,
    /// Reports the removal of the device even while there is no connection.
    sentinel: Sentinel,
    pub(crate) channel: Arc<EventChannel>,
    _unused_cq: Option<UnusedCq>,
    pub(crate) context: Arc<Context>,
    next_token: AtomicU64,
    /// When all completion queues may be gone through again without a demand.
    next_settle: Mutex<Option<Instant>>,
}

/// The identifier that reports the removal of the device.
struct Sentinel {
    id: Option<CmId>,
    /// The context that has to be closed then.
    retained: Option<Retained>,
    gone: AtomicBool,
}

impl Sentinel {
    fn new(name: &str, channel: &Arc<EventChannel>, place: &Place) -> Self {
        // No connection uses a port of this space, nor any event the token 0.
        let id = CmId::bound(RDMA_PS_UDP, channel, 0, SocketAddr::new(place.address, 0))
            .inspect_err(|error| log::warn!("{name}: nothing tells of the removal of the device: {error}"))
            .ok();
        let retained = id.as_ref().and_then(Retained::behind);
        Sentinel { id, retained, gone: AtomicBool::new(false) }
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        // The fields before it, with all other identifiers, are dropped; the context is still open.
        drop(self.id.take());
        if self.gone.load(Ordering::Acquire) {
            if let Some(retained) = self.retained {
                uncancelled(|| retained.release());
            }
        }
    }
}

/// The longest time between two rounds through all completion queues, however long one takes.
const LONGEST_REST: Duration = Duration::from_secs(1);

impl Device {
    /// Opens the device that `instance` describes.
    pub fn open(name: &str, instance: &str) -> Result<Arc<Self>> {
        let none = Error::InsufficientResources(Resource::Device);
        check_room().map_err(exhausted(Resource::Memory))?;
        let place = locate(name, instance).map_err(|why| {
            // What lacks memory finds nothing.
            memory::probe(RESOLVER).map_or(Error::InsufficientResources(Resource::Memory), |()| {
                why.log(name);
                none
            })
        })?;
        let opened = || -> std::io::Result<Arc<Self>> {
            let context = memory::arc(Context::open(&place.name)?)?;
            let (attributes, limits) = attributes::read(&context, &place)?;
            let unused_cq = limits.soft_iwarp.then(|| UnusedCq::over_invalid_key(&context)).transpose()?;
            let (note, wakeup_fd) =
                with_fork_lock(|| EventFd::new().map(|wakeup_fd| (CloseOnFork::new(&wakeup_fd), wakeup_fd)))?;
            let channel = EventChannel::new()?;
            log::info!("{name}: device {} port {} address {}", place.name, place.port, place.address);
            Ok(memory::arc(Device {
                table: RwLock::default(),
                datagrams: Mutex::default(),
                answers: Answers::default(),
                cm_owners: Mutex::default(),
                work: Mutex::default(),
                cqs: Mutex::default(),
                channels: Channels::default(),
                srqs: Mutex::default(),
                regions: Regions::default(),
                place: place.clone(),
                attributes,
                adapter: Mutex::default(),
                limits,
                force_backlog: environment::secure("DAT_VERBS_SRQ_BACKLOG").is_some_and(|value| value == "1"),
                sleepers: AtomicUsize::new(0),
                stop: AtomicBool::new(false),
                _note: note,
                wakeup_fd,
                sentinel: Sentinel::new(name, &channel, &place),
                channel,
                _unused_cq: unused_cq,
                context,
                next_token: AtomicU64::new(1),
                next_settle: Mutex::default(),
            })?)
        };
        opened().map_err(|error| {
            let denied = error.kind() == std::io::ErrorKind::PermissionDenied;
            let topic = if denied { Topic::DeviceFiles } else { Topic::DoesNotOpen };
            topic.error(&error, format!("cannot open {} port {}: {error}", place.name, place.port)).log(name);
            none
        })
    }

    /// The device cannot go on, or the system waits for this process to close it: all connections end, and the program
    /// gets an event.
    pub fn lose(&self) {
        if !self.sentinel.gone.swap(true, Ordering::AcqRel) {
            log::error!("device {} cannot go on: all connections end", self.place.name);
        }
        self.report_loss();
        for qp in self.qps() {
            if qp.phase() == QpPhase::Connecting {
                qp.give_up(ConnectionReport::Unreachable);
            }
            qp.begin_end(ConnectionReport::Broken);
        }
        channels::each(&self.datagrams).for_each(|qp| qp.lose());
        // No message reaches a peer any longer.
        self.work.lock().leaving.move_to(Instant::now(), |_| true);
    }

    /// Whether the device cannot go on or was removed.
    pub fn is_gone(&self) -> bool {
        self.sentinel.gone.load(Ordering::Acquire)
    }

    /// Reports to the program, once, that the device cannot go on.
    pub fn report_loss(&self) {
        let sink = self.adapter.lock().take_if(|_| self.is_gone());
        if let Some(sink) = sink {
            sink.catastrophe();
        }
    }

    /// Refuses a call that needs the device.
    ///
    /// # Errors
    /// [`Resource::Device`] if the device cannot go on or was removed.
    pub fn check_device(&self) -> Result<()> {
        if self.is_gone() { Err(Error::InsufficientResources(Resource::Device)) } else { Ok(()) }
    }

    /// A token for an identifier; none is used twice, and none is 0.
    pub fn token(&self) -> u64 {
        self.next_token.fetch_add(1, Ordering::Relaxed)
    }

    /// The queue pair with this number.
    pub fn qp(&self, number: u32) -> Option<Arc<Qp>> {
        self.table.read().get(&number).cloned()
    }

    /// Adds a queue pair, until it leaves.
    pub fn add_qp(&self, qp: &Arc<Qp>) -> Result<()> {
        let mut table = self.table.write();
        table.room(1)?;
        table.insert(qp.number(), qp.clone());
        Ok(())
    }

    pub fn qps(&self) -> Vec<Arc<Qp>> {
        self.table.read().values().cloned().collect()
    }

    /// Gives the thread a task, unless the thread has to end.
    pub fn command(&self, f: impl FnOnce(&mut Work)) {
        {
            let mut work = self.work.lock();
            if self.stop.load(Ordering::Acquire) {
                // The task would stay on the list, and its queue pair would keep this value alive.
                return;
            }
            f(&mut work);
        }
        self.wakeup_fd.wake();
    }

    /// Reports all that has completed so far.
    pub fn drain(&self) {
        for cq in channels::each(&self.cqs) {
            cq.drain();
        }
    }

    /// Reports what has completed in queues that were not read since the last call, unless another thread does so or has
    /// just done so. An adapter may have thousands of completion queues, which shall not take more than a tenth of a
    /// thread's time.
    pub fn drain_unread(&self) {
        let Some(mut next) = self.next_settle.try_lock() else { return };
        let begin = Instant::now();
        if next.is_some_and(|next| begin < next) {
            return;
        }
        for cq in channels::each(&self.cqs) {
            cq.drain_if_unread();
        }
        let end = Instant::now();
        *next = Some(end + ((end - begin) * 9).min(LONGEST_REST));
    }

    /// Reports what has completed in the queues of these queue pairs, each queue once.
    pub fn drain_queues_of<'a>(&self, qps: impl IntoIterator<Item = &'a Arc<Qp>>) {
        let mut cqs: Vec<_> = qps.into_iter().flat_map(|qp| &qp.entries).map(|entries| &entries.cq).collect();
        cqs.sort_by_key(|cq| Arc::as_ptr(cq));
        cqs.dedup_by(|one, other| Arc::ptr_eq(one, other));
        cqs.into_iter().for_each(|cq| cq.drain());
    }

    /// The shared receive queues that have buffers for which the device has no room: the thread must then make the
    /// device consume, because no other thread may be calling.
    pub fn starving(&self) -> Vec<Arc<SharedQueue>> {
        channels::each(&self.srqs).filter(|srq| srq.is_starving()).collect()
    }

    /// Reports what has completed in the queues of those that take buffers from the shared receive queue of this address.
    pub fn drain_takers(&self, address: usize) {
        self.drain_queues_of(&self.takers(address));
        let takes = |qp: &Arc<UdQp>| qp.srq.queue.raw.address() == address;
        channels::each(&self.datagrams).filter(takes).for_each(|qp| qp.drain());
    }

    /// Ends the connections that take buffers from the shared receive queue of this address.
    pub fn end_takers(&self, address: usize) {
        for qp in self.takers(address) {
            qp.begin_end(ConnectionReport::Broken);
        }
    }

    /// The queue pairs of connections that take buffers from the shared receive queue whose address in the device's events
    /// is this one.
    fn takers(&self, address: usize) -> Vec<Arc<Qp>> {
        let takes = |qp: &Arc<Qp>| qp.srq.as_ref().is_some_and(|srq| srq.queue.raw.address() == address);
        self.qps().into_iter().filter(takes).collect()
    }

    /// The shared receive queue whose address in the device's events is this one.
    pub fn srq(&self, address: usize) -> Option<Arc<SharedQueue>> {
        channels::each(&self.srqs).find(|srq| srq.raw.address() == address)
    }
}
