//! Open interface adapters: what a program made from one, and how it all ends.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use parking_lot::Mutex;

use crate::agent::Agents;
use crate::cno::Cno;
use crate::ep::Endpoint;
use crate::error::{Error, Refusal, Resource, Result};
use crate::evd::{Evd, Streams};
use crate::event::{AsyncReason, Event};
use crate::lmr::{Lmr, LmrTable};
use crate::pz::Pz;
use crate::rmr::Rmr;
use crate::slab::{Handle, Header, Kind, Object, Slab};
use crate::sp::{Cr, Psp, Rsp, points::Points};
use crate::srq::Srq;
use crate::transport::{AdapterSink, Transport};
use crate::users::Use;

/// Which dispatcher takes the asynchronous events of an adapter.
pub enum AsyncEvd<T: Transport> {
    /// One made with the adapter, for this many events at least.
    Create(usize),
    /// One of another open instance.
    Given(Arc<Evd<T>>),
    /// One that is somewhere else on the host; events of this instance are dropped.
    Elsewhere,
}

/// An open interface adapter.
pub struct Ia<T: Transport> {
    header: Header,
    name: String,
    transport: Arc<T>,
    slab: &'static Slab<T>,
    children: Mutex<Children>,
    async_evd: Mutex<Option<AsyncUse<T>>>,
    lmrs: LmrTable,
    points: Points<T>,
    agents: Agents,
    closed: AtomicBool,
}

struct AsyncUse<T: Transport> {
    evd: Use<Evd<T>>,
    own: bool,
}

#[derive(Default)]
struct Children {
    live: HashMap<Kind, BTreeSet<Handle>>,
    closed: bool,
}

impl<T: Transport> Object for Ia<T> {
    const KIND: Kind = Kind::Ia;

    fn header(&self) -> &Header {
        &self.header
    }
}

impl<T: Transport> Ia<T> {
    /// Opens an instance (uDAPL 1.2, dat_ia_open). The handles of all its objects come
    /// from `slab`.
    ///
    /// # Errors
    /// [`crate::error::Arg::QueueLength`] for a queue length of 0,
    /// [`crate::error::Role::EvdAsync`] for a dispatcher that does not admit
    /// asynchronous events or belongs to another adapter, and what the transport says.
    pub fn open(slab: &'static Slab<T>, name: &str, instance: &str, async_evd: AsyncEvd<T>) -> Result<Arc<Self>> {
        if let AsyncEvd::Given(evd) = &async_evd {
            let fits = evd.streams().contains(Streams::ASYNC) && evd.ia().name == name;
            if !fits {
                return Err(Error::InvalidHandle(crate::error::Role::EvdAsync));
            }
        }
        let ia = Arc::new(Ia {
            header: Header::default(),
            name: name.to_owned(),
            transport: T::open(name, instance)?,
            slab,
            children: Mutex::default(),
            async_evd: Mutex::new(None),
            lmrs: LmrTable::default(),
            points: Points::default(),
            agents: Agents::default(),
            closed: AtomicBool::new(false),
        });
        ia.transport.report_to(AdapterSink { ia: Arc::downgrade(&ia) });
        let (evd, own) = match async_evd {
            AsyncEvd::Create(qlen) => (Some(Evd::create(&ia, qlen, None, Streams::ASYNC)?), true),
            AsyncEvd::Given(evd) => (Some(evd), false),
            AsyncEvd::Elsewhere => (None, false),
        };
        if let Some(evd) = evd {
            let evd = Use::of(&evd).ok_or(Error::InvalidHandle(crate::error::Role::EvdAsync))?;
            *ia.async_evd.lock() = Some(AsyncUse { evd, own });
        }
        if slab.insert(ia.clone()).is_none() {
            ia.destroy();
            return Err(Error::InsufficientResources(Resource::Memory));
        }
        Ok(ia)
    }

    /// Closes the instance only if the program has freed all it made
    /// (uDAPL 1.2, dat_ia_close with the graceful flag).
    ///
    /// # Errors
    /// [`Refusal::IaInUse`]; nothing was changed then.
    pub fn close_graceful(&self) -> Result<()> {
        {
            let own_async = self.async_evd.lock().as_ref().filter(|a| a.own).map(|a| a.evd.header().handle());
            let mut children = self.children.lock();
            let in_use = children.live.values().flatten().any(|&handle| Some(handle) != own_async);
            if in_use || children.closed {
                return Err(Error::InvalidState(Refusal::IaInUse));
            }
            children.closed = true;
        }
        self.destroy();
        Ok(())
    }

    /// Closes the instance and destroys all that was made from it
    /// (uDAPL 1.2, dat_ia_close with the abrupt flag).
    pub fn close_abrupt(&self) {
        self.children.lock().closed = true;
        self.destroy();
    }

    fn destroy(&self) {
        if self.closed.swap(true, Ordering::AcqRel) {
            return;
        }
        self.children.lock().closed = true;
        for psp in self.all::<Psp<T>>() {
            psp.free();
        }
        for rsp in self.all::<Rsp<T>>() {
            rsp.free();
        }
        for cr in self.all::<Cr<T>>() {
            cr.abandon();
        }
        let endpoints = self.all::<Endpoint<T>>();
        // All connections begin to end before the first one is waited for.
        for ep in &endpoints {
            ep.let_go();
        }
        for ep in endpoints {
            ep.free_anyway();
        }
        for srq in self.all::<Srq<T>>() {
            srq.free_anyway();
        }
        for rmr in self.all::<Rmr<T>>() {
            rmr.free();
        }
        for lmr in self.all::<Lmr<T>>() {
            lmr.free_anyway();
        }
        for pz in self.all::<Pz<T>>() {
            self.disown(&*pz);
        }
        let async_use = self.async_evd.lock().take();
        let lent = async_use.as_ref().filter(|a| a.own && a.evd.users_count() > 1).map(|a| a.evd.object().clone());
        for evd in self.all::<Evd<T>>() {
            if lent.as_ref().is_some_and(|lent| Arc::ptr_eq(lent, &evd)) {
                evd.orphan();
            } else {
                evd.free_anyway();
            }
        }
        for cno in self.all::<Cno<T>>() {
            cno.free_anyway();
        }
        if let Some(borrowed) = async_use {
            let evd = borrowed.evd.object().clone();
            drop(borrowed);
            evd.free_if_orphaned();
        }
        self.agents.stop();
        self.slab.remove::<Ia<T>>(self.header.handle());
    }

    fn all<O: Object>(&self) -> Vec<Arc<O>> {
        let handles: Vec<Handle> = match self.children.lock().live.get(&O::KIND) {
            Some(live) => live.iter().copied().collect(),
            None => Vec::new(),
        };
        handles.into_iter().filter_map(|handle| Some(self.slab.get::<O>(handle)?.share())).collect()
    }

    /// Gives an object a handle and remembers it for the close.
    pub(crate) fn adopt<O: Object>(&self, object: O) -> Result<Arc<O>> {
        self.adopt_shared(Arc::new(object))
    }

    /// As [`Ia::adopt`], for an object that is shared already.
    pub(crate) fn adopt_shared<O: Object>(&self, object: Arc<O>) -> Result<Arc<O>> {
        let full = Error::InsufficientResources(Resource::Memory);
        let mut children = self.children.lock();
        if children.closed {
            return Err(Error::InvalidHandle(crate::error::Role::Ia));
        }
        let handle = self.slab.insert(object.clone()).ok_or(full)?;
        children.live.entry(O::KIND).or_default().insert(handle);
        Ok(object)
    }

    /// Makes the handle of an object dead; true for exactly one caller.
    pub(crate) fn disown<O: Object>(&self, object: &O) -> bool {
        let handle = object.header().handle();
        if let Some(live) = self.children.lock().live.get_mut(&O::KIND) {
            live.remove(&handle);
        }
        self.slab.remove::<O>(handle)
    }

    /// Objects of a kind that are alive.
    pub fn count(&self, kind: Kind) -> usize {
        self.children.lock().live.get(&kind).map_or(0, BTreeSet::len)
    }

    /// The name under which it was opened.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The transport behind it.
    pub fn transport(&self) -> &Arc<T> {
        &self.transport
    }

    /// Where its handles come from.
    pub fn slab(&self) -> &'static Slab<T> {
        self.slab
    }

    /// Its regions by context.
    pub fn lmrs(&self) -> &LmrTable {
        &self.lmrs
    }

    pub(crate) fn points(&self) -> &Points<T> {
        &self.points
    }

    pub(crate) fn agents(&self) -> &Agents {
        &self.agents
    }

    /// The dispatcher of asynchronous events; `None` if it is elsewhere.
    pub fn async_evd(&self) -> Option<Arc<Evd<T>>> {
        self.async_evd.lock().as_ref().map(|a| a.evd.object().clone())
    }

    /// Queues an asynchronous event; dropped with a line in the log if there is no room.
    pub(crate) fn raise(&self, object: Handle, reason: AsyncReason) {
        let Some(evd) = self.async_evd() else { return };
        if !evd.offer(Event::Async { object, reason }, true, None) {
            log::warn!("ia {}: no room for an asynchronous event ({reason:?})", self.name);
        }
    }
}
