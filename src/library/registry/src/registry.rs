//! Adapters, reference counts and loading.
//!
//! An adapter has entries of the configuration, a registered provider, or both. An open selects an identity, ensures
//! that its provider is registered, and counts the use:
//!
//! ```text
//!              open: load once, init          last close: fini
//!   Idle ------------------> Busy ---> Ready ------------------> Busy ---> Idle
//!     \                        |
//!      \-- cannot be loaded ---+--> Failed     (no second attempt)
//! ```
//!
//! One thread works on a Busy adapter, without the lock; others wait. If the library of an entry cannot be loaded, or
//! has no init, a later line with the same identity replaces the entry: its *stand-in*. Without a stand-in, an adapter
//! whose library cannot be loaded becomes Failed.
//!
//! The lock is the standard library's. It has no table of waiting threads, so a fork's child can unlock it.

use std::collections::HashSet;
use std::ffi::CStr;
use std::fmt;
use std::hash::Hash;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use host::memory::{self, NoMemory, Room};
use host::thread::Id;

use crate::conf::BadLine;
use crate::entry::{Identity, Origin, text};
use crate::loader::{LoadError, lacks_descriptors};
use crate::search::Found;
use crate::select::{Missing, Request};

mod state;
#[cfg(test)]
mod tests;

use state::{Entries, Instance, Phase, Settled};

/// The version-specific part. [`load`](Backend::load), [`init`](Backend::init) and [`fini`](Backend::fini) are called
/// without the registry's lock, and may call the registry.
pub trait Backend {
    /// A provider's table of functions.
    type Table: Copy + Eq + Hash;
    /// A loaded provider library.
    type Library: Clone;

    /// Reads the configuration, on first use of the registry.
    fn configure(&self) -> Found;
    /// Loads a provider library, which is never unloaded.
    ///
    /// # Errors
    /// The loader's reason.
    fn load(&self, library: &CStr) -> Result<Self::Library, LoadError>;
    /// Calls a provider's init, which registers a table for `identity`.
    ///
    /// # Errors
    /// [`InitError`].
    fn init(&self, library: &Self::Library, identity: &Identity, instance_data: &CStr) -> Result<(), InitError>;
    /// Calls a provider's fini, which removes the table.
    fn fini(&self, library: &Self::Library, identity: &Identity);
    /// Adds a table to dispatch, which then accepts handles of its objects. Returns `false` if there is no room for the
    /// table.
    fn publish(&self, table: Self::Table) -> bool;
    /// Removes a table from dispatch, which then rejects handles of its objects.
    fn retire(&self, table: Self::Table);
}

/// Minimum spare capacity of `instances` and `opening`, for concurrent opens.
const SPARE_CAPACITY: usize = 64;

/// The reason why an init failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitError {
    /// The library has no init.
    Absent,
    /// The init ended its thread. A table that it registered is not used.
    Ended,
}

impl fmt::Display for InitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            InitError::Absent => "the library has no dat_provider_init",
            InitError::Ended => "its dat_provider_init ended the thread",
        })
    }
}

/// The registry of a process.
pub struct Registry<B: Backend> {
    backend: B,
    state: Mutex<Option<Entries<B>>>,
    idle: Condvar,
}

/// A counted use of a provider, from [`Registry::open`] or [`Registry::instance`] until [`Registry::release`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a ticket that is not released keeps its provider open forever"]
pub struct Ticket<T> {
    /// The provider's table of functions.
    pub table: T,
    identity: Identity,
}

/// The purpose for which the program has opened an instance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// General use.
    Use,
    /// Reading attributes. The instance can only be closed.
    Query,
}

/// The reason why an open failed.
#[derive(Debug)]
pub enum OpenError {
    /// No entry serves the request.
    NotFound(Missing),
    /// The entry for the request cannot be used.
    Unusable(LoadFailure),
    /// Lack of memory or descriptors; another attempt may succeed.
    NoMemory,
}

/// An entry that cannot be used, as one line for the user.
#[derive(Debug)]
pub struct LoadFailure {
    /// The entry's origin.
    pub origin: Origin,
    /// The adapter's name.
    pub name: String,
    /// The library, as the entry names it.
    pub library: String,
    /// The reason of the loader or provider; `None` if it was reported before.
    pub reason: Option<String>,
}

impl fmt::Display for LoadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoadFailure { origin, name, library, reason } = self;
        write!(f, "{origin}: {name}: cannot use {library}")?;
        reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

/// The reason why a provider cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddError {
    /// The identity already has a provider.
    AlreadyRegistered,
    /// No memory, or no room for the table.
    Full,
}

/// The reason why a provider cannot be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoveError {
    /// The identity has no provider, or a provider with another table.
    NotRegistered,
    /// Instances of the provider are open.
    InUse,
}

const MAX_NAMES: usize = 100;
const MAX_SHOWN: usize = 20;

/// The registry's data about a request that no entry serves, for a message to the user.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// The first 100 names that can be opened, in order, without duplicates.
    pub names: Vec<String>,
    /// A bad line with the requested name.
    pub bad_line: Option<(Origin, BadLine)>,
    /// The first entry of the requested name.
    pub entry: Option<(Origin, Identity)>,
}

impl Snapshot {
    /// Returns the most similar name if it differs in at most 2 characters, and in at most a third, rounded up.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let distance = |other: &&String| strsim::damerau_levenshtein(&other.to_lowercase(), &name.to_lowercase());
        let nearest = self.names.iter().min_by_key(distance)?;
        (distance(&nearest) <= name.chars().count().div_ceil(3).min(2)).then_some(nearest)
    }

    /// Returns the first names, and the number of others.
    pub fn shown(&self) -> String {
        let shown = self.names.iter().take(MAX_SHOWN).map(String::as_str).collect::<Vec<_>>().join(" ");
        match self.names.len().saturating_sub(MAX_SHOWN) {
            _ if shown.is_empty() => "none".to_owned(),
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }
}

impl<B: Backend> Registry<B> {
    /// Creates a registry, which reads its configuration on first use.
    pub const fn new(backend: B) -> Self {
        Registry { backend, state: Mutex::new(None), idle: Condvar::new() }
    }

    /// Locks the entries during a fork. First waits until no other thread is in the dynamic loader, because otherwise
    /// the child could never load a library; but at most for `limit`, because that thread may wait for the fork.
    pub fn hold_for_fork(&self, limit: Duration) -> EntriesGuard<'_, B> {
        let me = Id::current();
        let others_are_loading =
            |state: &mut Option<Entries<B>>| state.as_ref().is_some_and(|s| s.others_are_loading(me));
        let held = self
            .idle
            .wait_timeout_while(self.raw_lock(), limit, others_are_loading)
            .unwrap_or_else(PoisonError::into_inner);
        EntriesGuard(held.0)
    }

    fn raw_lock(&self) -> MutexGuard<'_, Option<Entries<B>>> {
        // Each step changes the entries last, so they are consistent even after a panic.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> EntriesGuard<'_, B> {
        let mut guard = self.raw_lock();
        guard.get_or_insert_with(|| Entries::new(self.backend.configure()));
        EntriesGuard(guard)
    }

    /// Like [`Registry::lock`], but fails if resources are short while it reads the configuration. The next call reads
    /// the configuration again.
    fn ready(&self) -> Result<EntriesGuard<'_, B>, NoMemory> {
        let mut guard = self.raw_lock();
        if guard.is_none() {
            let before = memory::reserve_in_use();
            let state = Entries::new(self.backend.configure());
            // Without enough memory or descriptors, the configuration may be incomplete.
            if memory::reserve_in_use() > before || lacks_descriptors() {
                return Err(NoMemory);
            }
            *guard = Some(state);
        }
        Ok(EntriesGuard(guard))
    }

    /// Calls `f` with the number of listed identities and an iterator over them. `f` must not call the registry.
    ///
    /// # Errors
    /// [`NoMemory`], without a call of `f`.
    pub fn visit<R>(&self, f: impl FnOnce(usize, &mut dyn Iterator<Item = &Identity>) -> R) -> Result<R, NoMemory> {
        let mut guard = self.ready()?;
        let listed = guard.get().listed();
        Ok(f(listed.len(), &mut listed.into_iter()))
    }

    /// Returns what the registry knows about a request that no entry serves.
    pub fn snapshot(&self, name: &CStr) -> Snapshot {
        let mut guard = self.lock();
        let state = guard.get();
        let mut seen = HashSet::new();
        let all = state.in_order();
        let names = all.iter().map(|adapter| &adapter.identity.name).filter(|name| seen.insert(*name));
        let names = names.take(MAX_NAMES).map(|name| text(name).into_owned()).collect();
        let bad_line = state.bad.iter().find(|(_, bad)| bad.name.as_deref() == Some(name)).cloned();
        let entry = all.iter().filter(|adapter| *adapter.identity.name == *name);
        let entry = entry.copied().find_map(|own| Some((own.entries.front()?.0.clone(), own.identity.clone())));
        Snapshot { names, bad_line, entry }
    }

    /// Registers a table (uDAPL, dat_registry_add_provider(3DAT)).
    ///
    /// # Errors
    /// [`AddError`]: nothing has changed.
    pub fn add(&self, identity: Identity, table: B::Table) -> Result<(), AddError> {
        let mut guard = self.ready().map_err(|_| AddError::Full)?;
        let state = guard.get();
        if state.find(&identity).is_some_and(|adapter| adapter.table.is_some()) {
            return Err(AddError::AlreadyRegistered);
        }
        if state.reserve(&identity).is_err() {
            state.lacked_memory = true;
            return Err(AddError::Full);
        }
        if !state.has_room() || !self.backend.publish(table) {
            return Err(AddError::Full);
        }
        state.add(identity, table);
        Ok(())
    }

    /// Removes a table (uDAPL, dat_registry_remove_provider(3DAT)).
    ///
    /// # Errors
    /// [`RemoveError`]: nothing has changed.
    pub fn remove(&self, identity: &Identity, table: B::Table) -> Result<(), RemoveError> {
        let mut guard = self.lock();
        let state = guard.get();
        match state.find(identity) {
            Some(adapter) if adapter.table != Some(table) => Err(RemoveError::NotRegistered),
            Some(adapter) if adapter.opens > 0 => Err(RemoveError::InUse),
            Some(_) => {
                self.drop_unused(state, identity);
                Ok(())
            }
            None => Err(RemoveError::NotRegistered),
        }
    }

    /// Finds the provider for a request, loads it if necessary, and counts a use. Blocks while another thread loads the
    /// provider or calls its init or fini.
    ///
    /// # Errors
    /// [`OpenError`]: no count has changed.
    pub fn open(&self, request: &Request<'_>) -> Result<Ticket<B::Table>, OpenError> {
        let mut guard = self.ready().map_err(|_| OpenError::NoMemory)?;
        loop {
            let state = guard.get();
            // With this capacity, `bind` and `opening` need no memory.
            state.instances.room(SPARE_CAPACITY).map_err(|_| OpenError::NoMemory)?;
            state.opening.room(SPARE_CAPACITY).map_err(|_| OpenError::NoMemory)?;
            let identity = state.select(request).map_err(OpenError::NotFound)?;
            let adapter = state.find(&identity).ok_or(OpenError::NotFound(Missing::Name))?;
            let me = Id::current();
            match adapter.phase {
                Phase::Busy(owner) if owner == me => {
                    let why = "it is being initialised by the very thread that opens it";
                    return Err(adapter.unusable(Some(why.to_owned())));
                }
                Phase::Busy(_) => {
                    let inner = self.idle.wait(guard.0);
                    guard = EntriesGuard(inner.unwrap_or_else(PoisonError::into_inner));
                    continue;
                }
                Phase::Idle | Phase::Ready | Phase::Failed => {}
            }
            if let Some(ticket) = adapter.ticket() {
                return Ok(ticket);
            }
            if adapter.phase == Phase::Failed {
                return Err(adapter.unusable(None));
            }
            let (_, entry) = adapter.entries.front().ok_or(OpenError::NotFound(Missing::Name))?;
            let entry = entry.clone();
            let loaded = adapter.library.clone();
            adapter.phase = Phase::Busy(me);
            adapter.loading = loaded.is_none();
            drop(guard);

            let busy = Busy { registry: self, identity: &identity };
            let library = loaded.map_or_else(|| self.load(&identity, &entry.library), Ok);
            let initialised = match &library {
                Ok(library) => self.backend.init(library, &identity, &entry.instance_data),
                Err(_) => Ok(()),
            };
            guard = self.lock();
            let state = guard.get();
            if initialised == Err(InitError::Ended) {
                self.drop_unused(state, &identity);
            }
            let outcome = state.settle(&identity, library, initialised);
            std::mem::forget(busy);
            self.idle.notify_all();
            match outcome? {
                Settled::Ready(ticket) => return Ok(ticket),
                Settled::Replaced(failure) => log::warn!("{failure}: the next line of this name is tried"),
            }
        }
    }

    fn load(&self, identity: &Identity, library: &CStr) -> Result<B::Library, LoadError> {
        let result = self.backend.load(library);
        let mut guard = self.lock();
        let state = guard.get();
        if let Some(adapter) = state.find(identity) {
            adapter.loading = false;
        }
        self.idle.notify_all();
        result
    }

    /// Drops a reference. After the last reference to a loaded provider, calls its fini, and blocks until the fini
    /// returns.
    pub fn release(&self, ticket: Ticket<B::Table>) {
        let mut guard = self.lock();
        let state = guard.get();
        let Some(adapter) = state.find(&ticket.identity) else { return };
        adapter.opens = adapter.opens.saturating_sub(1);
        if adapter.opens > 0 || adapter.phase != Phase::Ready {
            return;
        }
        let Some(library) = adapter.library.clone() else {
            // A provider that registered without an init removes its table itself.
            adapter.phase = Phase::Idle;
            return;
        };
        adapter.phase = Phase::Busy(Id::current());
        drop(guard);

        let busy = Busy { registry: self, identity: &ticket.identity };
        self.backend.fini(&library, &ticket.identity);
        let mut guard = self.lock();
        let state = guard.get();
        // The fini of a faulty provider has not removed the table.
        if state.find(&ticket.identity).is_some_and(|adapter| adapter.table == Some(ticket.table)) {
            self.drop_unused(state, &ticket.identity);
        }
        drop(guard);
        drop(busy);
    }

    /// Records that the calling thread is inside a provider's open, until the guard is dropped.
    pub fn opening(&self) -> Opening<'_, B> {
        let me = Id::current();
        self.lock().get().opening.push(me);
        Opening { registry: self, thread: me }
    }

    /// Returns whether the calling thread is inside a provider's open.
    pub fn is_opening(&self) -> bool {
        let me = Id::current();
        self.raw_lock().as_ref().is_some_and(|state| state.opening.contains(&me))
    }

    /// Records the ticket of an open instance by the address that is its handle.
    pub fn bind(&self, address: usize, purpose: Purpose, ticket: Ticket<B::Table>) {
        let mut guard = self.lock();
        let state = guard.get();
        state.instances.push(Instance { serial: state.next, address, purpose, ticket });
        state.next += 1;
    }

    /// Removes and returns the ticket that [`bind`](Registry::bind) recorded for the instance `serial`, if it still
    /// exists.
    pub fn unbind(&self, serial: u64) -> Option<Ticket<B::Table>> {
        let mut guard = self.raw_lock();
        let instances = &mut guard.as_mut()?.instances;
        let at = instances.iter().position(|known| known.serial == serial)?;
        Some(instances.swap_remove(at).ticket)
    }

    /// Returns whether the instance with this address is open for this purpose.
    pub fn is_bound(&self, address: usize, purpose: Purpose) -> bool {
        let sought = |known: &Instance<_>| known.address == address && known.purpose == purpose;
        self.raw_lock().as_ref().is_some_and(|state| state.instances.iter().any(sought))
    }

    /// Returns serial number and address of the newest instance for `purpose` that `is_sought` accepts by address and
    /// adapter name, and another reference to its provider. Returns `None` without such an instance.
    pub fn instance(
        &self,
        purpose: Purpose,
        is_sought: impl Fn(usize, &CStr) -> bool,
    ) -> Option<(u64, usize, Ticket<B::Table>)> {
        let mut guard = self.raw_lock();
        let state = guard.as_mut()?;
        let of_purpose = state.instances.iter().filter(|known| known.purpose == purpose);
        let sought = of_purpose.filter(|known| is_sought(known.address, &known.ticket.identity.name));
        let newest = sought.max_by_key(|known| known.serial)?;
        let (serial, address, identity) = (newest.serial, newest.address, newest.ticket.identity.clone());
        Some((serial, address, state.find(&identity)?.ticket()?))
    }

    /// Returns whether the name has an entry for this version or a registered provider.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn has_name(&self, name: &CStr) -> Result<bool, NoMemory> {
        Ok(self.ready()?.get().adapters.contains_key(name))
    }

    /// Removes the table of `identity` unless instances are open.
    fn drop_unused(&self, state: &mut Entries<B>, identity: &Identity) {
        let unused = state.find(identity).is_some_and(|adapter| adapter.opens == 0);
        if let Some(table) = unused.then(|| state.remove(identity)).flatten() {
            self.backend.retire(table);
        }
    }
}

/// Guard of [`Registry::opening`].
pub struct Opening<'a, B: Backend> {
    registry: &'a Registry<B>,
    thread: Id,
}

impl<B: Backend> Drop for Opening<'_, B> {
    fn drop(&mut self) {
        let mut guard = self.registry.lock();
        let opening = &mut guard.get().opening;
        if let Some(at) = opening.iter().rposition(|thread| *thread == self.thread) {
            opening.swap_remove(at);
        }
    }
}

/// The locked entries.
pub struct EntriesGuard<'a, B: Backend>(MutexGuard<'a, Option<Entries<B>>>);

impl<B: Backend> EntriesGuard<'_, B> {
    fn get(&mut self) -> &mut Entries<B> {
        self.0.as_mut().expect("lock() reads the configuration")
    }

    /// Resets adapters on which other threads work, for a fork's child, which lacks these threads.
    pub fn abandon_other_threads(&mut self) {
        let me = Id::current();
        let Some(state) = &mut *self.0 else { return };
        state.opening.retain(|thread| *thread == me);
        for adapter in state.adapters.values_mut().flatten() {
            if matches!(adapter.phase, Phase::Busy(owner) if owner != me) {
                adapter.loading = false;
                adapter.phase = if adapter.opens > 0 { Phase::Ready } else { Phase::Idle };
            }
        }
    }
}

/// Guard of a Busy adapter: its drop makes the adapter Idle and wakes waiting threads, even after a panic.
struct Busy<'a, B: Backend> {
    registry: &'a Registry<B>,
    identity: &'a Identity,
}

impl<B: Backend> Drop for Busy<'_, B> {
    fn drop(&mut self) {
        let mut guard = self.registry.lock();
        let state = guard.get();
        if let Some(adapter) = state.find(self.identity) {
            adapter.phase = Phase::Idle;
            adapter.loading = false;
        }
        self.registry.idle.notify_all();
    }
}
