//! The entries of a registry, and the effects of each step on them. All of it happens under the lock.

use host::thread::Id;

use super::{Backend, LoadFailure, OpenError, Ticket};
use crate::conf::BadLine;
use crate::entry::{Entry, Identity, Origin, text};
use crate::loader::LoadError;
use crate::search::Found;
use crate::select::{Missing, Request, select};

/// Everything that the registry knows.
pub(super) struct State<B: Backend> {
    pub(super) statics: Vec<Static<B::Library>>,
    /// Identities of other major versions, known by name only.
    others: Vec<Identity>,
    pub(super) bad: Vec<(Origin, BadLine)>,
    pub(super) dynamics: Vec<Dynamic<B::Table>>,
    pub(super) instances: Vec<(usize, Ticket<B::Table>)>,
    /// A provider could not register for want of memory.
    pub(super) lacked_memory: bool,
}

/// An entry of the configuration, and the state of its library.
pub(super) struct Static<L> {
    origin: Origin,
    pub(super) entry: Entry,
    pub(super) identity: Identity,
    pub(super) phase: Phase,
    /// Whether the thread that made it busy is inside the dynamic loader.
    pub(super) loading: bool,
    pub(super) library: Option<L>,
    pub(super) opens: usize,
}

/// The states of an entry, as in the picture in the module above.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    Idle,
    Busy(Id),
    Ready,
    Failed,
}

/// A provider that registered itself.
pub(super) struct Dynamic<T> {
    pub(super) identity: Identity,
    pub(super) table: T,
    pub(super) opens: usize,
}

impl<B: Backend> State<B> {
    pub(super) fn new(found: Found) -> Self {
        State {
            statics: found
                .entries
                .into_iter()
                .map(|(origin, entry)| Static {
                    origin,
                    identity: entry.identity(),
                    entry,
                    phase: Phase::Idle,
                    loading: false,
                    library: None,
                    opens: 0,
                })
                .collect(),
            others: found.other_versions.iter().map(|(_, entry)| entry.identity()).collect(),
            bad: found.bad,
            dynamics: Vec::new(),
            instances: Vec::new(),
            lacked_memory: false,
        }
    }

    pub(super) fn identities(&self) -> impl Iterator<Item = &Identity> {
        let explicit = self
            .dynamics
            .iter()
            .map(|dynamic| &dynamic.identity)
            .filter(|identity| self.static_index(identity).is_none());
        self.statics.iter().map(|entry| &entry.identity).chain(explicit)
    }

    pub(super) fn select(&self, request: &Request<'_>) -> Result<Identity, Missing> {
        select(request, self.identities()).cloned().map_err(|missing| {
            // An entry of another major version serves no request, but it has the name.
            let named = self.others.iter().any(|other| *other.name == *request.name);
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
        self.statics.iter().position(|e| e.identity == *identity)
    }

    pub(super) fn dynamic(&mut self, identity: &Identity) -> Option<&mut Dynamic<B::Table>> {
        self.dynamics.iter_mut().find(|d| d.identity == *identity)
    }

    /// Stores the result of a load and an init.
    pub(super) fn settle(
        &mut self,
        identity: &Identity,
        library: Result<B::Library, LoadError>,
        told: Result<(), String>,
    ) -> Result<Ticket<B::Table>, OpenError> {
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
                return Err(self.statics[index].unusable(Some(reason)));
            }
        };
        self.statics[index].library = Some(library);
        let ticket = self.dynamic(identity).map(|dynamic| dynamic.ticket(true));
        let entry = &mut self.statics[index];
        match ticket {
            Some(ticket) => {
                entry.phase = Phase::Ready;
                entry.opens += 1;
                Ok(ticket)
            }
            None => {
                // The init may find a device the next time.
                entry.phase = Phase::Idle;
                if std::mem::take(&mut self.lacked_memory) {
                    return Err(OpenError::NoMemory);
                }
                let silent = || "the library did not register this adapter".to_owned();
                Err(entry.unusable(Some(told.err().unwrap_or_else(silent))))
            }
        }
    }
}

impl<L> Static<L> {
    pub(super) fn unusable(&self, reason: Option<String>) -> OpenError {
        OpenError::Unusable(LoadFailure {
            origin: self.origin.clone(),
            name: text(&self.entry.name).into_owned(),
            library: text(&self.entry.library).into_owned(),
            reason,
        })
    }
}

impl<T: Copy> Dynamic<T> {
    pub(super) fn ticket(&mut self, from_static: bool) -> Ticket<T> {
        self.opens += 1;
        Ticket { table: self.table, identity: self.identity.clone(), from_static }
    }
}
