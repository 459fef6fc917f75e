//! The entries of a registry, and the effects of each step on them. All of it happens under the lock.

use std::collections::{HashMap, HashSet, VecDeque};
use std::ffi::{CStr, CString};

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
/// Entries are found by a hash of their names, so that many of them cost no more than few.
pub(super) struct State<B: Backend> {
    pub(super) statics: Vec<Static<B::Library>>,
    /// The static entries of each name, in order.
    static_names: HashMap<CString, Vec<usize>>,
    /// Names of entries of other major versions.
    others: HashSet<CString>,
    /// Entries of other major versions that are listed, with the number of static entries before each.
    listed_only: Vec<(usize, Identity)>,
    pub(super) bad: Vec<(Origin, BadLine)>,
    /// The dynamic entries of each name, in the order of their registration.
    dynamics: HashMap<CString, Vec<Dynamic<B::Table>>>,
    /// The number of dynamic entries that each table has.
    tables: HashMap<B::Table, usize>,
    /// The number of the next dynamic entry.
    next: u64,
    pub(super) instances: Vec<Instance<B::Table>>,
    /// The threads that are inside a provider's open, once for each such call.
    pub(super) opening: Vec<Id>,
    /// A provider could not register for lack of memory.
    pub(super) lacked_memory: bool,
}

/// An entry of the configuration, and the state of its library.
pub(super) struct Static<L> {
    origin: Origin,
    pub(super) entry: Entry,
    pub(super) identity: Identity,
    /// Entries of the same identity, which take its place in this order if its library cannot be loaded.
    stand_ins: VecDeque<(Origin, Entry)>,
    pub(super) phase: Phase,
    /// Whether the thread that made it busy is inside the dynamic loader.
    pub(super) loading: bool,
    pub(super) library: Option<L>,
    pub(super) opens: usize,
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

/// A provider that registered itself.
pub(super) struct Dynamic<T> {
    /// Grows with each entry.
    serial: u64,
    pub(super) identity: Identity,
    pub(super) table: T,
    pub(super) opens: usize,
}

impl<B: Backend> State<B> {
    pub(super) fn new(found: Found) -> Self {
        let mut static_names: HashMap<CString, Vec<usize>> = HashMap::new();
        for (index, (_, entry)) in found.entries.iter().enumerate() {
            static_names.entry(entry.name.clone()).or_default().push(index);
        }
        let mut statics: Vec<_> = found.entries.into_iter().map(|(origin, entry)| Static::new(origin, entry)).collect();
        for (index, origin, entry) in found.stand_ins {
            statics[index].stand_ins.push_back((origin, entry));
        }
        State {
            statics,
            static_names,
            others: found.other_versions,
            listed_only: found.listed_only,
            bad: found.bad,
            dynamics: HashMap::new(),
            tables: HashMap::new(),
            next: 0,
            instances: Vec::new(),
            opening: Vec::new(),
            lacked_memory: false,
        }
    }

    /// The identities that can be opened: static entries in order, then dynamic ones without a static entry.
    pub(super) fn identities(&self) -> impl Iterator<Item = &Identity> {
        let mut explicit: Vec<&Dynamic<B::Table>> = self.dynamics.values().flatten().collect();
        explicit.retain(|dynamic| self.static_index(&dynamic.identity).is_none());
        explicit.sort_unstable_by_key(|dynamic| dynamic.serial);
        self.statics.iter().map(|entry| &entry.identity).chain(explicit.into_iter().map(|dynamic| &dynamic.identity))
    }

    /// The identities that are listed: those that can be opened, and among them, in the order of the file, entries of
    /// other versions.
    pub(super) fn listed(&self) -> Vec<&Identity> {
        let mut others = self.listed_only.iter().peekable();
        let mut listed = Vec::new();
        for (at, own) in self.identities().enumerate() {
            while let Some((_, other)) = others.next_if(|(before, _)| *before <= at) {
                listed.push(other);
            }
            listed.push(own);
        }
        listed.extend(others.map(|(_, other)| other));
        listed
    }

    /// The static entries of a name, then the dynamic ones, in order.
    fn named(&self, name: &CStr) -> impl Iterator<Item = &Identity> {
        let statics = self.static_names.get(name).into_iter().flatten();
        let statics = statics.map(|index| &self.statics[*index].identity);
        statics.chain(self.dynamics.get(name).into_iter().flatten().map(|dynamic| &dynamic.identity))
    }

    /// Whether an entry of this name can be opened.
    pub(super) fn has_name(&self, name: &CStr) -> bool {
        self.named(name).next().is_some()
    }

    /// Adds one use of the provider of a ticket.
    pub(super) fn again(&mut self, ticket: Ticket<B::Table>) -> Ticket<B::Table> {
        if ticket.from_static
            && let Some(index) = self.static_index(&ticket.identity)
        {
            self.statics[index].opens += 1;
        }
        if let Some(dynamic) = self.dynamic(&ticket.identity) {
            dynamic.opens += 1;
        }
        ticket
    }

    pub(super) fn select(&self, request: &Request<'_>) -> Result<Identity, Missing> {
        // A dynamic entry that has a static one comes up twice; the first of equals is taken.
        select(request, self.named(request.name)).cloned().map_err(|missing| {
            // An entry of another major version serves no request, but it has the name.
            let named = self.others.contains(request.name);
            if named { missing.max(Missing::Major) } else { missing }
        })
    }

    /// Whether a thread is inside the dynamic loader and `me` is not; that thread might be waiting for `me`.
    pub(super) fn others_are_loading(&self, me: Id) -> bool {
        let loading = |entry: &&Static<B::Library>| entry.loading;
        let mine = |entry: &Static<B::Library>| entry.phase == Phase::Busy(me);
        let mut all = self.statics.iter().filter(loading).peekable();
        all.peek().is_some() && !all.any(mine)
    }

    pub(super) fn static_index(&self, identity: &Identity) -> Option<usize> {
        let named = self.static_names.get(&identity.name)?;
        named.iter().copied().find(|index| self.statics[*index].identity == *identity)
    }

    pub(super) fn dynamic(&mut self, identity: &Identity) -> Option<&mut Dynamic<B::Table>> {
        self.dynamics.get_mut(&identity.name)?.iter_mut().find(|d| d.identity == *identity)
    }

    /// Whether there is room for another dynamic entry.
    pub(super) fn has_room(&self) -> bool {
        self.tables.values().sum::<usize>() < DYNAMICS_MAX
    }

    /// Makes room for another dynamic entry.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub(super) fn reserve_dynamic(&mut self, identity: &Identity) -> Result<(), NoMemory> {
        self.tables.room(1)?;
        self.dynamics.room(1)?;
        self.dynamics.get_mut(&identity.name).map_or(Ok(()), |named| named.room(1))
    }

    /// Adds a dynamic entry, which does not exist yet.
    pub(super) fn add_dynamic(&mut self, identity: Identity, table: B::Table) {
        let dynamic = Dynamic { serial: self.next, identity, table, opens: 0 };
        self.next += 1;
        *self.tables.entry(table).or_default() += 1;
        self.dynamics.entry(dynamic.identity.name.clone()).or_default().push(dynamic);
    }

    /// Removes a dynamic entry. Returns its table if no other entry has it.
    pub(super) fn remove_dynamic(&mut self, identity: &Identity) -> Option<B::Table> {
        let named = self.dynamics.get_mut(&identity.name)?;
        let at = named.iter().position(|d| d.identity == *identity)?;
        let table = named.remove(at).table;
        if named.is_empty() {
            self.dynamics.remove(&identity.name);
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
        let index = self.static_index(identity);
        let index = index.ok_or(OpenError::NotFound(Missing::Name))?;
        let library = match library {
            Ok(library) => library,
            Err(LoadError::NoMemory) => {
                self.statics[index].phase = Phase::Idle;
                return Err(OpenError::NoMemory);
            }
            Err(LoadError::Refused(reason)) => {
                self.statics[index].phase = Phase::Failed;
                return self.statics[index].give_way(reason);
            }
        };
        self.statics[index].library = Some(library);
        let ticket = self.dynamic(identity).map(|dynamic| dynamic.ticket(true));
        let entry = &mut self.statics[index];
        match ticket {
            Some(ticket) => {
                entry.phase = Phase::Ready;
                entry.opens += 1;
                Ok(Settled::Ready(ticket))
            }
            None => {
                // The init may find a device the next time.
                entry.phase = Phase::Idle;
                // An init returns nothing. If it lacked memory itself, that shows only if memory is still lacking.
                if std::mem::take(&mut self.lacked_memory) || memory::probe(LARGE).is_err() {
                    return Err(OpenError::NoMemory);
                }
                let silent = "the library did not register this adapter".to_owned();
                let reason = told.err().map_or(silent, |error| error.to_string());
                // A provider with an init has decided not to serve; only a library that is no provider gives way.
                if told == Err(InitError::Absent) { entry.give_way(reason) } else { Err(entry.unusable(Some(reason))) }
            }
        }
    }
}

impl<L> Static<L> {
    fn new(origin: Origin, entry: Entry) -> Self {
        Static {
            origin,
            identity: entry.identity(),
            entry,
            stand_ins: VecDeque::new(),
            phase: Phase::Idle,
            loading: false,
            library: None,
            opens: 0,
        }
    }

    /// Puts the next entry of the identity in the place of this one, whose library cannot be used.
    ///
    /// # Errors
    /// [`OpenError::Unusable`], if there is none.
    fn give_way<T>(&mut self, reason: String) -> Result<Settled<T>, OpenError> {
        let failure = self.failure(Some(reason));
        let Some((origin, entry)) = self.stand_ins.pop_front() else { return Err(OpenError::Unusable(failure)) };
        (self.origin, self.entry) = (origin, entry);
        (self.library, self.phase) = (None, Phase::Idle);
        Ok(Settled::Replaced(failure))
    }

    pub(super) fn unusable(&self, reason: Option<String>) -> OpenError {
        OpenError::Unusable(self.failure(reason))
    }

    fn failure(&self, reason: Option<String>) -> LoadFailure {
        LoadFailure {
            origin: self.origin.clone(),
            name: text(&self.entry.name).into_owned(),
            library: text(&self.entry.library).into_owned(),
            reason,
        }
    }
}

impl<T: Copy> Dynamic<T> {
    pub(super) fn ticket(&mut self, from_static: bool) -> Ticket<T> {
        self.opens += 1;
        Ticket { table: self.table, identity: self.identity.clone(), from_static }
    }
}
