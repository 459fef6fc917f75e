//! `--explain`: what dat_ia_open does, step by step, and what mends each failure.
//!
//! The steps up to the provider's library are those of the registry's own code. What comes then, only the provider knows:
//! the adapter is opened, and what it needs is looked at.

mod adapter;
mod configuration;
mod rdma;
mod shm;
mod step;

use std::path::Path;

use dat_registry::search::{Found, Places};
use serde_json::json;

use super::listing::{entry_of, probe_all};
use super::load;
use super::probe::{self, Probe};
use crate::dat::Adapter;
use crate::print::{HEADING, styled};
use crate::tool::Outcome;
use adapter::{Kind, Subject};
use configuration::quoted;
use rdma::Host;
use step::{Chapter, Step};

/// Explains one adapter, or all.
///
/// # Errors
/// libdat.so.1 cannot be loaded, or no process be started.
pub fn run(name: Option<&str>, library: Option<&Path>, json: bool) -> anyhow::Result<Outcome> {
    let (loaded, adapters) = load(library)?;
    let mut chapters = Vec::new();
    let (found, configuration) = configuration::explain(&Places::of_this_process());
    let same = compare(&found, &adapters);
    let file = own_file(loaded.path().as_deref(), loaded.missed());
    chapters.push(Chapter { title: "libdat.so.1".to_owned(), steps: vec![file] });
    chapters
        .push(Chapter { title: "Configuration".to_owned(), steps: configuration.into_iter().chain(same).collect() });

    let host = Host::this();
    let explain = |adapter: &str, probe: &Probe| {
        Subject { name: adapter, library: loaded, found: &found, probe, host: &host }.explain()
    };
    let all = probe_all(&adapters, library)?;
    let works: Vec<&str> =
        all.iter().filter(|(_, probe)| probe.answer.is_ok()).map(|(adapter, _)| adapter.name.as_str()).collect();
    let mut has_rdma = false;
    match name {
        Some(name) => chapters.push(explain(name, &probe::probe(name, library)?)),
        None => {
            chapters.extend(all.iter().map(|(adapter, probe)| explain(&adapter.name, probe)));
            let libraries = all.iter().filter_map(|(_, probe)| probe.answer.as_ref().ok()?.library.as_deref());
            has_rdma = libraries.into_iter().any(|library| adapter::kind(library) == Kind::Verbs);
            let title = if has_rdma { "RDMA" } else { "RDMA between hosts" };
            let steps = rdma::explain(&host, None, false);
            chapters.push(Chapter { title: title.to_owned(), steps });
        }
    }
    if json {
        anstream::println!("{:#}", json!({ "chapters": chapters, "works": works }));
    } else {
        show(&chapters, &works, name, has_rdma);
    }
    let wrong = chapters.iter().any(Chapter::is_wrong);
    Ok(if wrong { Outcome::Failure } else { Outcome::Fine })
}

/// The file of the library, and whether programs find it as well.
///
/// # Parameters
/// * `missed` - why the loader found none, if this is the one beside the tool.
fn own_file(path: Option<&Path>, missed: Option<&str>) -> Step {
    match (path, missed) {
        (None, _) => Step::ok("its file is unknown"),
        (Some(path), None) => Step::ok(path.display().to_string()),
        (Some(path), Some(reason)) => {
            let folder = quoted(path.parent().unwrap_or(path));
            Step::note(format!(
                "{}: it is installed together with this tool, which found it there, but the loader does not find it: \
                 {reason}\na program that names its folder neither when it is linked nor in LD_LIBRARY_PATH does not start; \
                 root can name it for all programs:\necho {folder} >/etc/ld.so.conf.d/libdat.conf && ldconfig",
                path.display()
            ))
            .mend(format!("export LD_LIBRARY_PATH={folder}${{LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}}"))
        }
    }
}

/// Whether the library lists what the rules here give. Another libdat.so.1 may have rules of its own.
fn compare(found: &Found, adapters: &[Adapter]) -> Option<Step> {
    let same = adapters.len() == found.entries.len() && adapters.iter().all(|one| entry_of(found, one).is_some());
    let names = |names: Vec<String>| if names.is_empty() { "nothing".to_owned() } else { names.join(" ") };
    (!same).then(|| {
        let listed = names(adapters.iter().map(|adapter| adapter.name.clone()).collect());
        Step::note(format!(
            "libdat.so.1 lists other adapters than these lines give: {listed}\nit may be a library of another maker, or of \
             another version than this tool"
        ))
    })
}

/// Shows it to people; the end is what they can do now.
fn show(chapters: &[Chapter], works: &[&str], name: Option<&str>, has_rdma: bool) {
    for chapter in chapters {
        anstream::println!("{}", chapter.text());
    }
    anstream::println!("{}", styled(HEADING, "In short"));
    if let Some(name) = name.filter(|name| !works.contains(name)) {
        anstream::println!("  {name} does not open; what is WRONG above is why.");
    }
    match works {
        [] => anstream::println!("  No adapter opens yet; what is WRONG above is why."),
        [first, ..] => {
            let some = works.join(", ");
            anstream::println!(
                "  Works now: {some}. Try it: dat-ping {} --self --count 3",
                quoted(name.filter(|name| works.contains(name)).unwrap_or(first))
            );
        }
    }
    if name.is_none() && !has_rdma {
        anstream::println!(
            "  shm connects processes of this host. Between hosts RDMA is needed: the chapter above says how to get it."
        );
    }
}

#[cfg(test)]
mod tests {
    use super::step::State;
    use super::*;

    #[test]
    fn a_library_that_programs_do_not_find_is_noted_with_the_command_for_it() {
        let path = Path::new("/opt/my dat/lib/libdat.so.1");
        assert_eq!(own_file(Some(path), None), Step::ok("/opt/my dat/lib/libdat.so.1"));
        let step = own_file(Some(path), Some("libdat.so.1: cannot open shared object file"));
        assert_eq!(step.state, State::Note);
        assert!(step.text.contains("does not find it: libdat.so.1: cannot open"), "{}", step.text);
        assert!(step.text.contains("echo '/opt/my dat/lib' >/etc/ld.so.conf.d"), "{}", step.text);
        assert!(step.mend[0].starts_with("export LD_LIBRARY_PATH='/opt/my dat/lib'$"), "{}", step.mend[0]);
    }
}
