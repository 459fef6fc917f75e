//! `--explain`: the steps of dat_ia_open, and the section of docs/troubleshooting.md for each failure.
//!
//! The registry reports the steps up to the provider's library. Then the adapter is opened, and the provider's messages
//! report the cause and section of a failure.

pub(super) mod adapter;
mod configuration;
mod rdma;
mod step;

use std::ffi::{CStr, CString};
use std::path::{Path, PathBuf};

use dat::{Adapter, Api, Library, Request};
use dat_registry::loader::beside;
use dat_registry::search::{self, Places};
use host::topic::Topic;
use serde_json::json;

use super::listing::{entry_of, probe_all, shared_part};
use super::probe::{Probe, probe};
use super::{hidden, load, shown, words};
use crate::print::{self, HEADING, styled};
use crate::shell::operand;
use crate::tool::{Absent, Common, Found, Loaded, Outcome};
use adapter::{Kind, Subject};
use configuration::Configuration;
use rdma::Host;
use step::{Chapter, Step, place};

#[derive(Default)]
struct Account {
    /// Set to show the steps without a fault too, and all names of a group that fails for the same cause.
    everything: bool,
    chapters: Vec<Chapter>,
    versions: Vec<Api>,
    /// Names of adapters that open, each with the versions of the programs that can open it.
    works: Vec<(CString, Vec<Api>)>,
    hidden: Vec<String>,
    /// The configuration file, if no usable entry is for shm.
    lacks_shm: Option<PathBuf>,
    /// Providers of the adapters that open.
    kinds: Vec<Kind>,
}

/// Explains the adapter `name`, or all adapters. With `everything`, shows the steps without a fault too.
pub fn run(name: Option<&CStr>, common: &Common, everything: bool) -> anyhow::Result<Outcome> {
    let everything = everything || common.json || name.is_some();
    let loaded = load(common);
    let host = Host::this();
    let has = |all: &[Adapter]| name.is_none_or(|name| all.iter().any(|one| *one.name == *name));
    // If only some versions have the adapter, only these versions are explained.
    let somewhere = loaded.iter().flatten().any(|one| has(&one.adapters));
    let any = loaded.iter().any(Result::is_ok);
    let gives = loaded.iter().flatten().any(|one| !one.adapters.is_empty());
    let mut all = Account { everything, ..Account::default() };
    let mut failure = None;
    for loaded in &loaded {
        match loaded {
            // A library may lack the name because it is not libdat: show the hint.
            Ok(one) if somewhere && !has(&one.adapters) => {
                all.hidden.extend(hidden(&one.own).filter(|_| one.own.foreign));
            }
            Ok(one) => {
                let library = one.own.library;
                let configuration =
                    configuration::explain(&Places::of_library(library.path()), library.api(), name, gives);
                all.add(one, configuration, name, common, &host);
            }
            // For a named adapter, the library of one version suffices.
            Err(error) if any && name.is_some() && error.is::<Absent>() => {}
            Err(error) => {
                let text = format!("{error:#}");
                let lost = Step::wrong_if(!any || !error.is::<Absent>(), &*text).see(Topic::LibraryNotFound);
                all.chapters.push(Chapter { title: "Library".to_owned(), steps: vec![lost] });
                failure.get_or_insert(text);
            }
        }
    }
    if any && name.is_none() {
        let title = if all.kinds.contains(&Kind::Verbs) { "RDMA" } else { "RDMA between hosts" };
        let lacking = loaded.iter().flatten().filter_map(|one| without_verbs(one.own.library));
        all.chapters.push(Chapter { title: title.to_owned(), steps: lacking.chain(host.explain()).collect() });
    }
    if common.json {
        let works: Vec<String> = all.works.iter().map(|(name, _)| words(name)).collect();
        let mut object = json!({ "chapters": all.chapters, "works": works });
        if let Some(error) = failure.filter(|_| !any) {
            object["error"] = error.into();
        }
        print::line(format_args!("{object:#}"))?;
    } else {
        if any {
            show_summary(&all, name)?;
        }
        for text in all.chapters.iter().filter_map(|chapter| chapter.text(everything)) {
            print::line(format_args!("\n{}", text.trim_end()))?;
        }
    }
    let wrong = all.chapters.iter().any(Chapter::is_wrong);
    Ok(if wrong { Outcome::Failure } else { Outcome::Fine })
}

impl Account {
    /// Adds the chapters of a library, its configuration, and its adapters or the adapter `name`.
    fn add(
        &mut self,
        Loaded { own, adapters, listed, .. }: &Loaded,
        Configuration { found, file, steps }: Configuration,
        name: Option<&CStr>,
        common: &Common,
        host: &Host,
    ) {
        let library = own.library;
        let api = library.api();
        let first = [own_file(own)].into_iter().chain(compare(own, &found, &adapters[..*listed], name)).collect();
        self.chapters.push(Chapter { title: api.library().to_owned(), steps: first });
        self.chapters.push(Chapter { title: format!("Configuration of programs of uDAPL {api}"), steps });
        let asked = name.is_some();
        let explain = |name: &CStr, request: Request, probe: &Probe| {
            let shares = adapters.iter().filter(|one| *one.name == *name).count() > 1;
            let (found, file) = (&found, file.as_deref());
            Subject { name, request, asked, shares, library, found, file, probe, host }.explain()
        };
        let all = probe_all(adapters, common.library.as_deref());
        for (adapter, probe) in &all {
            if adapter.request.version.1 >= api.version().1 && probe.answer.is_ok() {
                self.works(&adapter.name, api);
            }
        }
        match name {
            Some(name) => {
                let request = Request::of(api);
                let probe = probe(name, request, common.library.as_deref());
                self.chapters.push(explain(name, request, &probe));
                // A name that the library does not list may open too.
                if probe.answer.is_ok() {
                    self.works(name, api);
                }
            }
            None => {
                for (cause, same) in by_cause(&all) {
                    let chapters = same.iter().map(|(one, probe)| explain(&one.name, one.request, probe));
                    match cause.filter(|_| same.len() > 1) {
                        None => self.chapters.extend(chapters),
                        Some((cause, topic)) => {
                            let wrong = chapters.into_iter().any(|chapter| chapter.is_wrong());
                            let text = format!("{cause}\n{}", self.names(&same));
                            let title = format!("dat_ia_open of {} adapters, version {api}", same.len());
                            let step = Step::wrong_if(wrong, text).see(topic.unwrap_or(Topic::DoesNotOpen));
                            self.chapters.push(Chapter { title, steps: vec![step] });
                        }
                    }
                }
            }
        }
        let libraries = all.iter().filter_map(|(_, probe)| probe.answer.as_ref().ok()?.library.as_deref());
        self.kinds.extend(libraries.map(|library| adapter::kind(Path::new(library))));
        let has_shm = found.usable().any(|(_, entry)| adapter::kind_of(entry) == Kind::Shm);
        self.lacks_shm = self.lacks_shm.take().or(file.filter(|_| !has_shm));
        self.hidden.extend(hidden(own));
        self.versions.push(api);
    }

    /// Returns the names of adapters; without `everything`, at most [`MAX_NAMES`].
    fn names(&self, adapters: &[&Probed]) -> String {
        let max = if self.everything { adapters.len() } else { MAX_NAMES };
        let some: Vec<String> = adapters.iter().take(max).map(|(adapter, _)| words(&adapter.name)).collect();
        let others = adapters.len().saturating_sub(max);
        some.join(" ") + &if others > 0 { format!(" and {others} more") } else { String::new() }
    }

    /// Records that programs of the version `api` can open `name`.
    fn works(&mut self, name: &CStr, api: Api) {
        match self.works.iter_mut().find(|(known, _)| **known == *name) {
            Some((_, versions)) if versions.contains(&api) => {}
            Some((_, versions)) => versions.push(api),
            None => self.works.push((name.to_owned(), vec![api])),
        }
    }
}

/// Maximum number of shown names with the same cause, without --all. A distribution's file has dozens of adapters.
const MAX_NAMES: usize = 3;

/// An adapter, and the result of opening it.
type Probed<'a> = (&'a Adapter, Probe);

/// The cause of a failure, without the adapter's name, and the section that describes the remedy, if known.
type Cause<'a> = (&'a str, Option<Topic>);

/// Groups adapters by the cause of their failure (`None` if they open), in the order of each group's first adapter.
fn by_cause<'a>(all: &'a [Probed<'a>]) -> Vec<(Option<Cause<'a>>, Vec<&'a Probed<'a>>)> {
    let mut groups: Vec<(Option<Cause>, Vec<_>)> = Vec::new();
    for one in all {
        let (adapter, probe) = one;
        let cause = probe.cause().map(|why| (shared_part(&words(&adapter.name), why), probe.topic()));
        match groups.iter_mut().find(|(known, _)| *known == cause) {
            Some((_, same)) => same.push(one),
            None => groups.push((cause, vec![one])),
        }
    }
    groups
}

/// Returns a note if the provider for RDMA, which is in a separate package, is not in the directory of `library`.
fn without_verbs(library: Library) -> Option<Step> {
    let provider = match library.api() {
        Api::V12 => c"libdaplverbs.so.1",
        Api::V20 => c"libdaplverbs.so.2",
    };
    let is_there = beside(provider, library.path()?).ok()?.is_some();
    let (provider, own) = (words(provider), library.api().library());
    let text =
        format!("{provider} is not in the directory of {own}: for RDMA, install it, or the package libdat-verbs");
    (!is_there).then(|| Step::note(text).see(Topic::ProviderLibrary))
}

fn own_file(own: &Found) -> Step {
    match (own.library.path(), &own.missed) {
        (None, _) => Step::ok("its file is unknown"),
        (Some(path), _) if own.foreign => {
            Step::note(format!("{}: it is not libdat", path.display())).see(Topic::LibraryNotFound)
        }
        (Some(path), None) => Step::ok(path.display().to_string()),
        (Some(path), Some(reason)) => Step::note(format!(
            "{}: it is installed together with this tool, which found it there, but the loader does not find it: {reason}",
            path.display()
        ))
        .see(Topic::LibraryNotFound),
    }
}

/// Returns a step if a library lists other adapters than this tool's registry finds. Another vendor's rules may differ,
/// so this is a fault only if the list lacks the requested name.
fn compare(own: &Found, found: &search::Found, adapters: &[Adapter], name: Option<&CStr>) -> Option<Step> {
    let same = adapters.len() == found.entries.len() && adapters.iter().all(|one| entry_of(found, one).is_some());
    let names = |names: Vec<String>| if names.is_empty() { "nothing".to_owned() } else { names.join(" ") };
    (!same && !own.foreign).then(|| {
        let listed = names(adapters.iter().map(|adapter| words(&adapter.name)).collect());
        let lacks = name.is_some_and(|name| {
            found.entries.iter().any(|(_, entry)| *entry.name == *name) && !adapters.iter().any(|one| *one.name == *name)
        });
        let text = format!(
            "it lists other adapters than the configuration defines: {listed}\nit may be the library of another vendor, or of \
             another version than this tool; the loader searches for {} first in LD_LIBRARY_PATH",
            own.library.api().library()
        );
        Step::wrong_if(lacks, text).see(Topic::LibraryNotFound)
    })
}

/// Writes the section "In short".
fn show_summary(
    Account { everything, versions, works, hidden, lacks_shm, kinds, .. }: &Account,
    name: Option<&CStr>,
) -> anyhow::Result<()> {
    print::line(styled(HEADING, "In short"))?;
    let of_name = name.and_then(|name| works.iter().find(|(known, _)| **known == *name));
    if let Some(name) = name.filter(|_| of_name.is_none()) {
        print::line(format_args!("  {} does not open: a failed step below is the cause.", shown(&words(name))))?;
    }
    match &**works {
        [] => print::line("  No adapter opens: the failed steps below are the cause.")?,
        [first, ..] => {
            // Append the versions whose programs can open the adapter, unless the programs of all versions can.
            let named = |(name, of): &(CString, Vec<Api>)| {
                let of: Vec<String> = of.iter().filter(|_| of.len() < versions.len()).map(Api::to_string).collect();
                let of = if of.is_empty() { String::new() } else { format!(" ({})", of.join(", ")) };
                shown(&words(name)) + &of
            };
            let some: Vec<String> = works.iter().map(named).collect();
            let (name, of) = of_name.unwrap_or(first);
            let (name, api) = (operand(name.to_bytes()), if of.contains(&Api::V12) { "" } else { " --api 2.0" });
            let some = some.join(", ");
            print::line(format_args!("  Works now: {some}. Try it: dat-ping --self --count 3{api} {name}"))?;
        }
    }
    for text in hidden {
        print::line(format_args!("  {}", shown(text)))?;
    }
    if let Some(file) = lacks_shm {
        let (file, place) = (shown(&file.to_string_lossy()), place(Topic::NoEntry));
        print::line(format_args!("  {file} has no line for shm, which connects processes of this host: {place}"))?;
    }
    if name.is_none() && !kinds.contains(&Kind::Verbs) {
        print::line(if kinds.contains(&Kind::Tcp) {
            "  shm connects processes of this host, tcp connects hosts. RDMA is faster: the last section lists the missing parts."
        } else {
            "  shm connects processes of this host. To connect hosts, add a line for tcp, or RDMA: the last section lists the missing parts."
        })?;
    }
    if !everything {
        print::line("  `dat-info --explain --all` shows also the steps without a fault, and all names.")?;
    }
    Ok(())
}
