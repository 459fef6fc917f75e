//! The state of a registry, and each step's effects on it, under the lock.

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

const DYNAMICS_MAX: usize = 65_536;

pub(super) struct Entries<B: Backend> {
    /// The adapters by name, entries of the configuration first.
    pub(super) adapters: HashMap<CString, Vec<Adapter<B>>>,
    pub(super) next: u64,
    others: HashSet<CString>,
    listed_only: Vec<Identity>,
    pub(super) bad: Vec<(Origin, BadLine)>,
    /// Number of adapters that use each table.
    tables: HashMap<B::Table, usize>,
    pub(super) instances: Vec<Instance<B::Table>>,
    /// Threads inside a provider's open, once per nested call.
    pub(super) opening: Vec<Id>,
    /// Set if a provider could not register for lack of memory.
    pub(super) lacked_memory: bool,
}

/// Entries of one identity, a provider that registered itself, or both.
pub(super) struct Adapter<B: Backend> {
    serial: u64,
    pub(super) identity: Identity,
    /// The entry in use, and its stand-ins.
    pub(super) entries: VecDeque<(Origin, Entry)>,
    pub(super) phase: Phase,
    /// Set while the working thread is inside the dynamic loader.
    pub(super) loading: bool,
    /// The loaded library. `None` also if it has no init, or if the provider registered the table without an open.
    pub(super) library: Option<B::Library>,
    pub(super) table: Option<B::Table>,
    pub(super) opens: usize,
    /// `true` if the adapter is listed only while its provider is registered.
    unlisted: bool,
}

pub(super) enum Settled<T> {
    /// The provider has registered.
    Ready(Ticket<T>),
    /// The library cannot be used. A stand-in has replaced the entry.
    Replaced(LoadFailure),
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Busy(Id),
    Ready,
    Failed,
}

pub(super) struct Instance<T> {
    pub(super) serial: u64,
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

    /// Returns the adapters in order of creation, also those that are not listed.
    pub(super) fn in_order(&self) -> Vec<&Adapter<B>> {
        let mut all: Vec<&Adapter<B>> = self.adapters.values().flatten().collect();
        all.sort_unstable_by_key(|adapter| adapter.serial);
        all
    }

    /// Returns the listed identities: entries of the file, then its entries for other versions, built-in entries, and
    /// providers without entries. The order matters, because some programs load the library of a name's first entry.
    pub(super) fn listed(&self) -> Vec<&Identity> {
        let mut listed = self.in_order();
        listed.retain(|adapter| !adapter.unlisted || adapter.table.is_some());
        let of_file = |adapter: &&Adapter<B>| matches!(adapter.entries.front(), Some((Origin::Line(..), _)));
        let others = listed.split_off(listed.iter().position(|adapter| !of_file(adapter)).unwrap_or(listed.len()));
        let own = listed.into_iter().map(|adapter| &adapter.identity);
        own.chain(&self.listed_only).chain(others.into_iter().map(|adapter| &adapter.identity)).collect()
    }

    pub(super) fn select(&self, request: &Request<'_>) -> Result<Identity, Missing> {
        let named = self.adapters.get(request.name).into_iter().flatten();
        select(request, named.map(|adapter| &adapter.identity)).cloned().map_err(|missing| {
            // A name with an entry for another major version is not missing.
            let named = self.others.contains(request.name);
            if named { missing.max(Missing::Major) } else { missing }
        })
    }

    /// Returns whether another thread is in the dynamic loader. Returns `false` if `me` is there too, because the other
    /// thread may wait for `me`.
    pub(super) fn others_are_loading(&self, me: Id) -> bool {
        let loading = |adapter: &&Adapter<B>| adapter.loading;
        let mut all = self.adapters.values().flatten().filter(loading).peekable();
        all.peek().is_some() && !all.any(|adapter| adapter.phase == Phase::Busy(me))
    }

    pub(super) fn find(&mut self, identity: &Identity) -> Option<&mut Adapter<B>> {
        self.adapters.get_mut(&identity.name)?.iter_mut().find(|adapter| adapter.identity == *identity)
    }

    pub(super) fn has_room(&self) -> bool {
        self.tables.values().sum::<usize>() < DYNAMICS_MAX
    }

    pub(super) fn reserve(&mut self, identity: &Identity) -> Result<(), NoMemory> {
        self.tables.room(1)?;
        self.adapters.room(1)?;
        self.adapters.get_mut(&identity.name).map_or(Ok(()), |named| named.room(1))
    }

    pub(super) fn add(&mut self, identity: Identity, table: B::Table) {
        *self.tables.entry(table).or_default() += 1;
        match self.find(&identity) {
            Some(adapter) => {
                adapter.table = Some(table);
                if !matches!(adapter.phase, Phase::Busy(_)) {
                    adapter.library = None;
                }
            }
            None => {
                self.push(identity, VecDeque::new(), Some(table));
            }
        }
    }

    /// Removes the table of `identity`. Returns the table if no other identity uses it.
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
    /// [`OpenError`], unless the provider has registered or a stand-in can be tried.
    pub(super) fn settle(
        &mut self,
        identity: &Identity,
        library: Result<B::Library, LoadError>,
        initialised: Result<(), InitError>,
    ) -> Result<Settled<B::Table>, OpenError> {
        let lacked_memory = self.lacked_memory;
        let adapter = self.find(identity).ok_or(OpenError::NotFound(Missing::Name))?;
        // Idle even if the init registers nothing: it may find a device next time.
        adapter.phase = Phase::Idle;
        match library {
            Ok(library) => adapter.library = (initialised != Err(InitError::Absent)).then_some(library),
            Err(LoadError::NoMemory) => return Err(OpenError::NoMemory),
            Err(LoadError::Refused(reason)) => {
                adapter.phase = Phase::Failed;
                return adapter.give_way(reason);
            }
        }
        if let Some(ticket) = adapter.ticket() {
            return Ok(Settled::Ready(ticket));
        }
        // An init returns nothing, so only a persisting lack of memory is noticed.
        if lacked_memory || memory::probe(LARGE).is_err() {
            self.lacked_memory = false;
            return Err(OpenError::NoMemory);
        }
        let silent = "the library did not register this adapter: it may be for another version of uDAPL".to_owned();
        let reason = initialised.err().map_or(silent, |error| error.to_string());
        // A provider with an init has declined to serve, so no stand-in replaces it.
        if initialised == Err(InitError::Absent) {
            adapter.give_way(reason)
        } else {
            Err(adapter.unusable(Some(reason)))
        }
    }
}

impl<B: Backend> Adapter<B> {
    pub(super) fn ticket(&mut self) -> Option<Ticket<B::Table>> {
        let table = self.table?;
        self.phase = Phase::Ready;
        self.opens += 1;
        Some(Ticket { table, identity: self.identity.clone() })
    }

    /// Replaces the unusable entry by the next stand-in.
    ///
    /// # Errors
    /// [`OpenError::Unusable`] if there is no stand-in.
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
