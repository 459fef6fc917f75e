//! The entries of a registry, and the effects of each step on them. All of it happens under the lock.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::CString;
use std::iter;

use host::memory::{self, NoMemory, Room};
use host::thread::Id;

use super::{Backend, InitError, LoadFailure, OpenError, Purpose, Ticket};
use crate::conf::BadLine;
use crate::entry::{Entry, Identity, Origin, text};
use crate::loader::{LARGE, LoadError};
use crate::search::Found;
use crate::select::{Missing, Request, select};

/// The most providers that can be registered at a time.
const DYNAMICS_MAX: usize = 65_536;

/// Everything that the registry knows.
///
/// Adapters are found by a hash of their names, so that many of them cost no more than few.
pub(super) struct Entries<B: Backend> {
    /// The adapters of each name: those of the configuration in order, then the others in the order of their registration.
    pub(super) adapters: HashMap<CString, Vec<Adapter<B>>>,
    /// The number of the next adapter.
    next: u64,
    /// Names of entries of other major versions.
    others: HashSet<CString>,
    /// Entries of other major versions that are listed.
    listed_only: Vec<Identity>,
    pub(super) bad: Vec<(Origin, BadLine)>,
    /// The number of adapters that each table serves.
    tables: HashMap<B::Table, usize>,
    pub(super) instances: Vec<Instance<B::Table>>,
    /// The threads that are inside a provider's open, once for each such call.
    pub(super) opening: Vec<Id>,
    /// A provider could not register for lack of memory.
    pub(super) lacked_memory: bool,
}

/// What there is under one identity: entries of the configuration, a provider that registered itself, or both.
pub(super) struct Adapter<B: Backend> {
    /// Grows with each adapter.
    serial: u64,
    pub(super) identity: Identity,
    /// The entry in use, and those that take its place in this order if its library cannot be loaded.
    pub(super) entries: VecDeque<(Origin, Entry)>,
    pub(super) phase: Phase,
    /// Whether the thread that made it busy is inside the dynamic loader.
    pub(super) loading: bool,
    pub(super) library: Option<B::Library>,
    /// The provider's table while it is registered.
    pub(super) table: Option<B::Table>,
    pub(super) opens: usize,
    /// A built-in entry that is listed only while its provider has registered.
    unlisted: bool,
}

/// The result of a load and an init.
pub(super) enum Settled<T> {
    /// The provider has registered.
    Ready(Ticket<T>),
    /// The library cannot be used, and the next entry of the identity has taken the place of this one.
    Replaced(LoadFailure),
}

/// The states of an entry, as in the picture in the module above.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Busy(Id),
    Ready,
    Failed,
}

/// An instance of an adapter that is open.
pub(super) struct Instance<T> {
    pub(super) address: usize,
    pub(super) purpose: Purpose,
    pub(super) ticket: Ticket<T>,
}

impl<B: Backend> Entries<B> {
    pub(super) fn new(found: Found) -> Self {
        let mut entries = Entries {
            adapters: HashMap::new(),
            next: 0,
            others: found.other_versions,
            listed_only: found.listed_only,
            bad: found.bad,
            tables: HashMap::new(),
            instances: Vec::new(),
            opening: Vec::new(),
            lacked_memory: false,
        };
        let mut stand_ins: HashMap<usize, Vec<_>> = HashMap::new();
        for (index, origin, entry) in found.stand_ins {
            stand_ins.entry(index).or_default().push((origin, entry));
        }
        for (index, (origin, entry)) in found.entries.into_iter().enumerate() {
            let identity = entry.identity();
            let more = stand_ins.remove(&index).unwrap_or_default();
            entries.push(identity, iter::once((origin, entry)).chain(more).collect(), None);
        }
        for entry in found.unlisted {
            entries.push(entry.identity(), VecDeque::from([(Origin::BuiltIn, entry)]), None).unlisted = true;
        }
        entries
    }

    fn push(
        &mut self,
        identity: Identity,
        entries: VecDeque<(Origin, Entry)>,
        table: Option<B::Table>,
    ) -> &mut Adapter<B> {
        let (serial, phase) = (self.next, Phase::Idle);
        self.next += 1;
        let named = self.adapters.entry(identity.name.clone()).or_default();
        let (loading, library, opens, unlisted) = (false, None, 0, false);
        named.push(Adapter { serial, identity, entries, phase, loading, library, table, opens, unlisted });
        let last = named.len() - 1;
        &mut named[last]
    }

    /// What can be opened and is listed: the adapters of the configuration in order, then the others.
    fn in_order(&self) -> Vec<&Adapter<B>> {
        let is_listed = |adapter: &&Adapter<B>| !adapter.unlisted || adapter.table.is_some();
        let mut all: Vec<&Adapter<B>> = self.adapters.values().flatten().filter(is_listed).collect();
        all.sort_unstable_by_key(|adapter| adapter.serial);
        all
    }

    /// The identities that can be opened and are listed: those of the configuration in order, then the others.
    pub(super) fn identities(&self) -> impl Iterator<Item = &Identity> {
        self.in_order().into_iter().map(|adapter| &adapter.identity)
    }

    /// The identities that are listed: those of the file that can be opened, its entries of other versions, and then the
    /// built-in entries and the providers without an entry. Some programs take the first entry of a name and load the library
    /// of its version, so those of this version are first.
    pub(super) fn listed(&self) -> Vec<&Identity> {
        let mut listed = self.in_order();
        let of_file = |adapter: &&Adapter<B>| matches!(adapter.entries.front(), Some((Origin::Line(..), _)));
        let others = listed.split_off(listed.iter().position(|adapter| !of_file(adapter)).unwrap_or(listed.len()));
        let own = listed.into_iter().map(|adapter| &adapter.identity);
        own.chain(&self.listed_only).chain(others.into_iter().map(|adapter| &adapter.identity)).collect()
    }

    pub(super) fn select(&self, request: &Request<'_>) -> Result<Identity, Missing> {
        let named = self.adapters.get(request.name).into_iter().flatten();
        select(request, named.map(|adapter| &adapter.identity)).cloned().map_err(|missing| {
            // An entry of another major version serves no request, but it has the name.
            let named = self.others.contains(request.name);
            if named { missing.max(Missing::Major) } else { missing }
        })
    }

    /// Whether a thread is inside the dynamic loader and `me` is not; that thread might be waiting for `me`.
    pub(super) fn others_are_loading(&self, me: Id) -> bool {
        let loading = |adapter: &&Adapter<B>| adapter.loading;
        let mut all = self.adapters.values().flatten().filter(loading).peekable();
        all.peek().is_some() && !all.any(|adapter| adapter.phase == Phase::Busy(me))
    }

    pub(super) fn find(&mut self, identity: &Identity) -> Option<&mut Adapter<B>> {
        self.adapters.get_mut(&identity.name)?.iter_mut().find(|adapter| adapter.identity == *identity)
    }

    /// Whether there is room for another provider.
    pub(super) fn has_room(&self) -> bool {
        self.tables.values().sum::<usize>() < DYNAMICS_MAX
    }

    /// Makes room for another provider.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub(super) fn reserve(&mut self, identity: &Identity) -> Result<(), NoMemory> {
        self.tables.room(1)?;
        self.adapters.room(1)?;
        self.adapters.get_mut(&identity.name).map_or(Ok(()), |named| named.room(1))
    }

    /// Stores the table of an identity that has none.
    pub(super) fn add(&mut self, identity: Identity, table: B::Table) {
        *self.tables.entry(table).or_default() += 1;
        match self.find(&identity) {
            Some(adapter) => adapter.table = Some(table),
            None => {
                self.push(identity, VecDeque::new(), Some(table));
            }
        }
    }

    /// Removes the table of an identity. Returns it if it serves no other one.
    pub(super) fn remove(&mut self, identity: &Identity) -> Option<B::Table> {
        let named = self.adapters.get_mut(&identity.name)?;
        let at = named.iter().position(|adapter| adapter.identity == *identity)?;
        let table = named[at].table.take()?;
        if named[at].entries.is_empty() {
            named.remove(at);
        }
        if named.is_empty() {
            self.adapters.remove(&identity.name);
        }
        let users = self.tables.get_mut(&table)?;
        *users -= 1;
        let last = *users == 0;
        if last {
            self.tables.remove(&table);
        }
        last.then_some(table)
    }

    /// Stores the result of a load and an init.
    ///
    /// # Errors
    /// [`OpenError`], if no other entry of the identity is left that could be tried.
    pub(super) fn settle(
        &mut self,
        identity: &Identity,
        library: Result<B::Library, LoadError>,
        told: Result<(), InitError>,
    ) -> Result<Settled<B::Table>, OpenError> {
        let lacked_memory = self.lacked_memory;
        let adapter = self.find(identity).ok_or(OpenError::NotFound(Missing::Name))?;
        // After an init that registers nothing as well: it may find a device the next time.
        adapter.phase = Phase::Idle;
        match library {
            Ok(library) => adapter.library = Some(library),
            Err(LoadError::NoMemory) => return Err(OpenError::NoMemory),
            Err(LoadError::Refused(reason)) => {
                adapter.phase = Phase::Failed;
                return adapter.give_way(reason);
            }
        }
        if let Some(ticket) = adapter.ticket() {
            return Ok(Settled::Ready(ticket));
        }
        // An init returns nothing. If it lacked memory itself, that shows only if memory is still lacking.
        if lacked_memory || memory::probe(LARGE).is_err() {
            self.lacked_memory = false;
            return Err(OpenError::NoMemory);
        }
        let silent = "the library did not register this adapter: it may be for another version of uDAPL".to_owned();
        let reason = told.err().map_or(silent, |error| error.to_string());
        // A provider with an init has decided not to serve; only a library that is no provider gives way.
        if told == Err(InitError::Absent) { adapter.give_way(reason) } else { Err(adapter.unusable(Some(reason))) }
    }
}

impl<B: Backend> Adapter<B> {
    /// One more use of its provider, if that has registered.
    pub(super) fn ticket(&mut self) -> Option<Ticket<B::Table>> {
        let table = self.table?;
        self.phase = Phase::Ready;
        self.opens += 1;
        Some(Ticket { table, identity: self.identity.clone() })
    }

    /// Puts the next entry of the identity in the place of this one, whose library cannot be used.
    ///
    /// # Errors
    /// [`OpenError::Unusable`], if there is none.
    fn give_way(&mut self, reason: String) -> Result<Settled<B::Table>, OpenError> {
        let failure = self.failure(Some(reason));
        if self.entries.len() < 2 {
            return Err(OpenError::Unusable(failure));
        }
        self.entries.pop_front();
        (self.library, self.phase) = (None, Phase::Idle);
        Ok(Settled::Replaced(failure))
    }

    pub(super) fn unusable(&self, reason: Option<String>) -> OpenError {
        OpenError::Unusable(self.failure(reason))
    }

    fn failure(&self, reason: Option<String>) -> LoadFailure {
        let (origin, entry) = self.entries.front().expect("an adapter without an entry is never loaded");
        LoadFailure {
            origin: origin.clone(),
            name: text(&entry.name).into_owned(),
            library: text(&entry.library).into_owned(),
            reason,
        }
    }
}
