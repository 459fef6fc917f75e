//! One adapter: its entry, its library, and what dat_ia_open says.

use std::ffi::CStr;
use std::path::{Path, PathBuf};

use dat::{Library, Request as Demand};
use dat_registry::conf::Instance;
use dat_registry::loader::beside;
use dat_registry::search::Found;
use dat_registry::select::select;
use dat_registry::{Entry, Identity, Missing, Origin, Request};

use super::rdma::Host;
use super::step::{Chapter, Finding, Step};
use super::topic::Topic;
use super::{rdma, shm, tcp};
use crate::info::probe::Probe;
use crate::info::words;

/// The provider behind an adapter, as far as it needs something that can be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Between processes of one host.
    Shm,
    /// Over RDMA.
    Verbs,
    /// Over TCP.
    Tcp,
    /// Of somebody else.
    Other,
}

/// The kind of a provider's library, by its name or by that of the file to which it is a link.
pub fn kind(library: &Path) -> Kind {
    let real = library.canonicalize().unwrap_or_else(|_| library.to_owned());
    let names = [&real, library].map(|path: &Path| path.file_name().unwrap_or_default().to_string_lossy());
    let begins = |with: &str| names.iter().any(|name| name.starts_with(with));
    match () {
        () if begins("libdaplshm.") => Kind::Shm,
        () if ["libdaplverbs.", "libdaplcma.", "libdaplscm."].into_iter().any(begins) => Kind::Verbs,
        () if begins("libdapltcp.") => Kind::Tcp,
        () => Kind::Other,
    }
}

/// The kind that an entry asks for.
pub fn kind_of(entry: &Entry) -> Kind {
    kind(Path::new(&words(&entry.library)))
}

/// What an explanation of an adapter is made from.
pub struct Subject<'a> {
    /// The name that is opened.
    pub name: &'a CStr,
    /// What else the program asks for.
    pub demand: Demand,
    /// Whether somebody asks for this adapter, and not for all.
    pub asked: bool,
    /// Whether several entries have this name.
    pub shares: bool,
    /// The library that opens it.
    pub library: Library,
    /// What the search for the configuration found.
    pub found: &'a Found,
    /// The file that counts, if it is one.
    pub file: Option<&'a Path>,
    /// What came of opening it.
    pub probe: &'a Probe,
    pub host: &'a Host,
}

impl Subject<'_> {
    /// The steps of dat_ia_open.
    pub fn explain(&self) -> Chapter {
        let mut steps = Vec::new();
        let entry = self.entry(&mut steps);
        let mut kind = Kind::Other;
        if let Some(entry) = entry {
            let file = self.library_file(entry.1);
            steps.push(self.library_step(entry.1, file.as_deref()));
            kind = file.as_deref().map_or_else(|| kind_of(entry.1), self::kind);
        }
        let mut wanted = true;
        match (kind, entry, &self.probe.answer) {
            (Kind::Shm, Some(entry), answer) => {
                steps.extend(shm::explain(&words(&entry.1.instance_data), answer.is_ok()));
            }
            (Kind::Verbs, _, Ok(opened)) => {
                steps.extend(opened.address.and_then(|address| rdma::own_port(self.host, address)));
            }
            (Kind::Verbs, Some(entry), Err(_)) => steps.extend(self.devices(entry.1)),
            (Kind::Tcp, Some((origin, _)), Err(_)) => {
                // A host without a network is no fault unless the user or a configuration asks for the adapter.
                let matters = self.asked || *origin != Origin::BuiltIn;
                let lacking = tcp::explain(&self.probe.messages, matters);
                wanted = matters || lacking.is_none();
                steps.extend(lacking);
            }
            _ => {}
        }
        let alone = steps.iter().all(|step| step.state != Finding::Wrong);
        steps.push(self.opening(kind == Kind::Shm && alone, wanted));
        let api = self.library.api();
        if self.demand.version.1 < api.version().1 {
            let text = format!("a program of version {api} does not get it: its line is for {}", self.demand);
            steps.push(Step::note(text));
        }
        let demand = if self.shares { self.demand.to_string() } else { api.to_string() };
        Chapter { title: format!("dat_ia_open \"{}\", version {demand}", words(self.name)), steps }
    }

    /// The entry that serves a program, by the registry's own rule.
    fn entry(&self, steps: &mut Vec<Step>) -> Option<(&Origin, &Entry)> {
        let Demand { version: (major, minor), thread_safe } = self.demand;
        let request = Request { name: self.name, major, minor, thread_safe };
        let unlisted = self.found.unlisted.iter().map(|entry| (&Origin::BuiltIn, entry));
        let entries = self.found.entries.iter().map(|(origin, entry)| (origin, entry)).chain(unlisted);
        let identities: Vec<Identity> = entries.clone().map(|(_, entry)| entry.identity()).collect();
        match select(&request, identities.iter()) {
            Ok(chosen) => {
                let (origin, entry) = entries.into_iter().find(|(_, entry)| entry.identity() == *chosen)?;
                steps.push(Step::ok(match origin {
                    Origin::Line(..) => format!("the entry of this name: {origin}"),
                    Origin::BuiltIn => "the entry of this name is built in".to_owned(),
                }));
                Some((origin, entry))
            }
            Err(missing) => {
                steps.extend(self.missing(missing));
                None
            }
        }
    }

    /// Why no entry serves.
    fn missing(&self, missing: Missing) -> Vec<Step> {
        let (major, minor) = self.demand.version;
        let mut names: Vec<String> = self.found.entries.iter().map(|(_, entry)| words(&entry.name)).collect();
        names.dedup();
        let there_are =
            if names.is_empty() { "there is none".to_owned() } else { format!("there are: {}", names.join(" ")) };
        let mut topic = Topic::NoEntry;
        let text = match missing {
            Missing::Name => {
                let bad = self.found.bad.iter().find(|(_, bad)| bad.name.as_deref() == Some(self.name));
                match bad {
                    Some((origin, bad)) => {
                        topic = Topic::IgnoredLine;
                        format!("the entry of this name is ignored: {origin}: {}", bad.fault)
                    }
                    None if self.found.other_versions.contains(self.name) => format!(
                        "the entries of this name are for another version of the interface than {major}.{minor}; {there_are}"
                    ),
                    None => format!("no entry has this name; {there_are}"),
                }
            }
            Missing::Major | Missing::Minor => {
                format!("no entry of this name is for version {major}.{minor} of the interface; {there_are}")
            }
            Missing::ThreadSafety => "no entry of this name is thread-safe".to_owned(),
        };
        let step = Step::wrong(text).see(topic);
        // A built-in entry comes with its device.
        let name = words(self.name);
        let device = match (self.file, name.strip_prefix("verbs-"), name.strip_prefix("tcp-")) {
            (None, Some(netdev), _) => rdma::explain(self.host, Some(netdev), true),
            (None, _, Some(netdev)) => tcp::missing(netdev).into_iter().collect(),
            _ => Vec::new(),
        };
        std::iter::once(step).chain(device).collect()
    }

    /// What an adapter over RDMA needs. What else its line may name wrongly, the provider says.
    fn devices(&self, entry: &Entry) -> Vec<Step> {
        let wanted = Instance::parse(&words(&entry.name), &words(&entry.instance_data)).ok();
        let netdev = wanted.as_ref().and_then(|wanted| wanted.word.split(':').next());
        let is_here =
            |netdev: &&str| self.host.interfaces.iter().any(|(own, _)| own.split(':').next() == Some(*netdev));
        rdma::explain(self.host, netdev.filter(is_here), true)
    }

    /// The file of the library of an entry: beside the library of programs, at a path, or the one that the loader found.
    fn library_file(&self, entry: &Entry) -> Option<PathBuf> {
        if let Ok(opened) = &self.probe.answer {
            if let Some(file) = &opened.library {
                return Some(file.clone());
            }
        }
        if entry.library.to_bytes().contains(&b'/') {
            let path = PathBuf::from(words(&entry.library));
            return path.exists().then_some(path);
        }
        let own = self.library.path()?;
        let found = beside(&entry.library, own).ok().flatten()?;
        Some(words(&found).into())
    }

    fn library_step(&self, entry: &Entry, file: Option<&Path>) -> Step {
        let library = words(&entry.library);
        let said = self.probe.messages.iter().find_map(|line| line.split_once(&format!("cannot use {library}: ")));
        match (said, file) {
            (Some((_, reason)), file) => {
                let at = file.map_or(library, |file| file.display().to_string());
                Step::wrong(format!("its library {at} cannot be used: {reason}")).see(Topic::ProviderLibrary)
            }
            (None, Some(file)) => Step::ok(format!("its library {library}: {}", file.display())),
            (None, None) => {
                let own = self.library.api().library();
                Step::note(format!("its library {library} is not in the directory of {own}; the loader looks for it"))
            }
        }
    }

    /// What dat_ia_open said.
    ///
    /// # Parameters
    /// * `by_directory` - nothing but the directory of shm can be why it fails.
    /// * `wanted` - whether it is wrong that it does not open.
    fn opening(&self, by_directory: bool, wanted: bool) -> Step {
        match &self.probe.answer {
            Ok(opened) => {
                let address =
                    opened.address.map_or("without an IP address".to_owned(), |address| format!("address {address}"));
                Step::ok(format!("it opens, {address}"))
            }
            Err(why) => {
                let said: String = self.probe.messages.iter().map(|line| format!("\n{line}")).collect();
                let topic = match by_directory {
                    _ if said.contains(" may be its line: ") => Topic::IgnoredLine,
                    _ if said.contains(": cannot use ") => Topic::ProviderLibrary,
                    _ if why.contains("DAT_NAME_NOT_REGISTERED") => Topic::NoEntry,
                    true => Topic::RendezvousDirectory,
                    false if said.contains("looked for ") && !self.host.has_device() => Topic::NoRdmaDevice,
                    false if said.contains("instance data ") || said.contains("looked for ") => Topic::InstanceData,
                    false => Topic::DoesNotOpen,
                };
                Step::wrong_if(wanted, format!("it does not open: {why}{said}")).see(topic)
            }
        }
    }
}

#[cfg(test)]
mod tests;
