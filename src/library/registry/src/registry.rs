//! Adapters, reference counts, loading and undoing (uDAPL, dat_ia_open(3DAT), dat_ia_close(3DAT),
//! dat_registry_add_provider(3DAT), dat_provider_init(3DAT)).
//!
//! An adapter has entries, which are lines of the configuration, or a provider that registered itself, normally from its
//! init, and so has a table of functions; or both. Opening an adapter finds the identity that serves the request, makes
//! sure that its provider has registered, and counts:
//!
//! ```text
//!              open: load once, init          last close: fini
//!   Idle ------------------> Busy ---> Ready ------------------> Busy ---> Idle
//!     \                        |
//!      \-- cannot be loaded ---+--> Failed     (remembered; costs no second attempt)
//! ```
//!
//! Where entries stand in for each other, the next one of its identity replaces an entry that cannot be loaded, and is Idle
//! then; only the last one becomes Failed.
//!
//! A Busy adapter belongs to one thread, which works without the lock; other threads that need it wait.
//!
//! The lock is that of the standard library: one word and a futex. A lock with a table of waiters could not be unlocked in
//! the child of a fork, where those waiters do not exist.

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

/// The parts that a version of the interface adds to the registry: the provider's functions and tables.
///
/// [`load`](Backend::load), [`init`](Backend::init) and [`fini`](Backend::fini) are called without
/// the registry's lock. The others are called with it and must not call the registry.
pub trait Backend {
    /// A provider's table of functions.
    type Table: Copy + Eq + Hash;
    /// A loaded provider library.
    type Library: Clone;

    /// Reads the configuration; called once, at the first use of the registry.
    fn configure(&self) -> Found;
    /// Loads a provider library, which is never unloaded.
    ///
    /// # Errors
    /// The loader's reason.
    fn load(&self, library: &CStr) -> Result<Self::Library, LoadError>;
    /// Tells a provider that `identity` is about to be opened; the provider answers by registering a table.
    ///
    /// # Errors
    /// [`InitError`].
    fn init(&self, library: &Self::Library, identity: &Identity, instance_data: &CStr) -> Result<(), InitError>;
    /// Tells a provider that nobody uses `identity`; the provider answers by removing its table.
    fn fini(&self, library: &Self::Library, identity: &Identity);
    /// Makes handles of a table valid. Returns `false` if there is no room for another table.
    fn publish(&self, table: Self::Table) -> bool;
    /// Makes handles of a table invalid.
    fn retire(&self, table: Self::Table);
}

/// Threads that may be opening adapters at the same time.
const OPENING: usize = 64;

/// Why a provider's init did not do its work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InitError {
    /// The library has no init; it may have registered from a constructor.
    Absent,
    /// The init ended its thread half-way. A table that it had registered by then is not to be used.
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
    /// Signalled when an adapter stops being busy.
    idle: Condvar,
}

/// The right to use a provider's table; holds one reference on its entries until
/// [`Registry::release`].
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a ticket that is not released keeps its provider open forever"]
pub struct Ticket<T> {
    /// The provider's table of functions.
    pub table: T,
    identity: Identity,
}

/// What a program opened an instance for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To use it.
    Use,
    /// To read attributes; it only can be closed.
    Query,
}

/// Why an adapter cannot be opened.
#[derive(Debug)]
pub enum OpenError {
    /// No entry serves the request.
    NotFound(Missing),
    /// The entry that serves the request cannot be used.
    Unusable(LoadFailure),
    /// There is no memory, or no descriptor. Another attempt may succeed.
    NoMemory,
}

/// Why an entry cannot be used, as one line for the user.
#[derive(Debug)]
pub struct LoadFailure {
    /// The origin of the entry.
    pub origin: Origin,
    /// The adapter's name.
    pub name: String,
    /// The library, as the entry names it.
    pub library: String,
    /// The loader's reason, or the provider's failure; `None` when it was reported before.
    pub reason: Option<String>,
}

impl fmt::Display for LoadFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LoadFailure { origin, name, library, reason } = self;
        write!(f, "{origin}: {name}: cannot use {library}")?;
        reason.as_ref().map_or(Ok(()), |reason| write!(f, ": {reason}"))
    }
}

/// Why a provider cannot be added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddError {
    /// A provider has registered with that identity.
    AlreadyRegistered,
    /// There is no room for another table, or no memory.
    Full,
}

/// Why a provider cannot be removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoveError {
    /// No such provider has registered.
    NotRegistered,
    /// Instances of the entry are open.
    InUse,
}

/// The most names that a [`Snapshot`] has, and of these that are shown in a line for the user.
const MOST: usize = 100;
const SHOWN: usize = 20;

/// Information for a program about a name that was not found.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Names that can be opened, in order, each once; the first of them if there are many.
    pub names: Vec<String>,
    /// A bad line that begins with the name that was asked for.
    pub bad_line: Option<(Origin, BadLine)>,
}

impl Snapshot {
    /// The name that is probably meant by `name`: no more than two characters, or a third, are to be changed.
    pub fn nearest(&self, name: &str) -> Option<&str> {
        let distance = |other: &&String| strsim::damerau_levenshtein(&other.to_lowercase(), &name.to_lowercase());
        let nearest = self.names.iter().min_by_key(distance)?;
        (distance(&nearest) <= name.chars().count().div_ceil(3).min(2)).then_some(nearest)
    }

    /// Some names, and how many more there are.
    pub fn shown(&self) -> String {
        let shown = self.names.iter().take(SHOWN).map(String::as_str).collect::<Vec<_>>().join(" ");
        match self.names.len().saturating_sub(SHOWN) {
            _ if shown.is_empty() => "none".to_owned(),
            0 => shown,
            more => format!("{shown} and {more} more"),
        }
    }
}

impl<B: Backend> Registry<B> {
    /// An empty registry, which reads its configuration at first use.
    pub const fn new(backend: B) -> Self {
        Registry { backend, state: Mutex::new(None), idle: Condvar::new() }
    }

    /// Locks the entries for a fork handler. The parent holds the lock during a fork, so that the child gets consistent
    /// entries.
    ///
    /// A child that is forked while another thread is inside the dynamic loader can never load anything. So this waits for
    /// such a thread, but not longer than `limit`, because that thread may itself be waiting for the fork.
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
        // A panic with the lock held leaves consistent entries: every change is made at the end of its step.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> Guard<'_, B> {
        let mut guard = self.raw_lock();
        guard.get_or_insert_with(|| Entries::new(self.backend.configure()));
        Guard(guard)
    }

    /// As [`Registry::lock`], for calls that may be the first.
    ///
    /// # Errors
    /// [`NoMemory`], or no descriptor: the next call reads the configuration.
    fn ready(&self) -> Result<Guard<'_, B>, NoMemory> {
        let mut guard = self.raw_lock();
        if guard.is_none() {
            let before = memory::reserve_in_use();
            let state = Entries::new(self.backend.configure());
            // A configuration that was read without enough memory or descriptors may be incomplete, and is not kept.
            if memory::reserve_in_use() > before || lacks_descriptors() {
                return Err(NoMemory);
            }
            *guard = Some(state);
        }
        Ok(Guard(guard))
    }

    /// Calls `f` with the number of identities that are listed and with these: entries of the configuration in order, then
    /// providers without one. `f` must not call the registry.
    ///
    /// # Errors
    /// [`NoMemory`], without a call.
    pub fn visit<R>(&self, f: impl FnOnce(usize, &mut dyn Iterator<Item = &Identity>) -> R) -> Result<R, NoMemory> {
        let mut guard = self.ready()?;
        let listed = guard.get().listed();
        Ok(f(listed.len(), &mut listed.into_iter()))
    }

    /// The information about a name that was not found.
    pub fn snapshot(&self, name: &CStr) -> Snapshot {
        let mut guard = self.lock();
        let state = guard.get();
        let mut seen = HashSet::new();
        let names = state.identities().map(|identity| &identity.name).filter(|name| seen.insert(*name));
        let names = names.take(MOST).map(|name| text(name).into_owned()).collect();
        let bad_line = state.bad.iter().find(|(_, bad)| bad.name.as_deref() == Some(name)).cloned();
        Snapshot { names, bad_line }
    }

    /// Makes a table reachable under an identity (uDAPL, dat_registry_add_provider(3DAT)).
    ///
    /// # Errors
    /// [`AddError::AlreadyRegistered`] for an identity that exists already; [`AddError::Full`] when there is no room.
    /// Nothing changes then.
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
    /// [`RemoveError::NotRegistered`] unless this table is registered under this identity; [`RemoveError::InUse`] while
    /// an instance is open.
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

    /// Finds the provider for a request, loads it if necessary, and counts one more use of it.
    ///
    /// Blocks while another thread loads or finishes the same entry.
    ///
    /// # Errors
    /// See [`OpenError`]; no count changes then.
    pub fn open(&self, request: &Request<'_>) -> Result<Ticket<B::Table>, OpenError> {
        let mut guard = self.ready().map_err(|_| OpenError::NoMemory)?;
        loop {
            let state = guard.get();
            // `bind` needs no memory then, however many threads open adapters at the same time.
            state.instances.room(OPENING).map_err(|_| OpenError::NoMemory)?;
            state.opening.room(OPENING).map_err(|_| OpenError::NoMemory)?;
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
                    guard = Guard(inner.unwrap_or_else(PoisonError::into_inner));
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
            let told = match &library {
                Ok(library) => self.backend.init(library, &identity, &entry.instance_data),
                Err(_) => Ok(()),
            };
            guard = self.lock();
            let state = guard.get();
            if told == Err(InitError::Ended) {
                self.drop_unused(state, &identity);
            }
            let outcome = state.settle(&identity, library, told);
            std::mem::forget(busy);
            self.idle.notify_all();
            match outcome? {
                Settled::Ready(ticket) => return Ok(ticket),
                Settled::Replaced(failure) => log::warn!("{failure}: the next line of this name is tried"),
            }
        }
    }

    /// Loads the library of an adapter that this thread has made busy.
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

    /// Removes one use from the count. At the last use of an entry its provider's fini is called.
    ///
    /// Blocks while the provider's fini runs.
    pub fn release(&self, ticket: Ticket<B::Table>) {
        let mut guard = self.lock();
        let state = guard.get();
        let Some(adapter) = state.find(&ticket.identity) else { return };
        adapter.opens = adapter.opens.saturating_sub(1);
        if adapter.opens > 0 || adapter.phase != Phase::Ready {
            return;
        }
        let Some(library) = adapter.library.clone() else {
            // The provider registered itself, and its table stays until the provider removes it.
            adapter.phase = Phase::Idle;
            return;
        };
        adapter.phase = Phase::Busy(Id::current());
        drop(guard);

        let busy = Busy { registry: self, identity: &ticket.identity };
        self.backend.fini(&library, &ticket.identity);
        let mut guard = self.lock();
        let state = guard.get();
        // A table that a provider forgot to remove must not be called after its fini.
        if state.find(&ticket.identity).is_some_and(|adapter| adapter.table == Some(ticket.table)) {
            self.drop_unused(state, &ticket.identity);
        }
        drop(guard);
        // This sets the entry to idle and wakes the threads that wait for it.
        drop(busy);
    }

    /// Notes that this thread calls a provider's open, until the note is dropped.
    pub fn opening(&self) -> Opening<'_, B> {
        let me = Id::current();
        self.lock().get().opening.push(me);
        Opening { registry: self, thread: me }
    }

    /// Whether this thread is inside a provider's open.
    pub fn is_opening(&self) -> bool {
        let me = Id::current();
        self.raw_lock().as_ref().is_some_and(|state| state.opening.contains(&me))
    }

    /// Remembers which ticket an open instance belongs to.
    ///
    /// # Parameters
    /// * `address` - the address by which the program knows the instance.
    /// * `purpose` - what the program opened it for.
    pub fn bind(&self, address: usize, purpose: Purpose, ticket: Ticket<B::Table>) {
        self.lock().get().instances.push(Instance { address, purpose, ticket });
    }

    /// Removes the ticket that [`bind`](Registry::bind) remembered, and returns it; `None` for an instance that was not
    /// opened here for this purpose.
    pub fn unbind(&self, address: usize, purpose: Purpose) -> Option<Ticket<B::Table>> {
        let mut guard = self.raw_lock();
        let instances = &mut guard.as_mut()?.instances;
        let at = instances.iter().rposition(|known| known.address == address && known.purpose == purpose)?;
        Some(instances.swap_remove(at).ticket)
    }

    /// Whether an instance was opened here for this purpose and is open.
    pub fn is_bound(&self, address: usize, purpose: Purpose) -> bool {
        let sought = |known: &Instance<_>| known.address == address && known.purpose == purpose;
        self.raw_lock().as_ref().is_some_and(|state| state.instances.iter().any(sought))
    }

    /// The address of an instance of the adapter `name` that a program uses, if there is one, with one more ticket for its
    /// provider.
    pub fn instance_of(&self, name: &CStr) -> Option<(usize, Ticket<B::Table>)> {
        let mut guard = self.raw_lock();
        let state = guard.as_mut()?;
        let used = |known: &&Instance<_>| known.purpose == Purpose::Use && *known.ticket.identity.name == *name;
        let found = state.instances.iter().find(used)?;
        let (address, identity) = (found.address, found.ticket.identity.clone());
        Some((address, state.find(&identity)?.ticket()?))
    }

    /// Whether there is an adapter of this name that can be opened.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub fn has_name(&self, name: &CStr) -> Result<bool, NoMemory> {
        Ok(self.ready()?.get().adapters.contains_key(name))
    }

    /// Removes the table of a provider, unless somebody uses it.
    fn drop_unused(&self, state: &mut Entries<B>, identity: &Identity) {
        let unused = state.find(identity).is_some_and(|adapter| adapter.opens == 0);
        if let Some(table) = unused.then(|| state.remove(identity)).flatten() {
            self.backend.retire(table);
        }
    }
}

/// The note of [`Registry::opening`].
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

/// The entries, locked, with the configuration read.
struct Guard<'a, B: Backend>(MutexGuard<'a, Option<Entries<B>>>);

impl<B: Backend> Guard<'_, B> {
    fn get(&mut self) -> &mut Entries<B> {
        self.0.as_mut().expect("lock() reads the configuration")
    }
}

/// The lock on the entries, held across a fork.
pub struct EntriesGuard<'a, B: Backend>(MutexGuard<'a, Option<Entries<B>>>);

impl<B: Backend> EntriesGuard<'_, B> {
    /// Cleans up in the child of a fork: adapters that another thread of the parent was working on become idle, because
    /// that thread does not exist here. Those of the calling thread stay as they are.
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

/// An adapter that this thread works on. It becomes idle even if the work ends in a panic.
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
