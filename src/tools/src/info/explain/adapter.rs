//! One adapter: its entry, its library, and what dat_ia_open says.

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};

use dat_registry::loader::beside;
use dat_registry::search::Found;
use dat_registry::select::select;
use dat_registry::{Api, Entry, Identity, Missing, Origin, Request, Source};

use super::rdma::Host;
use super::shell::{append, as_root, comment_out, line, rewrite};
use super::step::{Chapter, Step};
use super::{MORE_FILES, rdma, shm, wish};
use crate::dat::{Demand, Library};
use crate::info::probe::Probe;
use crate::info::{VERSION, words};

/// The provider behind an adapter, as far as it needs something that can be looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Between processes of one host.
    Shm,
    /// Over RDMA.
    Verbs,
    /// Of somebody else.
    Other,
}

/// The kind of a provider's library, by its name or by that of the file to which it is a link.
pub fn kind(library: &Path) -> Kind {
    let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let real = library.canonicalize().unwrap_or_else(|_| library.to_owned());
    match [name(&real), name(library)] {
        names if names.iter().any(|name| name.starts_with("libdaplshm.")) => Kind::Shm,
        names
            if names
                .iter()
                .any(|name| ["libdaplverbs.", "libdaplcma.", "libdaplscm."].iter().any(|of| name.starts_with(of))) =>
        {
            Kind::Verbs
        }
        _ => Kind::Other,
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
    /// The host.
    pub host: &'a Host,
}

impl Subject<'_> {
    /// The steps of dat_ia_open.
    pub fn explain(&self) -> Chapter {
        let mut steps = Vec::new();
        let entry = self.entry(&mut steps);
        let mut kind = Kind::Other;
        if let Some(entry) = entry {
            let file = self.library_file(&entry.1);
            steps.push(self.library_step(entry, file.as_deref()));
            kind = file.as_deref().map_or_else(|| kind_of(&entry.1), self::kind);
        }
        match (kind, entry, &self.probe.answer) {
            (Kind::Shm, Some(entry), _) => steps.extend(shm::explain(entry)),
            (Kind::Verbs, _, Ok(opened)) => {
                steps.extend(opened.address.and_then(|address| rdma::own_port(self.host, address)));
            }
            (Kind::Verbs, Some(entry), Err(_)) => steps.extend(wish::explain(self.host, entry)),
            _ => {}
        }
        steps.push(self.opening());
        if (self.demand.version.0, self.demand.version.1) < (VERSION.major, VERSION.minor) {
            steps.push(Step::note(format!(
                "a program of version {}.{} does not get it: its line is for {}",
                VERSION.major, VERSION.minor, self.demand
            )));
        }
        let demand = if self.shares { format!(", version {}", self.demand) } else { String::new() };
        Chapter { title: format!("dat_ia_open \"{}\"{demand}", words(self.name)), steps }
    }

    /// The entry that serves a program, by the registry's own rule.
    fn entry(&self, steps: &mut Vec<Step>) -> Option<&(Origin, Entry)> {
        let Demand { version: (major, minor), thread_safe } = self.demand;
        let request = Request { name: self.name, major, minor, thread_safe };
        let identities: Vec<Identity> = self.found.entries.iter().map(|(_, entry)| entry.identity()).collect();
        match select(&request, identities.iter()) {
            Ok(chosen) => {
                let entry = self.found.entries.iter().find(|(_, entry)| entry.identity() == *chosen)?;
                steps.push(Step::ok(match entry.0.source {
                    Source::File(_) => format!("the entry of this name: {}", entry.0),
                    Source::BuiltIn => "the entry of this name is built in".to_owned(),
                }));
                Some(entry)
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
        let text = match missing {
            Missing::Name => {
                let bad = self.found.bad.iter().find(|(_, bad)| bad.name.as_deref() == Some(self.name));
                match bad {
                    Some((origin, bad)) => format!("the entry of this name is ignored: {origin}: {}", bad.fault),
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
        self.offer(Step::wrong(text))
    }

    /// What gives an adapter of this name: a line in the file that counts, or an RDMA device for a built-in entry.
    fn offer(&self, step: Step) -> Vec<Step> {
        const NAMES: &str = "dat-info";
        let name = words(self.name);
        let netdev = name.strip_prefix("verbs-").filter(|netdev| !netdev.is_empty());
        let (library, instance) = match netdev {
            Some(netdev) => ("libdaplverbs.so.1", format!("{netdev} 0")),
            None if name == "shm" => ("libdaplshm.so.1", String::new()),
            None => return vec![self.for_this_version(step, NAMES)],
        };
        if let Some(file) = self.file {
            let command = line(&name, library, &instance).map(|line| append(&line, file));
            return vec![step.mend(command.unwrap_or(NAMES.to_owned()))];
        }
        let Some(netdev) = netdev else { return vec![step] };
        let names = self.host.names();
        if !names.contains(&netdev) {
            let names = names.join(" ");
            return vec![
                step.mend(NAMES),
                Step::wrong(format!("no network interface {netdev} has an address; there are: {names}")),
            ];
        }
        let mut steps = vec![step];
        steps.extend(rdma::explain(self.host, Some(netdev), true));
        steps
    }

    /// A line for this version beside one for an older one, or the command that tells the names that there are.
    fn for_this_version(&self, step: Step, names: &str) -> Step {
        let older = self.found.entries.iter().find(|(_, entry)| *entry.name == *self.name);
        let line = older
            .filter(|(_, entry)| kind_of(entry) != Kind::Other)
            .and_then(|(_, entry)| line(&words(self.name), &words(&entry.library), &words(&entry.instance_data)));
        match (line, self.file) {
            (Some(line), Some(file)) => step.mend(append(&line, file)),
            _ => step.mend(names),
        }
    }

    /// The file of the library of an entry: beside libdat.so.1, at a path, or the one that the loader found.
    fn library_file(&self, entry: &Entry) -> Option<PathBuf> {
        if let Ok(opened) = &self.probe.answer
            && let Some(file) = &opened.library
        {
            return Some(file.clone());
        }
        if entry.library.to_bytes().contains(&b'/') {
            let path = PathBuf::from(words(&entry.library));
            return path.exists().then_some(path);
        }
        let own = self.library.path()?;
        let found = beside(&entry.library, own).ok().flatten()?;
        Some(words(&found).into())
    }

    fn library_step(&self, entry: &(Origin, Entry), file: Option<&Path>) -> Step {
        let library = words(&entry.1.library);
        let said = self.probe.messages.iter().find_map(|line| line.split_once(&format!("cannot use {library}: ")));
        match (said, file) {
            (Some((_, reason)), file) => {
                let at = file.map_or(library, |file| file.display().to_string());
                let step = Step::wrong(format!("its library {at} cannot be used: {reason}"));
                match package(reason).filter(|_| self.host.apt) {
                    Some(package) => step.mend(as_root(format!("apt-get install {package}"))),
                    None => mend_library(step, entry, reason),
                }
            }
            (None, Some(file)) => Step::ok(format!("its library {library}: {}", file.display())),
            (None, None) => {
                Step::note(format!("its library {library} is not beside libdat.so.1; the loader looks for it"))
            }
        }
    }

    /// What dat_ia_open said.
    fn opening(&self) -> Step {
        match &self.probe.answer {
            Ok(opened) => {
                let address =
                    opened.address.map_or("without an IP address".to_owned(), |address| format!("address {address}"));
                Step::ok(format!("it opens, {address}"))
            }
            Err(why) => {
                let said: String = self.probe.messages.iter().map(|line| format!("\n{line}")).collect();
                let step = Step::wrong(format!("it does not open: {why}{said}"));
                let lacks_files = step.text.contains("Too many open files");
                step.mends(lacks_files.then(|| MORE_FILES.to_owned()))
            }
        }
    }
}

/// What mends a line with a library that cannot be used.
fn mend_library(step: Step, (origin, entry): &(Origin, Entry), reason: &str) -> Step {
    let Source::File(_) = origin.source else {
        return step.more("it is installed together with libdat.so.1, in the same directory");
    };
    if let Some(library) = of_this_version(&words(&entry.library)) {
        let changed = Entry { library, ..entry.clone() };
        let Api { major, minor, .. } = entry.api;
        return step
            .more(format!("{origin}: the library is one for uDAPL 2.0, and the line for version {major}.{minor}"))
            .mends(rewrite(origin, &changed));
    }
    // A provider that was loaded and found nothing to serve says more than this.
    if reason == UNREGISTERED && kind_of(entry) != Kind::Other {
        return step;
    }
    step.more(format!("{origin}: install this library, name the right one in the line, or make the line a comment"))
        .mends(comment_out(origin))
}

/// The library that serves programs of version 1 as this one serves those of version 2.
fn of_this_version(library: &str) -> Option<CString> {
    let (folder, file) =
        library.rsplit_once('/').map_or(("", library), |(folder, file)| (&library[..=folder.len()], file));
    let kind = file.strip_prefix("libdapl")?.strip_suffix(".so.2")?;
    // All others that have a name of this form are names of verbs.
    let kind = if kind == "shm" { "shm" } else { "verbs" };
    CString::new(format!("{folder}libdapl{kind}.so.1")).ok()
}

/// The words of libdat for a provider that was loaded, and registered nothing.
const UNREGISTERED: &str = "the library did not register this adapter";

/// The package with a library that the loader did not find.
fn package(reason: &str) -> Option<&'static str> {
    let (before, _) = reason.split_once(": cannot open shared object file")?;
    let name = before.rsplit(' ').next()?.rsplit('/').next()?;
    match name {
        "libibverbs.so.1" => Some("libibverbs1 ibverbs-providers"),
        "librdmacm.so.1" => Some("librdmacm1"),
        name => match kind(Path::new(name)) {
            Kind::Shm => Some("libdat1"),
            Kind::Verbs => Some("libdat1-verbs"),
            Kind::Other => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::shell::tests::{entry, run};
    use super::*;

    #[test]
    fn providers_are_known_by_the_names_of_their_files() {
        assert_eq!(kind(Path::new("/x/libdaplshm.so.1")), Kind::Shm);
        assert_eq!(kind(Path::new("libdaplcma.so.1")), Kind::Verbs);
        assert_eq!(kind(Path::new("/x/libacme.so")), Kind::Other);
    }

    #[test]
    fn a_line_with_the_wrong_library_is_mended() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("dat.conf");
        let mended = |library: &str, reason: &str| {
            let line = format!("a u1.2 threadsafe default {library} A.1.0 \"x\" \"\"");
            std::fs::write(&file, format!("{line}\n")).unwrap();
            let step = mend_library(Step::wrong("x"), &entry(&file, 1, &line), reason);
            step.mend.iter().for_each(|command| drop(run(command)));
            std::fs::read_to_string(&file).unwrap()
        };
        let later = mended("libdaplshm.so.2", UNREGISTERED);
        assert_eq!(later, "a u1.2 threadsafe default libdaplshm.so.1 A.1.0 \"x\" \"\"\n");
        for reason in ["cannot open shared object file", "invalid ELF header", "the library has no dat_provider_init"] {
            assert!(mended("/x/libacme.so", reason).starts_with("# a u1.2 "), "{reason}");
        }
        assert!(mended("libdaplshm.so.1", UNREGISTERED).starts_with("a u1.2 "));
    }

    #[test]
    fn libraries_of_the_next_version_have_a_counterpart() {
        assert_eq!(of_this_version("libdaplshm.so.2").unwrap().as_c_str(), c"libdaplshm.so.1");
        assert_eq!(of_this_version("/x/libdaplofa.so.2").unwrap().as_c_str(), c"/x/libdaplverbs.so.1");
        assert_eq!(of_this_version("libdaplcma.so.1"), None);
        assert_eq!(of_this_version("libacme.so.2"), None);
    }

    #[test]
    fn the_package_of_a_missing_library_is_named() {
        let reason = |name: &str| format!("{name}: cannot open shared object file: No such file or directory");
        assert_eq!(package(&reason("libibverbs.so.1")), Some("libibverbs1 ibverbs-providers"));
        assert_eq!(package(&reason("libdaplverbs.so.1")), Some("libdat1-verbs"));
        assert_eq!(package(&reason("/opt/x/libdaplshm.so.1")), Some("libdat1"));
        assert_eq!(package(&reason("libacme.so")), None);
        assert_eq!(package("invalid ELF header"), None);
    }
}
