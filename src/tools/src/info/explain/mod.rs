//! `--explain`: what dat_ia_open does, step by step, with the section of docs/troubleshooting.md for each failure.
//!
//! The steps up to the provider's library are those of the registry's own code. What comes then, only the provider knows:
//! the adapter is opened, and what it needs is looked at.

pub(super) mod adapter;
mod configuration;
mod rdma;
pub(super) mod shm;
mod step;
mod tcp;
mod topic;

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};

use dat::{Adapter, Api, Library, Request};
use dat_registry::loader::beside;
use dat_registry::search::{Found, Places};
use serde_json::json;

use super::listing::{entry_of, probe_all};
use super::probe::{Probe, probe};
use super::{hidden, load, shown, words};
use crate::print::{self, HEADING, styled};
use crate::shell::operand;
use crate::tool::{self, Absent, Common, Outcome};
use adapter::{Kind, Subject};
use configuration::Configuration;
use rdma::Host;
use step::{Chapter, Step};
use topic::Topic;

/// What there is for programs of one version, or of several.
#[derive(Default)]
struct Account {
    chapters: Vec<Chapter>,
    /// The versions.
    versions: Vec<Api>,
    /// The names with which programs open an adapter, each once with the versions that do.
    works: Vec<(CString, Vec<Api>)>,
    /// Libraries that programs do not find.
    hidden: Vec<String>,
    /// The file that counts, if it has no line for shm.
    lacks_shm: Option<PathBuf>,
    /// Whether an adapter opens that is served by verbs.
    has_rdma: bool,
    /// Set if an adapter over TCP opens.
    has_tcp: bool,
}

/// Explains one adapter, or all, for programs of each version.
pub fn run(name: Option<&CStr>, common: &Common) -> anyhow::Result<Outcome> {
    let loaded = load(common);
    let host = Host::this();
    let has = |all: &[Adapter]| name.is_none_or(|name| all.iter().any(|one| *one.name == *name));
    // An adapter that only some versions have is explained for these.
    let somewhere = loaded.iter().flatten().any(|(_, adapters)| has(adapters));
    let any = loaded.iter().any(Result::is_ok);
    let gives = loaded.iter().flatten().any(|(_, adapters)| !adapters.is_empty());
    let mut all = Account::default();
    let mut failure = None;
    for loaded in &loaded {
        match loaded {
            Ok((_, adapters)) if somewhere && !has(adapters) => {}
            Ok((own, adapters)) => {
                let library = own.library;
                let configuration =
                    configuration::explain(&Places::of_library(library.path()), library.api(), name, gives);
                all.add(account(own, adapters, configuration, name, common, &host));
            }
            // Who asks for no version may have one alone.
            Err(error) if any && name.is_some() && error.is::<Absent>() => {}
            Err(error) => {
                let lost =
                    Step::wrong_if(!any || !error.is::<Absent>(), format!("{error:#}")).see(Topic::LibraryNotFound);
                all.chapters.push(Chapter { title: "Library".to_owned(), steps: vec![lost] });
                failure.get_or_insert_with(|| format!("{error:#}"));
            }
        }
    }
    if any && name.is_none() {
        let title = if all.has_rdma { "RDMA" } else { "RDMA between hosts" };
        let lacking = loaded.iter().flatten().filter_map(|(own, _)| without_verbs(own.library));
        let steps = lacking.chain(rdma::explain(&host, None, false)).collect();
        all.chapters.push(Chapter { title: title.to_owned(), steps });
    }
    if common.json {
        let works: Vec<String> = all.works.iter().map(|(name, _)| words(name)).collect();
        let mut object = json!({ "chapters": all.chapters, "works": works });
        if let Some(error) = failure.filter(|_| !any) {
            object["error"] = error.into();
        }
        print::line(format_args!("{object:#}"))?;
    } else {
        for chapter in &all.chapters {
            print::line(chapter.text())?;
        }
        if any {
            show_end(&all, name)?;
        }
    }
    let wrong = all.chapters.iter().any(Chapter::is_wrong);
    Ok(if wrong { Outcome::Failure } else { Outcome::Fine })
}

impl Account {
    fn add(&mut self, other: Account) {
        self.chapters.extend(other.chapters);
        for (name, versions) in other.works {
            match self.works.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => known.extend(versions),
                None => self.works.push((name, versions)),
            }
        }
        self.versions.extend(other.versions);
        self.hidden.extend(other.hidden);
        self.lacks_shm = self.lacks_shm.take().or(other.lacks_shm);
        self.has_rdma |= other.has_rdma;
        self.has_tcp |= other.has_tcp;
    }
}

/// What there is for programs of the version that a library has.
fn account(
    own: &tool::Found,
    adapters: &[Adapter],
    Configuration { found, file, steps }: Configuration,
    name: Option<&CStr>,
    common: &Common,
    host: &Host,
) -> Account {
    let library = own.library;
    let hidden = hidden(own).into_iter().collect();
    let same = compare(library, &found, adapters, name);
    let own = own_file(library.path().as_deref(), own.missed.as_deref());
    let title = |about: &str| format!("{about} of programs of uDAPL {}", library.api());
    let mut chapters = vec![
        Chapter { title: library.api().library().to_owned(), steps: [own].into_iter().chain(same).collect() },
        Chapter { title: title("Configuration"), steps },
    ];
    let asked = name.is_some();
    let explain = |name: &CStr, demand: Request, probe: &Probe| {
        let shares = adapters.iter().filter(|one| *one.name == *name).count() > 1;
        let (found, file) = (&found, file.as_deref());
        Subject { name, demand, asked, shares, library, found, file, probe, host }.explain()
    };
    let all = probe_all(adapters, common.library.as_deref());
    let mut works = working(&all, library.api());
    match name {
        Some(name) => {
            let demand = Request::of(library.api());
            let probe = probe(name, demand, common.library.as_deref());
            chapters.push(explain(name, demand, &probe));
            // Not every name that opens is listed.
            if probe.answer.is_ok() && !works.iter().any(|known| **known == *name) {
                works.push(name.to_owned());
            }
        }
        None => {
            // Of adapters over RDMA, a file of a distribution has dozens.
            let needs_device = |(adapter, probe): &&(&Adapter, Probe)| {
                let entry = entry_of(&found, adapter);
                probe.answer.is_err() && entry.is_some_and(|(_, entry)| adapter::kind_of(entry) == Kind::Verbs)
            };
            let without: Vec<_> =
                if host.has_device() { Vec::new() } else { all.iter().filter(needs_device).collect() };
            let together = without.len() > 1;
            let others = all.iter().filter(|one| !together || !needs_device(one));
            chapters.extend(others.map(|(adapter, probe)| explain(&adapter.name, adapter.request, probe)));
            if together {
                let names: Vec<String> = without.iter().map(|(adapter, _)| words(&adapter.name)).collect();
                let text = format!("this host has no RDMA device, which all of them need: {}", names.join(" "));
                let title = format!("dat_ia_open of {} adapters over RDMA, version {}", names.len(), library.api());
                chapters.push(Chapter { title, steps: vec![Step::wrong(text).see(Topic::NoRdmaDevice)] });
            }
        }
    }
    let libraries = all.iter().filter_map(|(_, probe)| probe.answer.as_ref().ok()?.library.as_deref());
    let kinds: Vec<Kind> = libraries.map(adapter::kind).collect();
    let (has_rdma, has_tcp) = (kinds.contains(&Kind::Verbs), kinds.contains(&Kind::Tcp));
    let has_shm = found.entries.iter().any(|(_, entry)| adapter::kind_of(entry) == Kind::Shm);
    let works = works.into_iter().map(|name| (name, vec![library.api()])).collect();
    let versions = vec![library.api()];
    Account { chapters, versions, works, hidden, lacks_shm: file.filter(|_| !has_shm), has_rdma, has_tcp }
}

/// That the provider for RDMA is not beside a library: it is a package of its own, and not every build has it.
fn without_verbs(library: Library) -> Option<Step> {
    let (provider, package) = match library.api() {
        Api::V12 => (c"libdaplverbs.so.1", "libdat1-verbs"),
        Api::V20 => (c"libdaplverbs.so.2", "libdat2-2-verbs"),
    };
    let is_there = beside(provider, library.path()?).ok()?.is_some();
    let (provider, own) = (words(provider), library.api().library());
    let text = format!("{provider} is not in the directory of {own}: for RDMA, install it, or the package {package}");
    (!is_there).then(|| Step::note(text).see(Topic::ProviderLibrary))
}

/// The names with which a program of this version opens an adapter, each once.
fn working(all: &[(&Adapter, Probe)], api: Api) -> Vec<CString> {
    let mut names = Vec::new();
    for (adapter, probe) in all {
        let serves = adapter.request.version.1 >= api.version().1;
        if serves && probe.answer.is_ok() && !names.contains(&adapter.name) {
            names.push(adapter.name.clone());
        }
    }
    names
}

/// The file of the library, and whether programs find it as well.
///
/// # Parameters
/// * `missed` - why the loader found none, if this is the one beside the tool.
fn own_file(path: Option<&Path>, missed: Option<&str>) -> Step {
    match (path, missed) {
        (None, _) => Step::ok("its file is unknown"),
        (Some(path), None) => Step::ok(path.display().to_string()),
        (Some(path), Some(reason)) => Step::note(format!(
            "{}: it is installed together with this tool, which found it there, but the loader does not find it: {reason}",
            path.display()
        ))
        .see(Topic::LibraryNotFound),
    }
}

/// Whether the library lists what the rules here give. Another maker's library may have rules of its own; it is wrong if it
/// lacks the name that is asked for.
fn compare(library: Library, found: &Found, adapters: &[Adapter], name: Option<&CStr>) -> Option<Step> {
    let same = adapters.len() == found.entries.len() && adapters.iter().all(|one| entry_of(found, one).is_some());
    let names = |names: Vec<String>| if names.is_empty() { "nothing".to_owned() } else { names.join(" ") };
    (!same).then(|| {
        let listed = names(adapters.iter().map(|adapter| words(&adapter.name)).collect());
        let lacks = name.is_some_and(|name| {
            found.entries.iter().any(|(_, entry)| *entry.name == *name) && !adapters.iter().any(|one| *one.name == *name)
        });
        let text = format!(
            "it lists other adapters than the configuration defines: {listed}\nit may be the library of another vendor, or of \
             another version than this tool; which one the loader takes for {}, LD_LIBRARY_PATH says first",
            library.api().library()
        );
        Step::wrong_if(lacks, text).see(Topic::LibraryNotFound)
    })
}

/// Shows people what they can do now.
fn show_end(
    Account { versions, works, hidden, lacks_shm, has_rdma, has_tcp, .. }: &Account,
    name: Option<&CStr>,
) -> anyhow::Result<()> {
    print::line(styled(HEADING, "In short"))?;
    let of_name = name.and_then(|name| works.iter().find(|(known, _)| **known == *name));
    if let Some(name) = name.filter(|_| of_name.is_none()) {
        print::line(format_args!("  {} does not open; what is WRONG above is why.", shown(&words(name))))?;
    }
    match &**works {
        [] => print::line("  No adapter opens yet; what is WRONG above is why.")?,
        [first, ..] => {
            // With the versions whose programs open it, if others do not.
            let named = |(name, of): &(CString, Vec<Api>)| {
                let of: Vec<String> = of.iter().filter(|_| of.len() < versions.len()).map(Api::to_string).collect();
                let of = if of.is_empty() { String::new() } else { format!(" ({})", of.join(", ")) };
                shown(&words(name)) + &of
            };
            let some: Vec<String> = works.iter().map(named).collect();
            let (name, of) = of_name.unwrap_or(first);
            print::line(format_args!("  Works now: {}. Try it: {}", some.join(", "), trial(name, of)))?;
        }
    }
    for text in hidden {
        print::line(format_args!("  {}", shown(text)))?;
    }
    if let Some(file) = lacks_shm {
        let (file, place) = (shown(&file.to_string_lossy()), Topic::NoEntry.place());
        print::line(format_args!("  {file} has no line for shm, which connects processes of this host: {place}"))?;
    }
    if name.is_none() && !has_rdma {
        print::line(if *has_tcp {
            "  shm connects processes of this host, tcp connects hosts. RDMA is faster: the section above lists the missing parts."
        } else {
            "  shm connects processes of this host. Between hosts RDMA is needed: the section above lists the missing parts."
        })?;
    }
    Ok(())
}

/// The command that tries an adapter, which programs of these versions open.
fn trial(name: &CStr, versions: &[Api]) -> String {
    let operand = operand(name.to_bytes());
    let api = if versions.contains(&Api::V12) { "" } else { " --api 2.0" };
    if operand.starts_with("-- ") {
        format!("dat-ping --self --count 3{api} {operand}")
    } else {
        format!("dat-ping {operand} --self --count 3{api}")
    }
}
