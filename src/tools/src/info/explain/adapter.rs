//! One adapter: its entry, its library, and the result of dat_ia_open.

use std::ffi::CStr;
use std::path::{Path, PathBuf};

use dat::{Library, Request};
use dat_census::copies::own_obstacle;
use dat_registry::loader::beside;
use dat_registry::search::Found;
use dat_registry::select::select;
use dat_registry::{self as registry, Entry, Identity, Origin};
use host::net;
use host::topic::Topic;
use rustix::process::geteuid;

use super::rdma::Host;
use super::step::{Chapter, Step};
use crate::info::probe::{Message, Probe};
use crate::info::{outdated, words};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Shm,
    Verbs,
    Tcp,
    Other,
}

/// Returns the provider in a library, by the name of the file, or of its target if it is a symbolic link.
pub fn kind(library: &Path) -> Kind {
    let real = library.canonicalize().unwrap_or_else(|_| library.to_owned());
    let names = [&real, library].map(|path: &Path| path.file_name().unwrap_or_default().to_string_lossy());
    let begins = |with: &str| names.iter().any(|name| name.starts_with(with));
    match () {
        () if begins("libdaplshm.") => Kind::Shm,
        () if ["libdaplverbs.", "libdaplcma.", "libdaplscm.", "libdaplo"].into_iter().any(begins) => Kind::Verbs,
        () if begins("libdapltcp.") => Kind::Tcp,
        () => Kind::Other,
    }
}

pub fn kind_of(entry: &Entry) -> Kind {
    kind(Path::new(&words(&entry.library)))
}

pub struct Subject<'a> {
    pub name: &'a CStr,
    pub request: Request,
    /// Set if the user named this adapter; clear if dat-info explains all.
    pub asked: bool,
    /// Set if several entries have this name.
    pub shares: bool,
    pub library: Library,
    /// The entries that this tool's registry found.
    pub found: &'a Found,
    pub file: Option<&'a Path>,
    pub probe: &'a Probe,
    pub host: &'a Host,
}

impl Subject<'_> {
    pub fn explain(&self) -> Chapter {
        let entry = self.entry();
        let mut steps = Vec::new();
        if let Some((origin, entry)) = entry {
            steps.push(Step::ok(match origin {
                Origin::Line(..) => format!("the entry of this name: {origin}"),
                Origin::BuiltIn if self.found.unlisted.contains(entry) => {
                    "the entry of this name is built in, and is not listed for programs that search for an adapter"
                        .to_owned()
                }
                Origin::BuiltIn => "the entry of this name is built in".to_owned(),
            }));
            // A message with this topic already names the library.
            if self.probe.topic() != Some(Topic::ProviderLibrary) {
                let (file, library) = (self.library_file(entry), words(&entry.library));
                let own = self.library.api().library();
                steps.push(match &file {
                    Some(file) => Step::ok(format!("its library {library}: {}", file.display())),
                    None => Step::note(format!(
                        "its library {library} is not in the directory of {own}; the loader searches for it"
                    )),
                });
                let kind = file.as_deref().map_or_else(|| kind_of(entry), kind);
                steps.extend(self.place(entry, kind));
                if kind == Kind::Shm && self.probe.answer.is_ok() {
                    steps.push(copies());
                }
            }
        }
        steps.push(self.opening(entry.is_some_and(|(origin, _)| *origin == Origin::BuiltIn)));
        match &self.probe.answer {
            Ok(_) => {
                let step = |one: &Message| Some(Step::wrong_if(one.is_error, one.words()).see(one.topic?));
                steps.extend(self.probe.messages.iter().filter_map(step));
            }
            Err(_) if entry.is_none() && self.file.is_none() => steps.extend(lacks_device(&words(self.name))),
            Err(_) => {}
        }
        let api = self.library.api();
        steps.extend(outdated(self.request).map(|fault| Step::wrong(fault).see(Topic::IgnoredLine)));
        let request = if self.shares { self.request.to_string() } else { api.to_string() };
        Chapter { title: format!("dat_ia_open \"{}\", version {request}", words(self.name)), steps }
    }

    /// Returns the entry that the registry selects for the request, or `None` if there is none.
    fn entry(&self) -> Option<(&Origin, &Entry)> {
        let Request { version: (major, minor), thread_safe } = self.request;
        let request = registry::Request { name: self.name, major, minor, thread_safe };
        let mut entries = self.found.usable();
        let identities: Vec<Identity> = entries.clone().map(|(_, entry)| entry.identity()).collect();
        let chosen = select(&request, identities.iter()).ok()?;
        entries.find(|(_, entry)| entry.identity() == *chosen)
    }

    /// Returns the file of an entry's library: loaded by the probe, at the path in the entry, or next to the uDAPL
    /// library. `None` if there is no such file.
    fn library_file(&self, entry: &Entry) -> Option<PathBuf> {
        if let Some(file) = self.probe.answer.as_ref().ok().and_then(|opened| opened.library.as_ref()) {
            return Some(file.into());
        }
        if entry.library.to_bytes().contains(&b'/') {
            return Some(PathBuf::from(words(&entry.library))).filter(|path| path.exists());
        }
        let found = beside(&entry.library, self.library.path()?).ok().flatten()?;
        Some(words(&found).into())
    }

    /// Returns a step about what an adapter that opens depends on: shm's rendezvous directory, the RDMA port of verbs,
    /// or the loopback interface for tcp.
    fn place(&self, entry: &Entry, kind: Kind) -> Option<Step> {
        let opened = self.probe.answer.as_ref().ok()?;
        match kind {
            Kind::Shm => {
                let user = geteuid().as_raw();
                let directory = dat_census::directory(&words(&entry.instance_data), user);
                Some(Step::ok(format!(
                    "the rendezvous directory {} belongs to you, user {user}: processes of this user that see it reach \
                     each other",
                    directory.display()
                )))
            }
            Kind::Verbs => self.host.port_of(opened.address?),
            Kind::Tcp => {
                let is_up = self.host.interfaces.list.iter().any(|(_, address)| address.is_loopback());
                let down = "the loopback interface is down, so connections to this host time out: ip link set lo up";
                // If the list of interfaces is incomplete, it may lack the address.
                (!is_up && self.host.interfaces.failure.is_none()).then(|| Step::note(down))
            }
            Kind::Other => None,
        }
    }

    fn opening(&self, built_in: bool) -> Step {
        match &self.probe.answer {
            Ok(opened) => {
                let address =
                    opened.address.map_or("without an IP address".to_owned(), |address| format!("address {address}"));
                Step::ok(format!("it opens, {address}"))
            }
            Err(why) => {
                let topic = self.probe.topic().unwrap_or(Topic::DoesNotOpen);
                // A built-in entry without a network interface is a fault only if the user asks for it.
                let lacks_interface = matches!(topic, Topic::NoIpAddress | Topic::InstanceData);
                let matters = self.asked || !built_in || !lacks_interface;
                let messages: String = self.probe.errors().map(|message| format!("\n{}", message.text)).collect();
                Step::wrong_if(matters, format!("it does not open: {why}{messages}")).see(topic)
            }
        }
    }
}

/// Returns a step about whether processes can copy directly over shm.
fn copies() -> Step {
    match own_obstacle() {
        None => Step::ok("processes copy long messages and RDMA data directly, if the peer permits it"),
        Some(obstacle) => {
            let reason = obstacle.reason();
            let text =
                format!("processes copy long messages and RDMA data through shared memory, which is slower: {reason}");
            let step = Step::note(text);
            if Path::new("/proc/thread-self").exists() { step } else { step.see(Topic::ProcFileSystem) }
        }
    }
}

/// Returns why a name that could be built in has no entry. `None` for other names, or if the cause is unknown.
fn lacks_device(name: &str) -> Option<Step> {
    let (netdev, rdma) = match (name.strip_prefix("verbs-"), name.strip_prefix("tcp-")) {
        (Some(netdev), _) => (netdev, true),
        (_, Some(netdev)) => (netdev, false),
        _ => return None,
    };
    let names = match net::names(Path::new(net::PROC)) {
        Ok(names) => names,
        Err(error) => {
            let text = format!("cannot list the network interfaces: {error}");
            return Some(Step::wrong(text).see(Topic::InterfaceList));
        }
    };
    let all: Vec<String> = names.into_iter().map(|name| name.to_string_lossy().into_owned()).collect();
    if !all.iter().any(|name| name == netdev) {
        let text = format!("there is no network interface {netdev}; there are: {}", all.join(" "));
        return Some(Step::wrong(text).see(Topic::InstanceData));
    }
    rdma.then(|| Step::wrong(format!("{netdev} has no RDMA device")).see(Topic::NoRdmaDevice))
}

#[cfg(test)]
mod tests;
