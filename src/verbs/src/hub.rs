//! What an open adapter, its objects and its thread share.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock, Weak};

use dat_core::error::{Error, Resource, Result};
use dat_core::transport::{AdapterAttributes, AdapterSink, ConnectionReport};
use host::doorbell::Doorbell;
use host::environment;
use host::fork::NotInherited;
use host::timers::Timers;
use parking_lot::{Mutex, RwLock};

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

/// What the thread has to do besides what descriptors tell.
#[derive(Default)]
pub struct Work {
    /// Queue pairs in the error state whose work is coming back.
    pub draining: Vec<Arc<Qp>>,
    /// Queue pairs whose connection ends with the last request.
    pub awaited: Vec<Arc<Qp>>,
    /// Attempts at connections that end at a time.
    pub timers: Timers<Arc<Qp>>,
    /// Ends of attempts to be reported.
    pub reports: Vec<(Arc<Qp>, ConnectionReport)>,
    /// Identifiers, by token, whose farewell may be under way until a time.
    pub leaving: Timers<(u64, Arc<CmId>)>,
    /// Look for completions now.
    pub look: bool,
}

/// What an open adapter, its objects and its thread share.
pub struct Hub {
    /// The queue pairs by number. Before the device, so that they go first.
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
    /// Tests have shared receive queues made as if the device could not resize them.
    pub(crate) force_backlog: bool,
    /// Threads that sleep in a wait, and agents: they have to be told, for they do not call in.
    pub(crate) sleepers: AtomicUsize,
    pub(crate) stop: AtomicBool,
    /// The device tells nothing any more.
    pub(crate) lost: AtomicBool,
    /// Before the bell, as it has to be.
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
            let bell = Doorbell::new()?;
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
                _note: NotInherited::new(&bell),
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

    /// Gives the thread something to do.
    pub fn command(&self, f: impl FnOnce(&mut Work)) {
        f(&mut self.work.lock());
        self.bell.ring();
    }

    /// All completion queues that are alive.
    pub fn all_cqs(&self) -> Vec<Arc<CompletionQueue>> {
        self.cqs.lock().iter().filter_map(Weak::upgrade).collect()
    }

    /// Adds a completion queue to those that are settled. Places are used again and never move, so
    /// that whoever goes through the list misses none.
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
            // Without a lock while reporting, and without a copy of the list.
            let Some(cq) = self.cqs.lock().get(at).cloned() else { return };
            if let Some(cq) = cq.upgrade() {
                cq.settle(self);
            }
            at += 1;
        }
    }

    /// Whether a shared receive queue has buffers that its device has no room for: somebody must make it
    /// consume, though nobody may be calling.
    pub fn is_starving(&self) -> bool {
        let srqs: Vec<_> = self.srqs.lock().values().filter_map(Weak::upgrade).collect();
        srqs.iter().any(|srq| srq.is_starving())
    }

    /// The shared receive queue that the device knows under this address.
    pub fn srq(&self, address: usize) -> Option<Arc<SharedQueue>> {
        self.srqs.lock().get(&address)?.upgrade()
    }
}
