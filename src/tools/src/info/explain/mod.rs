//! `--explain`: what dat_ia_open does, step by step, with the section of docs/troubleshooting.md for each failure.
//!
//! The steps up to the provider's library are those of the registry's own code. What comes then, only the provider knows:
//! the adapter is opened, and what it needs is looked at.

mod adapter;
mod configuration;
mod rdma;
mod shm;
mod step;
mod topic;

use std::ffi::CStr;
use std::path::Path;

use dat_registry::search::{Found, Places};
use serde_json::json;

use super::listing::{entry_of, probe_all};
use super::probe::{Probe, probe};
use super::{VERSION, load, shown, words};
use crate::dat::{Adapter, Demand, Library};
use crate::print::{self, HEADING, styled};
use crate::shell::operand;
use crate::tool::Outcome;
use adapter::{Kind, Subject};
use configuration::Configuration;
use rdma::Host;
use step::{Chapter, Step};
use topic::Topic;

/// Explains one adapter, or all.
pub fn run(name: Option<&CStr>, library: Option<&Path>, json: bool) -> anyhow::Result<Outcome> {
    match load(library) {
        Ok((loaded, adapters)) => adapters_of(loaded, &adapters, name, library, json),
        Err(error) => {
            let lost = Step::wrong(format!("{error:#}")).see(Topic::LibraryNotFound);
            let chapter = Chapter { title: "libdat.so.1".to_owned(), steps: vec![lost] };
            if json {
                let error = format!("{error:#}");
                print::line(format_args!("{:#}", json!({ "chapters": [chapter], "works": [], "error": error })))?;
            } else {
                print::line(chapter.text())?;
            }
            Ok(Outcome::Failure)
        }
    }
}

fn adapters_of(
    loaded: Library,
    adapters: &[Adapter],
    name: Option<&CStr>,
    library: Option<&Path>,
    json: bool,
) -> anyhow::Result<Outcome> {
    let mut chapters = Vec::new();
    let Configuration { found, file, steps } = configuration::explain(&Places::of_this_process());
    let same = compare(&found, adapters);
    let own = own_file(loaded.path().as_deref(), loaded.missed());
    chapters.push(Chapter { title: "libdat.so.1".to_owned(), steps: vec![own] });
    chapters.push(Chapter { title: "Configuration".to_owned(), steps: steps.into_iter().chain(same).collect() });

    let host = Host::this();
    let explain = |name: &CStr, demand: Demand, probe: &Probe| {
        let shares = adapters.iter().filter(|one| *one.name == *name).count() > 1;
        let (found, file, host) = (&found, file.as_deref(), &host);
        Subject { name, demand, shares, library: loaded, found, file, probe, host }.explain()
    };
    let all = probe_all(adapters, library);
    let works = working(&all);
    let mut has_rdma = false;
    match name {
        Some(name) => {
            let demand = Demand::default();
            chapters.push(explain(name, demand, &probe(name, demand, library)));
        }
        None => {
            chapters.extend(all.iter().map(|(adapter, probe)| explain(&adapter.name, adapter.demand, probe)));
            let libraries = all.iter().filter_map(|(_, probe)| probe.answer.as_ref().ok()?.library.as_deref());
            has_rdma = libraries.into_iter().any(|library| adapter::kind(library) == Kind::Verbs);
            let title = if has_rdma { "RDMA" } else { "RDMA between hosts" };
            let steps = rdma::explain(&host, None, false);
            chapters.push(Chapter { title: title.to_owned(), steps });
        }
    }
    if json {
        let works: Vec<String> = works.iter().map(|name| words(name)).collect();
        print::line(format_args!("{:#}", json!({ "chapters": chapters, "works": works })))?;
    } else {
        for chapter in &chapters {
            print::line(chapter.text())?;
        }
        let lacks_shm = !found.entries.iter().any(|(_, entry)| adapter::kind_of(entry) == Kind::Shm);
        show_end(&works, name, file.as_deref().filter(|_| lacks_shm), has_rdma)?;
    }
    let wrong = chapters.iter().any(Chapter::is_wrong);
    Ok(if wrong { Outcome::Failure } else { Outcome::Fine })
}

/// The names with which a program of this version opens an adapter, each once.
fn working<'a>(all: &[(&'a Adapter, Probe)]) -> Vec<&'a CStr> {
    let mut names = Vec::new();
    for (adapter, probe) in all {
        let (major, minor) = adapter.demand.version;
        let serves = major == VERSION.major && minor >= VERSION.minor;
        if serves && probe.answer.is_ok() && !names.contains(&&*adapter.name) {
            names.push(&*adapter.name);
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

/// Whether the library lists what the rules here give. Another libdat.so.1 may have rules of its own.
fn compare(found: &Found, adapters: &[Adapter]) -> Option<Step> {
    let same = adapters.len() == found.entries.len() && adapters.iter().all(|one| entry_of(found, one).is_some());
    let names = |names: Vec<String>| if names.is_empty() { "nothing".to_owned() } else { names.join(" ") };
    (!same).then(|| {
        let listed = names(adapters.iter().map(|adapter| words(&adapter.name)).collect());
        Step::note(format!(
            "libdat.so.1 lists other adapters than these lines give: {listed}\nit may be a library of another maker, or of \
             another version than this tool"
        ))
    })
}

/// Shows people what they can do now.
///
/// # Parameters
/// * `works` - the names of the adapters that open.
/// * `lacking` - the file that counts, if it has no line for shm.
fn show_end(works: &[&CStr], name: Option<&CStr>, lacking: Option<&Path>, has_rdma: bool) -> anyhow::Result<()> {
    print::line(styled(HEADING, "In short"))?;
    if let Some(name) = name.filter(|name| !works.contains(name)) {
        print::line(format_args!("  {} does not open; what is WRONG above is why.", shown(&words(name))))?;
    }
    match works {
        [] => print::line("  No adapter opens yet; what is WRONG above is why.")?,
        [first, ..] => {
            let some: Vec<String> = works.iter().map(|name| shown(&words(name))).collect();
            let name = name.filter(|name| works.contains(name)).unwrap_or(first);
            print::line(format_args!("  Works now: {}. Try it: {}", some.join(", "), trial(name)))?;
        }
    }
    if let Some(file) = lacking {
        let (file, place) = (shown(&file.to_string_lossy()), Topic::NoEntry.place());
        print::line(format_args!("  {file} has no line for shm, which connects processes of this host: {place}"))?;
    }
    if name.is_none() && !has_rdma {
        print::line(
            "  shm connects processes of this host. Between hosts RDMA is needed: the chapter above says what lacks.",
        )?;
    }
    Ok(())
}

/// The command that tries an adapter.
fn trial(name: &CStr) -> String {
    let operand = operand(name.to_bytes());
    if operand.starts_with("-- ") {
        format!("dat-ping --self --count 3 {operand}")
    } else {
        format!("dat-ping {operand} --self --count 3")
    }
}
