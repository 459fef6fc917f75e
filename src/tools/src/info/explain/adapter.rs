//! One adapter: its entry, its library, and what dat_ia_open says.

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};

use dat_registry::loader::beside;
use dat_registry::search::Found;
use dat_registry::select::select;
use dat_registry::{Entry, Identity, Missing, Origin, Request, Source};

use super::configuration::quoted;
use super::rdma::Host;
use super::step::{Chapter, Step};
use super::{rdma, shm};
use crate::dat::Library;
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

/// What an explanation of an adapter is made from.
pub struct Subject<'a> {
    /// The name that is opened.
    pub name: &'a str,
    /// The library that opens it.
    pub library: Library,
    /// What the search for the configuration found.
    pub found: &'a Found,
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
        if let Some((_, entry)) = entry {
            let file = self.library_file(entry);
            steps.push(self.library_step(entry, file.as_deref()));
            kind = self::kind(&file.unwrap_or_else(|| words(&entry.library).into()));
        }
        match (kind, &self.probe.answer) {
            (Kind::Shm, _) => {
                steps.extend(shm::explain(&words(&entry.expect("the kind is of an entry").1.instance_data)));
            }
            (Kind::Verbs, Ok(opened)) => {
                steps.extend(opened.address.and_then(|address| rdma::own_port(self.host, address)));
            }
            (Kind::Verbs, Err(_)) => steps.extend(rdma::explain(self.host, self.netdev(entry), true)),
            (Kind::Other, _) => {}
        }
        steps.push(self.opening());
        Chapter { title: format!("dat_ia_open \"{}\"", self.name), steps }
    }

    /// The network interface that an entry of verbs is about: the first word of its instance data, if there is one of this
    /// name.
    fn netdev<'a>(&self, entry: Option<&'a (Origin, Entry)>) -> Option<&'a str> {
        let word = entry.and_then(|(_, entry)| entry.instance_data.to_str().ok()?.split_whitespace().next());
        let known = |word: &&str| self.host.interfaces.iter().any(|(name, _)| name == word);
        word.filter(known)
    }

    /// The entry that serves a program, by the registry's own rule.
    fn entry(&self, steps: &mut Vec<Step>) -> Option<&(Origin, Entry)> {
        let name = CString::new(self.name).unwrap_or_default();
        let request = Request { name: &name, major: VERSION.major, minor: VERSION.minor, thread_safe: false };
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
                steps.extend(self.missing(&name, missing));
                None
            }
        }
    }

    /// Why no entry serves.
    fn missing(&self, name: &CStr, missing: Missing) -> Vec<Step> {
        let mut names: Vec<String> = self.found.entries.iter().map(|(_, entry)| words(&entry.name)).collect();
        names.dedup();
        let there_are =
            if names.is_empty() { "there is none".to_owned() } else { format!("there are: {}", names.join(" ")) };
        match missing {
            Missing::Name => {
                if let Some((origin, bad)) = self.found.bad.iter().find(|(_, bad)| bad.name.as_deref() == Some(name)) {
                    return vec![Step::wrong(format!("the entry of this name is ignored: {origin}: {}", bad.fault))];
                }
                if self.found.other_versions.contains(name) {
                    return self.offer(Step::wrong(format!(
                        "the entries of this name are for another version of the interface than {}.{}; {there_are}",
                        VERSION.major, VERSION.minor
                    )));
                }
                self.offer(Step::wrong(format!("no entry has this name; {there_are}")))
            }
            Missing::Major | Missing::Minor => vec![Step::wrong(format!(
                "no entry of this name is for version {}.{} of the interface",
                VERSION.major, VERSION.minor
            ))],
            Missing::ThreadSafety => vec![Step::wrong("no entry of this name is thread-safe")],
        }
    }

    /// What gives an adapter of this name: a line in the file that counts, or an RDMA device for a built-in entry.
    fn offer(&self, step: Step) -> Vec<Step> {
        let netdev = self.name.strip_prefix("verbs-").filter(|netdev| !netdev.is_empty());
        let (library, instance) = match netdev {
            Some(netdev) => ("libdaplverbs.so.1", format!("{netdev} 0")),
            None if self.name == "shm" => ("libdaplshm.so.1", String::new()),
            None => return vec![step],
        };
        let lines = self.found.entries.iter().map(|(origin, _)| origin);
        let file =
            lines.chain(self.found.bad.iter().map(|(origin, _)| origin)).find_map(|origin| match &origin.source {
                Source::File(path) => Some(path.as_path()),
                Source::BuiltIn => None,
            });
        if let Some(file) = file {
            return vec![match line(self.name, library, &instance) {
                Some(line) => step.mend(append(&line, file)),
                None => step,
            }];
        }
        let Some(netdev) = netdev else { return vec![step] };
        let mut names: Vec<&str> = self.host.interfaces.iter().map(|(name, _)| name.as_str()).collect();
        names.dedup();
        if !names.contains(&netdev) {
            let names = names.join(" ");
            return vec![
                step,
                Step::wrong(format!("no network interface {netdev} has an address; there are: {names}")),
            ];
        }
        let mut steps = vec![step];
        steps.extend(rdma::explain(self.host, Some(netdev), true));
        steps
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

    fn library_step(&self, entry: &Entry, file: Option<&Path>) -> Step {
        let library = words(&entry.library);
        let said = self.probe.messages.iter().find_map(|line| line.split_once(&format!("cannot use {library}: ")));
        match (said, file) {
            (Some((_, reason)), file) => {
                let at = file.map_or(library, |file| file.display().to_string());
                let step = Step::wrong(format!("its library {at} cannot be used: {reason}"));
                match package(reason).filter(|_| self.host.apt) {
                    Some(package) => step.mend(format!("apt-get install {package}")),
                    None => step,
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
                Step::wrong(format!("it does not open: {why}{said}"))
            }
        }
    }
}

/// The line of an entry; none for a name that has to be quoted there.
fn line(name: &str, library: &str, instance: &str) -> Option<String> {
    let plain = |letter: char| !letter.is_whitespace() && !letter.is_control() && !"\"'\\#".contains(letter);
    (!name.is_empty() && name.chars().all(plain))
        .then(|| format!("{name} u1.2 threadsafe default {library} libdat.1.2 \"{instance}\" \"\""))
}

/// The command that adds a line to a file, whose last line may lack its end.
fn append(line: &str, file: &Path) -> String {
    format!("printf '\\n%s\\n' {} | sudo tee -a {}", quoted(line), quoted(file))
}

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
    use super::*;

    #[test]
    fn providers_are_known_by_the_names_of_their_files() {
        assert_eq!(kind(Path::new("/x/libdaplshm.so.1")), Kind::Shm);
        assert_eq!(kind(Path::new("libdaplcma.so.1")), Kind::Verbs);
        assert_eq!(kind(Path::new("/x/libacme.so")), Kind::Other);
    }

    #[test]
    fn a_line_is_added_as_a_line_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("a b.conf");
        std::fs::write(&file, "a line without its end").unwrap();
        let line = line("verbs-$(x)", "libdaplverbs.so.1", "$(x) 0").unwrap();
        // The file is that of this user.
        let command = append(&line, &file).replace("sudo ", "");
        assert!(
            std::process::Command::new("sh").args(["-c", &command]).output().unwrap().status.success(),
            "{command}"
        );
        assert_eq!(
            std::fs::read_to_string(&file).unwrap(),
            "a line without its end\nverbs-$(x) u1.2 threadsafe default libdaplverbs.so.1 libdat.1.2 \"$(x) 0\" \"\"\n"
        );
    }

    #[test]
    fn names_that_would_be_more_than_a_word_get_no_line() {
        for name in
            ["verbs-a b", "verbs-a\"b", "verbs-a'b", "verbs-a\nb", "verbs-a\\b", "verbs-#", "verbs-\u{1b}[0m", ""]
        {
            assert_eq!(line(name, "libdaplverbs.so.1", "a 0"), None, "{name:?}");
        }
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
