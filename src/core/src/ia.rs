//! Open interface adapters, as known to every object that was made from one.
//!
//! Opening and closing, which know every object, are in [`crate::open`].
//!
//! What a version tells its programs beyond what all are told stands in [`ApiCaps`], which the face gives when it opens
//! an adapter: the core knows what is told, and not for which version. An adapter has the only count of objects of each
//! kind, and refuses one more than its attributes say.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use host::lock::Mutex;
use host::memory::{self, Room};

use crate::agent::Agents;
use crate::attached_data::AttachedData;
use crate::counters::{ConnStat, Counters, Happenings};
use crate::error::{Error, Resource, Result, Role, StateError};
use crate::evd::Evd;
use crate::event::{AsyncReason, Event};
use crate::lmr_table::LmrTable;
use crate::rmr_table::RmrTable;
use crate::slab::{Handle, Header, Kind, Object, RetiredCell, Slab};
use crate::transport::Transport;
use crate::users::Use;

/// The destination of the asynchronous events of an adapter.
pub(crate) struct AsyncOutlet<T: Transport> {
    /// The dispatcher.
    pub evd: Arc<Evd<T>>,
    /// Whether it was made with the adapter and ends with it.
    pub own: bool,
    /// Keeps the dispatcher from being freed, until the drop.
    pub used: Option<Use<Evd<T>>>,
}

impl<T: Transport> Drop for AsyncOutlet<T> {
    fn drop(&mut self) {
        drop(self.used.take());
        self.evd.free_if_orphaned();
    }
}

/// What the programs of an adapter are told beyond what all are. The default is nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiCaps {
    /// That a connection has ended whose endpoint receives from a shared receive queue, by an asynchronous event.
    pub tell_end_of_shared: bool,
    /// The version of the interface, which the core only passes on to who looks at the adapter.
    pub version: (u8, u8),
    /// What extended operations of a peer bring, so that peers may post them: see
    /// [`QpInit::extended`](crate::transport::QpInit::extended).
    pub extended: bool,
}

/// An open interface adapter.
pub struct Ia<T: Transport> {
    pub(crate) header: Header,
    /// The name under which it was opened.
    pub name: String,
    /// The transport behind it.
    pub transport: Arc<T>,
    /// The slab that the handles of its objects come from.
    pub slab: &'static Slab<T>,
    children: Mutex<Children>,
    pub(crate) async_outlet: Mutex<Option<AsyncOutlet<T>>>,
    /// Its regions by context.
    pub lmrs: LmrTable,
    pub(crate) remote_keys: RmrTable,
    pub(crate) agents: Arc<Agents>,
    /// What its programs are told beyond what all are.
    pub(crate) api_caps: ApiCaps,
    /// Held while the end of a connection is told by two events, so that those of two endpoints come in the same order on both
    /// dispatchers.
    pub(crate) telling_end: Mutex<()>,
    destroyed: AtomicBool,
    /// What endpoints had counted that were freed. Locked while an endpoint leaves its counters, and while those of all are
    /// added up.
    pub(crate) ended: Mutex<Counters>,
    /// Sleeps that ended in waits on dispatchers of the adapter.
    pub(crate) wakeups: AtomicU64,
    /// What happened to its connections.
    pub(crate) happenings: Happenings,
    /// What the face keeps of its counters.
    pub counter_baseline: AttachedData,
    /// What the face keeps with the adapter.
    pub kept: AttachedData,
}

/// The handles of all objects that were made from an adapter.
#[derive(Default)]
struct Children {
    /// By the number of the kind.
    live: [Vec<Handle>; Kind::COUNT],
    /// How many were freed of each kind.
    freed: [u64; Kind::COUNT],
    closed: bool,
}

impl<T: Transport> Ia<T> {
    /// A new adapter without objects and without a handle.
    ///
    /// # Errors
    /// [`Resource::Memory`].
    pub(crate) fn new(slab: &'static Slab<T>, name: &str, transport: Arc<T>, api_caps: ApiCaps) -> Result<Arc<Self>> {
        Ok(memory::arc(Ia {
            header: Header::default(),
            name: memory::text(name)?,
            transport,
            slab,
            children: Mutex::default(),
            async_outlet: Mutex::new(None),
            lmrs: LmrTable::new()?,
            remote_keys: RmrTable::default(),
            agents: memory::arc(Agents::default())?,
            api_caps,
            telling_end: Mutex::new(()),
            destroyed: AtomicBool::new(false),
            ended: Mutex::default(),
            wakeups: AtomicU64::new(0),
            happenings: Happenings::default(),
            counter_baseline: AttachedData::default(),
            kept: AttachedData::default(),
        })?)
    }

    /// Admits no more objects if none exists but `spared`.
    ///
    /// # Errors
    /// [`StateError::IaInUse`] if another one exists; [`Error::InvalidHandle`] if the adapter is being closed.
    pub(crate) fn shut_if_unused(&self, spared: Option<Handle>) -> Result<()> {
        let mut children = self.children.lock();
        if children.closed {
            return Err(Error::InvalidHandle(Role::Ia));
        }
        let in_use = children.live.iter().flatten().any(|&handle| Some(handle) != spared);
        if in_use {
            return Err(Error::InvalidState(StateError::IaInUse));
        }
        children.closed = true;
        Ok(())
    }

    /// Admits no more objects. True for the one caller that is to destroy those that exist.
    pub(crate) fn shut(&self) -> bool {
        self.children.lock().closed = true;
        !self.destroyed.swap(true, Ordering::AcqRel)
    }

    /// Whether the adapter is being closed, or was.
    pub(crate) fn is_shut(&self) -> bool {
        self.destroyed.load(Ordering::Relaxed)
    }

    /// Calls `f` with each live object of a kind that was made from the adapter, which is closed. `f` is called without
    /// a lock, and may free objects.
    pub(crate) fn each<O: Object>(&self, f: impl Fn(&Arc<O>)) {
        // From the end, since the last one takes the place of one that is freed.
        for at in (0..self.count(O::KIND)).rev() {
            let handle = self.children.lock().live[O::KIND as usize].get(at).copied();
            if let Some(object) = handle.and_then(|handle| self.slab.get::<O>(handle)) {
                f(&object);
            }
        }
    }

    /// The first live object of a kind, made from the adapter, that `f` accepts. `f` is called with the list locked.
    pub(crate) fn find<O: Object, R>(&self, mut f: impl FnMut(&O) -> Option<R>) -> Option<R> {
        let children = self.children.lock();
        children.live[O::KIND as usize].iter().find_map(|&handle| f(&*self.slab.get::<O>(handle)?))
    }

    /// Checks whether there can be another object of a kind, before the transport makes its part of it. Objects that
    /// are being made do not count yet; [`Ia::adopt`] has the last word.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`] if there are as many as the adapter's attributes say.
    pub(crate) fn room_for(&self, kind: Kind) -> Result<()> {
        self.within(kind, self.count(kind))
    }

    /// Whether there can be one more than `live` objects of a kind.
    fn within(&self, kind: Kind, live: usize) -> Result<()> {
        let (most, lacking) = self.transport.attributes().most(kind);
        if live < most { Ok(()) } else { Err(Error::InsufficientResources(lacking)) }
    }

    /// Gives an object a handle, counts it and records it for the close. [`Ia::disown`] undoes that.
    ///
    /// # Errors
    /// [`Role::Ia`] if the adapter is closed, [`Resource::Memory`] if there are no more handles or no memory, that of
    /// [`Ia::room_for`] if there are enough objects of this kind.
    pub(crate) fn adopt<O: Object>(&self, object: O) -> Result<Arc<O>> {
        self.adopt_shared(memory::arc(object)?)
    }

    /// Does what [`Ia::adopt`] does for an object that is already shared.
    pub(crate) fn adopt_shared<O: Object>(&self, object: Arc<O>) -> Result<Arc<O>> {
        let full = Error::InsufficientResources(Resource::Memory);
        let mut children = self.children.lock();
        if children.closed {
            return Err(Error::InvalidHandle(Role::Ia));
        }
        let list = &mut children.live[O::KIND as usize];
        self.within(O::KIND, list.len())?;
        list.room(1)?;
        let handle = self.slab.insert(object.clone()).ok_or(full)?;
        self.set_listed(handle, list.len());
        list.push(handle);
        Ok(object)
    }

    /// Notes where the list has a handle.
    fn set_listed(&self, handle: Handle, at: usize) {
        if let Some(cell) = self.slab.cell(handle) {
            cell.listed.store(at, Ordering::Relaxed);
        }
    }

    /// Makes the handle of an object dead, and takes the object out of the list; that is so for exactly one caller. The
    /// handle names no other object as long as what this returns lives, which is dropped without a lock.
    pub(crate) fn disown<O: Object>(&self, object: &O) -> Option<RetiredCell<'_, T>> {
        let mut children = self.children.lock();
        let dying = self.slab.remove(object)?;
        let list = &mut children.live[O::KIND as usize];
        let at = self.slab.cell(object.header().handle())?.listed.load(Ordering::Relaxed);
        list.swap_remove(at);
        if let Some(&moved) = list.get(at) {
            self.set_listed(moved, at);
        }
        children.freed[O::KIND as usize] += 1;
        Some(dying)
    }

    /// The number of live objects of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.children.lock().live[kind as usize].len()
    }

    /// How many objects of a kind were made from the adapter, without its own dispatcher, and how many of these are
    /// freed.
    pub fn made(&self, kind: Kind) -> (u64, u64) {
        let own = u64::from(kind == Kind::Evd && self.own_async_evd().is_some());
        let children = self.children.lock();
        let freed = children.freed[kind as usize];
        ((children.live[kind as usize].len() as u64 + freed).saturating_sub(own), freed)
    }

    /// Forgets that an object was made and freed, because the call that was to make it has failed.
    pub(crate) fn discount(&self, kind: Kind) {
        self.children.lock().freed[kind as usize] -= 1;
    }

    /// How often something happened.
    pub fn happened(&self, what: ConnStat) -> u64 {
        self.happenings.of(what)
    }

    /// The dispatcher of asynchronous events; `None` if it is elsewhere.
    pub fn async_evd(&self) -> Option<Handle> {
        self.async_outlet.lock().as_ref().map(|outlet| outlet.evd.header().handle())
    }

    /// The same as [`Ia::async_evd`] if the dispatcher was made with the adapter.
    pub(crate) fn own_async_evd(&self) -> Option<Handle> {
        self.async_outlet.lock().as_ref().filter(|outlet| outlet.own).map(|outlet| outlet.evd.header().handle())
    }

    /// How often a thread has slept in waits on its dispatchers and notification objects.
    pub fn wakeups(&self) -> u64 {
        self.wakeups.load(Ordering::Relaxed)
    }

    /// Queues an asynchronous event. Drops it with a line in the log if there is no room.
    pub(crate) fn raise(&self, object: Handle, reason: AsyncReason) {
        self.happenings.note(ConnStat::Async(reason));
        let Some(evd) = self.async_outlet.lock().as_ref().map(|outlet| outlet.evd.clone()) else { return };
        if !evd.offer(Event::Async { object, reason }) {
            log::warn!("ia {}: no room for an asynchronous event ({reason})", self.name);
        }
    }
}

/// The sink for reports on the adapter as a whole.
pub struct AdapterSink<T: Transport> {
    pub(crate) adapter: Weak<Ia<T>>,
}

impl<T: Transport> AdapterSink<T> {
    /// Reports that the adapter cannot go on: its connections end, and nothing else will work.
    pub fn catastrophe(&self) {
        if let Some(adapter) = self.adapter.upgrade() {
            adapter.raise(adapter.header.handle(), AsyncReason::IaCatastrophic);
        }
    }
}
