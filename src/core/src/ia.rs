//! Interface adapters (IAs), as far as their objects use them. `crate::open` opens and closes adapters.
//!
//! An adapter counts its objects of each kind, and enforces the limits in its attributes.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use host::lock::Mutex;
use host::memory::{self, Room};

use crate::agent::Agents;
use crate::arena::{Arena, Handle, Header, Kind, Object, RetiredCell};
use crate::attached_data::AttachedData;
use crate::counters::{ConnStat, ConnStats, Counters};
use crate::error::{Error, Result, Role, StateError};
use crate::evd::Evd;
use crate::event::AsyncReason;
use crate::lmr_table::LmrTable;
use crate::rmr_table::RmrTable;
use crate::transport::{AdapterAttributes, Transport};
use crate::users::Use;

pub(crate) struct AsyncOutlet<T: Transport> {
    pub evd: Use<Evd<T>>,
    /// `true` if the adapter created the EVD and frees it.
    pub own: bool,
}

impl<T: Transport> Drop for AsyncOutlet<T> {
    fn drop(&mut self) {
        if !self.own {
            self.evd.lent.fetch_sub(1, Ordering::SeqCst);
            self.evd.free_if_orphaned();
        }
    }
}

/// Features that not all API versions have; by default none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ApiCaps {
    /// `true` if an asynchronous event reports that the connection of an endpoint with an SRQ has ended.
    pub tell_end_of_shared: bool,
    /// Version of the interface, for tools that inspect the adapter.
    pub version: (u8, u8),
    /// `true` if peers may post extended operations ([`QpInit::extended`](crate::transport::QpInit::extended)).
    pub extended: bool,
}

/// An open interface adapter.
pub struct Ia<T: Transport> {
    pub(crate) header: Header,
    /// Name by which the program opened the adapter.
    pub name: String,
    /// The transport.
    pub transport: Arc<T>,
    /// Arena of the handles of its objects.
    pub arena: &'static Arena<T>,
    /// First word of the cells of its objects.
    pub face: usize,
    children: Mutex<Children>,
    pub(crate) async_outlet: Mutex<Option<AsyncOutlet<T>>>,
    /// Local memory regions by context.
    pub lmrs: LmrTable,
    attributes: AdapterAttributes,
    pub(crate) remote_keys: RmrTable,
    pub(crate) agents: Arc<Agents>,
    pub(crate) api_caps: ApiCaps,
    /// Held while the asynchronous event and the connection event of a connection's end are queued. So all EVDs get the
    /// ends of several connections in the same order.
    pub(crate) telling_end: Mutex<()>,
    /// Changed under the lock on `children`.
    shut: AtomicBool,
    /// Sum of the counters of freed endpoints. Locked while an endpoint is added to the sum, and during a query.
    pub(crate) ended: Mutex<Counters>,
    pub(crate) wakeups: AtomicU64,
    pub(crate) conn_stats: ConnStats,
    /// Storage of the API layer for the values of all counters at the last reset.
    pub counter_baseline: AttachedData,
    /// Storage of the API layer for other data.
    pub api_data: AttachedData,
}

#[derive(Default)]
struct Children {
    /// Handles of the live objects, by kind.
    live: [Vec<Handle>; Kind::COUNT],
    freed: [u64; Kind::COUNT],
}

impl<T: Transport> Ia<T> {
    /// Opens the transport's adapter. The new object has no handle and no EVD yet.
    pub(crate) fn new(
        arena: &'static Arena<T>,
        face: usize,
        name: &str,
        instance_data: &str,
        api_caps: ApiCaps,
    ) -> Result<Arc<Self>> {
        let (transport, attributes) = T::open(name, instance_data)?;
        Ok(memory::arc(Ia {
            attributes,
            header: Header::default(),
            name: memory::text(name)?,
            transport,
            arena,
            face,
            children: Mutex::default(),
            async_outlet: Mutex::new(None),
            lmrs: LmrTable::new()?,
            remote_keys: RmrTable::default(),
            agents: memory::arc(Agents::default())?,
            api_caps,
            telling_end: Mutex::new(()),
            shut: AtomicBool::new(false),
            ended: Mutex::default(),
            wakeups: AtomicU64::new(0),
            conn_stats: ConnStats::default(),
            counter_baseline: AttachedData::default(),
            api_data: AttachedData::default(),
        })?)
    }

    /// Returns limits and attributes.
    pub fn attributes(&self) -> &AdapterAttributes {
        &self.attributes
    }

    /// Disallows new objects. The caller must then free all objects of the adapter.
    ///
    /// # Errors
    /// [`Error::InvalidHandle`] if the adapter is already shut; [`StateError::IaInUse`] if `must_be_unused` is `true`
    /// and an object exists, other than the adapter's own EVD.
    pub(crate) fn shut(&self, must_be_unused: bool) -> Result<()> {
        let own = self.own_async_evd();
        let children = self.children.lock();
        if self.is_shut() {
            return Err(Error::InvalidHandle(Role::Ia));
        }
        if must_be_unused && children.live.iter().flatten().any(|&handle| Some(handle) != own) {
            return Err(Error::InvalidState(StateError::IaInUse));
        }
        self.shut.store(true, Ordering::Relaxed);
        Ok(())
    }

    pub(crate) fn is_shut(&self) -> bool {
        self.shut.load(Ordering::Relaxed)
    }

    /// Calls `f` with each object of a kind, without a lock. The adapter must disallow new objects.
    pub(crate) fn each<O: Object>(&self, f: impl Fn(&Arc<O>)) {
        // Backwards, because a free moves the last object into the gap.
        for at in (0..self.count(O::KIND)).rev() {
            let handle = self.children.lock().live[O::KIND as usize].get(at).copied();
            if let Some(object) = handle.and_then(|handle| self.arena.get::<O>(handle)) {
                f(&object);
            }
        }
    }

    /// Calls `f` with the objects of a kind until it returns `Some`, under the lock of the list. Returns this result.
    pub(crate) fn find<O: Object, R>(&self, mut f: impl FnMut(&O) -> Option<R>) -> Option<R> {
        let children = self.children.lock();
        children.live[O::KIND as usize].iter().find_map(|&handle| f(&*self.arena.get::<O>(handle)?))
    }

    /// Checks whether the adapter can have one more object of a kind. [`Ia::adopt`] checks this again under the lock.
    ///
    /// # Errors
    /// [`Error::InsufficientResources`] at the adapter's limit.
    pub(crate) fn room_for(&self, kind: Kind) -> Result<()> {
        self.within(kind, self.count(kind))
    }

    fn within(&self, kind: Kind, live: usize) -> Result<()> {
        let (most, lacking) = self.attributes.most(kind);
        if live < most { Ok(()) } else { Err(Error::InsufficientResources(lacking)) }
    }

    /// Assigns a handle to an object, and adds the handle to the list of the adapter's objects.
    ///
    /// # Errors
    /// [`Role::Ia`] if the adapter is closed, [`Error::NO_MEMORY`], errors of [`Ia::room_for`].
    pub(crate) fn adopt<O: Object>(&self, object: O) -> Result<Arc<O>> {
        self.adopt_shared(memory::arc(object)?)
    }

    pub(crate) fn adopt_shared<O: Object>(&self, object: Arc<O>) -> Result<Arc<O>> {
        let mut children = self.children.lock();
        if self.is_shut() {
            return Err(Error::InvalidHandle(Role::Ia));
        }
        let list = &mut children.live[O::KIND as usize];
        self.within(O::KIND, list.len())?;
        list.room(1)?;
        let handle = self.arena.insert(self.face, object.clone()).ok_or(Error::NO_MEMORY)?;
        self.set_listed(handle, list.len());
        list.push(handle);
        Ok(object)
    }

    fn set_listed(&self, handle: Handle, at: usize) {
        if let Some(cell) = self.arena.cell(handle) {
            cell.listed.store(at, Ordering::Relaxed);
        }
    }

    /// Invalidates an object's handle, and removes it from the list of the adapter's objects. Returns `Some` to exactly
    /// one caller, which must hold no lock when it drops the result.
    pub(crate) fn disown<O: Object>(&self, object: &O) -> Option<RetiredCell<'_, T>> {
        let mut children = self.children.lock();
        let dying = self.arena.remove(object)?;
        let list = &mut children.live[O::KIND as usize];
        let at = self.arena.cell(object.header().handle())?.listed.load(Ordering::Relaxed);
        list.swap_remove(at);
        if let Some(&moved) = list.get(at) {
            self.set_listed(moved, at);
        }
        children.freed[O::KIND as usize] += 1;
        Some(dying)
    }

    /// Returns the number of live objects of a kind.
    pub fn count(&self, kind: Kind) -> usize {
        self.children.lock().live[kind as usize].len()
    }

    /// Returns how many objects of a kind were created and how many were freed. Does not count the adapter's own EVD.
    pub fn made(&self, kind: Kind) -> (u64, u64) {
        let own = u64::from(kind == Kind::Evd && self.own_async_evd().is_some());
        let children = self.children.lock();
        let freed = children.freed[kind as usize];
        ((children.live[kind as usize].len() as u64 + freed).saturating_sub(own), freed)
    }

    pub(crate) fn discount(&self, kind: Kind) {
        self.children.lock().freed[kind as usize] -= 1;
    }

    /// Returns how often `what` happened.
    pub fn happened(&self, what: ConnStat) -> u64 {
        self.conn_stats.of(what)
    }

    /// Returns the EVD of asynchronous events, if there is one.
    pub fn async_evd(&self) -> Option<Handle> {
        self.async_outlet.lock().as_ref().map(|outlet| outlet.evd.header().handle())
    }

    /// Returns the EVD of asynchronous events if the adapter created it.
    pub(crate) fn own_async_evd(&self) -> Option<Handle> {
        self.async_outlet.lock().as_ref().filter(|outlet| outlet.own).map(|outlet| outlet.evd.header().handle())
    }

    /// Returns the number of waits on EVDs and CNOs of the adapter in which the thread slept.
    pub fn wakeups(&self) -> u64 {
        self.wakeups.load(Ordering::Relaxed)
    }

    /// Queues an asynchronous event, or logs its loss. If the EVD is full, the event of a watermark waits for room.
    pub(crate) fn raise(&self, object: Handle, reason: AsyncReason) {
        self.conn_stats.note(ConnStat::Async(reason));
        if let Some(evd) = self.async_queue().filter(|evd| !evd.offer_async(object, reason)) {
            self.conn_stats.note(ConnStat::NoRoom);
            evd.note_loss(1, &reason);
        }
    }

    /// Removes the events of a freed object that wait for room in the asynchronous EVD.
    pub(crate) fn forget_late(&self, object: Handle) {
        if let Some(evd) = self.async_queue() {
            evd.forget_late(object);
        }
    }

    fn async_queue(&self) -> Option<Arc<Evd<T>>> {
        self.async_outlet.lock().as_ref().map(|outlet| outlet.evd.object().clone())
    }
}

/// The sink by which the transport reports on the adapter as a whole.
pub struct AdapterSink<T: Transport> {
    pub(crate) adapter: Weak<Ia<T>>,
}

impl<T: Transport> Clone for AdapterSink<T> {
    fn clone(&self) -> Self {
        AdapterSink { adapter: self.adapter.clone() }
    }
}

impl<T: Transport> AdapterSink<T> {
    /// Reports that the adapter has failed: its connections end, and nothing else will work.
    pub fn catastrophe(&self) {
        if let Some(adapter) = self.adapter.upgrade() {
            adapter.raise(adapter.header.handle(), AsyncReason::IaCatastrophic);
        }
    }
}
