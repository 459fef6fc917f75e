//! The state shared by an open adapter, its objects and its progress thread. Posts, and polls of one completion queue,
//! do not lock its lists of objects.
//!
//! # Polling
//! An adapter may have thousands of completion queues, because programs create several EVDs for each endpoint. So an
//! event leads to polls of only the queues concerned. These are the two queues of an ending queue pair, or all queues
//! of an SRQ that reached its limit. Periodic rounds ([`Device::drain_unread`]) skip queues that a thread has polled
//! since the last round. They never run concurrently, and take at most about a tenth of a thread's time. Only a query
//! for all completions (`Poll::Complete`) and the arming of an SRQ's limit poll every queue.
//!
//! # Device removal
//! [`Device::lose`] handles the device's fatal event, and its removal, which rdma_cm reports to each identifier bound
//! to the device. An otherwise unused identifier ([`Sentinel`]) receives this report even without connections. In both
//! cases the program gets one event, all queue pairs end, and new objects are refused.
//!
//! If the driver cannot revoke open files (Soft-RoCE of Linux 6.1 and 6.12), the removal waits until all descriptors of
//! the device are closed. So closing the adapter then also closes the files that librdmacm opened (`Retained` in
//! `sys/cm.rs`). Only an open or opening adapter binds identifiers to a device, because librdmacm then keeps files of
//! the device open. Other code reads from /sys which device has an address.

use std::collections::{HashMap, VecDeque};
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use dat_census::Beacon;
use dat_core::error::{Error, Resource, Result};
use dat_core::transport::datagrams::Exchange;
use dat_core::transport::{AdapterAttributes, AdapterSink, ConnectionReport};
use host::cancel::uncancelled;
use host::environment;
use host::event_fd::EventFd;
use host::fork::CloseOnFork;
use host::lock::{Mutex, RwLock};
use host::memory::{self, Room};
use host::timers::Timers;
use host::topic::Topic;
use rdma_sys::ibv_qp_state;
use rdma_sys::rdma_port_space::RDMA_PS_UDP;

use crate::Verbs;
use crate::attributes::{self, Limits};
use crate::channels::{self, Channels};
use crate::cm::CmOwner;
use crate::cq::CompletionQueue;
use crate::datagram::answers::Answers;
use crate::datagram::cm::Attempt;
use crate::datagram::{UdPeer, UdQp};
use crate::locate::{Place, RESOLVER, locate};
use crate::qp::{Qp, QpPhase};
use crate::srq::SharedQueue;
use crate::status::exhausted;
use crate::sys::check_room;
use crate::sys::cm::{CmId, EventChannel, Retained};
use crate::sys::cq::UnusedCq;
use crate::sys::device::Context;
use crate::sys::freeing::Freeing;

/// Tasks of the progress thread that no descriptor reports.
#[derive(Default)]
pub struct Work {
    /// Queue pairs in the error state with outstanding work.
    pub draining: VecDeque<Arc<Qp>>,
    /// Queue pairs whose peer has disconnected or violated its access rights. Their end begins once no rejection of a
    /// request can follow ([`Qp::awaits_rejection`]).
    pub rejecting: VecDeque<Arc<Qp>>,
    /// Queue pairs that disconnect after their last request.
    pub awaited: VecDeque<Arc<Qp>>,
    /// Queue pairs whose backlog the device has rejected.
    pub refused: VecDeque<Arc<Qp>>,
    /// Queue pairs with fenced requests, which Soft-RoCE may forget (Linux 6.1).
    pub fenced: VecDeque<Weak<Qp>>,
    /// Timeouts of connection attempts. An attempt may have ended before its timeout.
    pub timers: Timers<Weak<Qp>>,
    /// Accepted UD exchanges to report, with the peer; `None` if the reply could not be sent.
    pub answered: VecDeque<(Exchange<Verbs>, Option<Arc<UdPeer>>)>,
    /// UD exchanges to report as unreachable.
    pub unreachable: VecDeque<Arc<Attempt>>,
    /// Failed UD queue pairs.
    pub failed: VecDeque<Arc<UdQp>>,
    /// Failed connection attempts to report.
    pub reports: VecDeque<(Arc<Qp>, ConnectionReport)>,
    /// Identifiers of ended connections, by time of destruction. Until then the kernel may repeat disconnect messages.
    pub leaving: Timers<Arc<CmId>>,
    /// Set to request one poll of all completion queues.
    pub drain: bool,
}

pub struct Device {
    /// Queue pairs of connections by number. Dropped before `context`.
    pub(crate) table: RwLock<HashMap<u32, Arc<Qp>>>,
    pub(crate) datagrams: Mutex<Vec<Weak<UdQp>>>,
    pub(crate) answers: Answers,
    pub(crate) cm_owners: Mutex<HashMap<u64, CmOwner>>,
    pub(crate) work: Mutex<Work>,
    pub(crate) cqs: Mutex<Vec<Weak<CompletionQueue>>>,
    pub(crate) channels: Channels,
    pub(crate) srqs: Mutex<Vec<Weak<SharedQueue>>>,
    pub(crate) place: Place,
    pub(crate) attributes: AdapterAttributes,
    /// Sink for the report that the device is lost. `None` before core sets the sink, and after the report.
    pub(crate) adapter: Mutex<Option<AdapterSink<Verbs>>>,
    pub(crate) limits: Limits,
    /// Set by tests (`DAT_VERBS_SRQ_BACKLOG`): SRQs count as not resizable.
    pub(crate) force_backlog: bool,
    /// Number of armed waits, and of agents and descriptors that need reports (`Transport::watch`).
    pub(crate) sleepers: AtomicUsize,
    pub(crate) stop: AtomicBool,
    /// Closes `wakeup_fd` in a forked child. Must be dropped before `wakeup_fd`.
    _note: CloseOnFork,
    pub(crate) wakeup_fd: EventFd,
    pub(crate) beacon: Beacon<Verbs>,
    sentinel: Sentinel,
    pub(crate) channel: Arc<EventChannel>,
    _unused_cq: Option<UnusedCq>,
    pub(crate) context: Arc<Context>,
    /// Threads that destroy objects, because the progress thread must not block.
    pub(crate) freeing: Arc<Freeing>,
    next_token: AtomicU64,
    /// Earliest time of the next [`Device::drain_unread`]; `None` before the first. Locked while one runs.
    next_round: Mutex<Option<Instant>>,
}

/// An identifier bound to the device, which receives the report of the device's removal.
struct Sentinel {
    id: Option<CmId>,
    /// librdmacm's descriptors to close after a removal.
    retained: Option<Retained>,
    gone: AtomicBool,
}

impl Sentinel {
    fn new(name: &str, channel: &Arc<EventChannel>, place: &Place) -> Self {
        // The identifier occupies no port that a connection could need, because connections use a different port space.
        // No other identifier has the token 0.
        let id = CmId::bound(RDMA_PS_UDP, channel, 0, SocketAddr::new(place.address, 0))
            .inspect_err(|error| log::warn!("adapter {name}: cannot watch for the removal of its device: {error}"))
            .ok();
        let retained = id.as_ref().and_then(Retained::behind);
        Sentinel { id, retained, gone: AtomicBool::new(false) }
    }
}

impl Drop for Sentinel {
    fn drop(&mut self) {
        // The adapter's other identifiers were dropped before, and its context is still open, as `release` requires.
        drop(self.id.take());
        if self.gone.load(Ordering::Acquire) {
            if let Some(retained) = self.retained {
                uncancelled(|| retained.release());
            }
        }
    }
}

/// Maximum pause after a periodic round through all completion queues.
const MAX_DRAIN_INTERVAL: Duration = Duration::from_secs(1);

impl Device {
    pub fn open(name: &str, instance: &str) -> Result<Arc<Self>> {
        let none = Error::InsufficientResources(Resource::Device);
        check_room().map_err(exhausted(Resource::Memory))?;
        let place = locate(name, instance).map_err(|why| {
            // A search also fails for lack of memory, which is a different error.
            memory::probe(RESOLVER).map_or(Error::NO_MEMORY, |()| {
                why.log(name);
                none
            })
        })?;
        let opened = || -> std::io::Result<Arc<Self>> {
            let freeing = Freeing::new()?;
            let context = memory::arc(Context::open(&place.name, &freeing)?)?;
            let (attributes, limits) = attributes::read(&context, &place)?;
            let unused_cq =
                limits.quirks.rejects_one_offset.then(|| UnusedCq::over_invalid_key(&context)).transpose()?;
            let (note, wakeup_fd) = CloseOnFork::create(EventFd::new)?;
            let channel = EventChannel::new(&freeing)?;
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
                freeing,
                next_token: AtomicU64::new(1),
                next_round: Mutex::default(),
                // Last, so that it takes no descriptor from the others: an adapter works without this socket.
                beacon: Beacon::open(),
            })?)
        };
        opened().map_err(|error| {
            let denied = error.kind() == std::io::ErrorKind::PermissionDenied;
            let topic = if denied { Topic::DeviceFiles } else { Topic::DoesNotOpen };
            topic.error(&error, format!("cannot open {} port {}: {error}", place.name, place.port)).log(name);
            none
        })
    }

    /// Ends all connections after the device's failure or removal, and reports the loss to the program, once.
    pub fn lose(&self) {
        if !self.sentinel.gone.swap(true, Ordering::AcqRel) {
            log::error!("device {}: has failed: all its connections end", self.place.name);
        }
        self.report_loss();
        for qp in self.qps() {
            if qp.phase() == QpPhase::Connecting {
                qp.give_up(ConnectionReport::Unreachable);
            }
            qp.begin_end(ConnectionReport::Broken);
        }
        channels::each(&self.datagrams).for_each(|qp| qp.lose());
        // Destroys ended connections' identifiers now: the kernel can no longer repeat their disconnect messages.
        self.work.lock().leaving.move_to(Instant::now(), |_| true);
    }

    /// Removes the owner of `id` from the table of owners, and drops the owner after unlocking the table.
    pub(crate) fn forget_owner(&self, id: &CmId) {
        let owner = self.cm_owners.lock().remove(&id.token());
        drop(owner);
    }

    pub fn is_gone(&self) -> bool {
        self.sentinel.gone.load(Ordering::Acquire)
    }

    /// Reports to the program, once, that the device is lost. Has no effect before the loss, or before core sets the
    /// sink.
    pub fn report_loss(&self) {
        let sink = self.adapter.lock().take_if(|_| self.is_gone());
        if let Some(sink) = sink {
            sink.catastrophe();
        }
    }

    /// Fails if the device has failed or was removed.
    pub fn check_device(&self) -> Result<()> {
        if self.is_gone() { Err(Error::InsufficientResources(Resource::Device)) } else { Ok(()) }
    }

    /// Returns the index of the interface's partition key; 0 if it is unknown.
    pub fn pkey_index(&self) -> u16 {
        let attributes = self.sentinel.id.as_ref().and_then(|id| id.qp_attributes(ibv_qp_state::IBV_QPS_INIT).ok());
        attributes.map_or(0, |(attr, _)| attr.pkey_index)
    }

    /// Returns a unique token for an identifier, never 0.
    pub fn token(&self) -> u64 {
        self.next_token.fetch_add(1, Ordering::Relaxed)
    }

    pub fn qp(&self, number: u32) -> Option<Arc<Qp>> {
        self.table.read().get(&number).cloned()
    }

    pub fn add_qp(&self, qp: &Arc<Qp>) -> Result<()> {
        let mut table = self.table.write();
        table.room(1)?;
        table.insert(qp.number(), qp.clone());
        Ok(())
    }

    pub fn qps(&self) -> Vec<Arc<Qp>> {
        self.table.read().values().cloned().collect()
    }

    /// Adds tasks for the progress thread and wakes it, unless it is stopping.
    pub fn command(&self, f: impl FnOnce(&mut Work)) {
        {
            let mut work = self.work.lock();
            if self.stop.load(Ordering::Acquire) {
                // A task that remains in the list would keep its queue pair, and so this device, alive.
                return;
            }
            f(&mut work);
        }
        self.wakeup_fd.wake();
    }

    pub fn drain(&self) {
        for cq in channels::each(&self.cqs) {
            cq.drain();
        }
    }

    /// Polls the completion queues that were not read since the last round, unless another thread does so or the next
    /// round is not due.
    pub fn drain_unread(&self) {
        let Some(mut next) = self.next_round.try_lock() else { return };
        let begin = Instant::now();
        if next.is_some_and(|next| begin < next) {
            return;
        }
        for cq in channels::each(&self.cqs) {
            cq.drain_if_unread();
        }
        let end = Instant::now();
        *next = Some(end + ((end - begin) * 9).min(MAX_DRAIN_INTERVAL));
    }

    pub fn drain_queues_of<'a>(&self, qps: impl IntoIterator<Item = &'a Arc<Qp>>) {
        let mut cqs: Vec<_> = qps.into_iter().flat_map(|qp| &qp.entries).map(|entries| &entries.cq).collect();
        cqs.sort_by_key(|cq| Arc::as_ptr(cq));
        cqs.dedup_by(|one, other| Arc::ptr_eq(one, other));
        cqs.into_iter().for_each(|cq| cq.drain());
    }

    /// Polls the completion queues of all queue pairs, also for datagrams, on the SRQ with this address.
    pub fn drain_takers(&self, address: usize) {
        self.drain_queues_of(&self.takers(address));
        self.datagram_takers(address).for_each(|qp| qp.drain());
    }

    /// Returns the queue pairs of connections on the SRQ with this address.
    pub fn takers(&self, address: usize) -> Vec<Arc<Qp>> {
        let takes = |qp: &Arc<Qp>| qp.srq.as_ref().is_some_and(|srq| srq.queue.raw.address() == address);
        self.qps().into_iter().filter(takes).collect()
    }

    /// Iterates over the UD queue pairs on the SRQ with this address.
    pub fn datagram_takers(&self, address: usize) -> impl Iterator<Item = Arc<UdQp>> + '_ {
        channels::each(&self.datagrams).filter(move |qp| qp.srq.queue.raw.address() == address)
    }

    pub fn srq(&self, address: usize) -> Option<Arc<SharedQueue>> {
        channels::each(&self.srqs).find(|srq| srq.raw.address() == address)
    }
}
