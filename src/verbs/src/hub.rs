//! The state that an open adapter, its objects and its thread share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{AdapterAttributes, AdapterSink, ConnectionReport};
use host::doorbell::Doorbell;
use host::environment;
use host::fork::{NotInherited, undivided};
use host::lock::{Mutex, RwLock};
use host::timers::Timers;

use crate::adapter::Verbs;
use crate::attributes::{self, Limits};
use crate::cm::Party;
use crate::cq::{Channels, CompletionQueue};
use crate::locate::{Place, locate};
use crate::memory::Regions;
use crate::qp::Qp;
use crate::srq::SharedQueue;
use crate::sys::cm::{CmId, EventChannel};
use crate::sys::device::Context;

/// The tasks of the thread other than those that descriptors report.
#[derive(Default)]
pub struct Work {
    /// Queue pairs in the error state whose work is coming back.
    pub draining: Vec<Arc<Qp>>,
    /// Queue pairs whose connection ends after the last request.
    pub awaited: Vec<Arc<Qp>>,
    /// Queue pairs whose backlog the device refused.
    pub refused: Vec<Arc<Qp>>,
    /// Attempts at connections, with the times when they end.
    pub timers: Timers<Arc<Qp>>,
    /// Ends of attempts to be reported.
    pub reports: Vec<(Arc<Qp>, ConnectionReport)>,
    /// Identifiers, by token, whose farewell may be under way, with the time when they can go.
    pub leaving: Timers<(u64, Arc<CmId>)>,
    /// Whether to look for completions now.
    pub look: bool,
}

/// The state that an open adapter, its objects and its thread share.
pub struct Hub {
    /// The queue pairs by number. The field comes before the device, so that they are dropped first.
    pub(crate) table: RwLock<HashMap<u32, Arc<Qp>>>,
    pub(crate) parties: Mutex<HashMap<u64, Party>>,
    pub(crate) work: Mutex<Work>,
    pub(crate) cqs: Mutex<Vec<Weak<CompletionQueue>>>,
    pub(crate) channels: Channels,
    pub(crate) srqs: Mutex<HashMap<usize, Weak<SharedQueue>>>,
    pub(crate) regions: Regions,
    pub(crate) place: Place,
    pub(crate) attributes: AdapterAttributes,
    pub(crate) adapter: OnceLock<AdapterSink<Verbs>>,
    pub(crate) limits: Limits,
    /// Whether tests want shared receive queues made as if the device could not resize them.
    pub(crate) force_backlog: bool,
    /// The number of sleeping waits and of agents, which must be told of events because they do not call in.
    pub(crate) sleepers: AtomicUsize,
    pub(crate) stop: AtomicBool,
    /// Whether the device reports nothing any more.
    pub(crate) lost: AtomicBool,
    /// The field comes before the bell, as it must.
    _note: NotInherited,
    /// Wakes the thread.
    pub(crate) bell: Doorbell,
    pub(crate) channel: Arc<EventChannel>,
    pub(crate) context: Arc<Context>,
    next_token: AtomicU64,
}

impl Hub {
    /// Opens the device that `instance` describes.
    pub fn open(name: &str, instance: &str) -> Result<Arc<Self>> {
        let none = Error::InsufficientResources(Resource::Device);
        let place = locate(name, instance).map_err(|why| {
            log::error!("{name}: {why}");
            none
        })?;
        let opened = || -> std::io::Result<Arc<Self>> {
            let context = Arc::new(Context::open(&place.device)?);
            let (attributes, limits) = attributes::read(&context, &place)?;
            let (note, bell) = undivided(|| Doorbell::new().map(|bell| (NotInherited::new(&bell), bell)))?;
            log::info!("{name}: device {} port {} address {}", place.device, place.port, place.address);
            Ok(Arc::new(Hub {
                table: RwLock::default(),
                parties: Mutex::default(),
                work: Mutex::default(),
                cqs: Mutex::default(),
                channels: Channels::default(),
                srqs: Mutex::default(),
                regions: Regions::default(),
                place: place.clone(),
                attributes,
                adapter: OnceLock::new(),
                limits,
                force_backlog: environment::secure("DAT_VERBS_SRQ_BACKLOG").is_some_and(|value| value == "1"),
                sleepers: AtomicUsize::new(0),
                stop: AtomicBool::new(false),
                lost: AtomicBool::new(false),
                _note: note,
                bell,
                channel: EventChannel::new()?,
                context,
                next_token: AtomicU64::new(1),
            }))
        };
        opened().map_err(|error| {
            log::error!("{name}: cannot open {} port {}: {error}", place.device, place.port);
            none
        })
    }

    /// A token for an identifier; none is used twice.
    pub fn token(&self) -> u64 {
        self.next_token.fetch_add(1, Ordering::Relaxed)
    }

    /// The queue pair with this number.
    pub fn qp(&self, number: u32) -> Option<Arc<Qp>> {
        self.table.read().get(&number).cloned()
    }

    /// All queue pairs.
    pub fn qps(&self) -> Vec<Arc<Qp>> {
        self.table.read().values().cloned().collect()
    }

    /// Gives the thread a task.
    pub fn command(&self, f: impl FnOnce(&mut Work)) {
        f(&mut self.work.lock());
        self.bell.ring();
    }

    /// All completion queues that are alive.
    pub fn all_cqs(&self) -> Vec<Arc<CompletionQueue>> {
        self.cqs.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Adds a completion queue to those that are settled. Places are reused and never move, so that a thread that goes
    /// through the list misses none.
    pub fn add_cq(&self, cq: &Arc<CompletionQueue>) {
        let mut cqs = self.cqs.lock();
        match cqs.iter_mut().find(|cq| cq.strong_count() == 0) {
            Some(place) => *place = Arc::downgrade(cq),
            None => cqs.push(Arc::downgrade(cq)),
        }
    }

    /// Reports all that has completed so far.
    pub fn settle(&self) {
        let mut at = 0;
        loop {
            // No lock is held while reporting, and the list is not copied.
            let Some(cq) = self.cqs.lock().get(at).cloned() else { return };
            if let Some(cq) = cq.upgrade() {
                cq.settle(self);
            }
            at += 1;
        }
    }

    /// The shared receive queues that have buffers for which the device has no room: the thread must then make the
    /// device consume, because no other thread may be calling.
    pub fn starving(&self) -> Vec<Arc<SharedQueue>> {
        let mut srqs: Vec<_> = self.srqs.lock().values().filter_map(Weak::upgrade).collect();
        srqs.retain(|srq| srq.is_starving());
        srqs
    }

    /// The queue pairs that take buffers from the shared receive queue whose address in the device's events is this
    /// one.
    pub fn takers(&self, address: usize) -> Vec<Arc<Qp>> {
        let takes = |qp: &Arc<Qp>| qp.srq.as_ref().is_some_and(|srq| srq.raw.address() == address);
        self.qps().into_iter().filter(takes).collect()
    }

    /// The shared receive queue whose address in the device's events is this one.
    pub fn srq(&self, address: usize) -> Option<Arc<SharedQueue>> {
        self.srqs.lock().get(&address)?.upgrade()
    }
}
