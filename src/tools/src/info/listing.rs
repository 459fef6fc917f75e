//! The table of the adapters. A separate process opens each adapter.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use dat::{Adapter, Request};
use dat_registry::search::Found;
use dat_registry::step::LineUse;
use dat_registry::{Entry, Origin};
use host::net::Interfaces;
use host::{net, sysfs};
use serde::Serialize;

use super::devices::{self, Port};
use super::probe::{Probe, finish, start};
use super::{hidden, load, outdated, shown, words};
use crate::print::{self, WRONG, columns, styled};
use crate::tool::{Common, Loaded, Outcome};

#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    version: String,
    thread_safe: bool,
    /// Origin of the entry: its file and line, `built in`, or `not from dat.conf`.
    from: String,
    /// `false` if programs can open the adapter, but the library does not list it.
    listed: bool,
    /// File of the provider's library; if the adapter does not open, the name of the library in the entry.
    library: String,
    device: Option<String>,
    port: Option<u8>,
    /// State of the RDMA port. Without a port: `ready` if the adapter opens, otherwise `does not open`.
    state: String,
    address: Option<IpAddr>,
    opens: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<String>,
}

#[derive(Debug, Default, Serialize)]
struct Listing {
    libraries: Vec<Option<String>>,
    adapters: Vec<Listed>,
    missing: Vec<String>,
    /// Hints about libraries that programs do not load, and about why the table lacks devices and addresses.
    #[serde(skip)]
    hints: Vec<String>,
    /// Malformed lines of the configuration, each with its fault.
    ignored: Vec<String>,
}

/// Shows the table; `all` includes adapters that do not open. Fails if no library of any version can be used.
pub fn run(common: &Common, all: bool) -> anyhow::Result<Outcome> {
    let mut listing = Listing::default();
    let Interfaces { list: interfaces, failure: unlisted } = net::interfaces();
    let ports = devices::ports(Path::new(sysfs::ROOT)).unwrap_or_else(|error| {
        listing.hints.push(format!("cannot list the RDMA devices: {error}"));
        Vec::new()
    });
    listing.hints.extend(unlisted.map(|why| why.text));
    let mut failure = None;
    // By file and line, because the libraries of both versions read the same lines.
    let mut ignored = BTreeMap::new();
    for loaded in load(common) {
        let Loaded { own, adapters, listed, found } = match loaded {
            Ok(loaded) => loaded,
            Err(error) => {
                // The first line has the cause. The second, which is the same for both versions, lists the searched
                // places.
                listing.missing.extend(error.to_string().lines().next().map(str::to_owned));
                failure = failure.or(Some(error));
                continue;
            }
        };
        let library = own.library;
        let probed = probe_all(&adapters, common.library.as_deref()).into_iter();
        let rows = probed.map(|(adapter, probe)| row(adapter, probe, entry_of(&found, adapter), &ports, &interfaces));
        let rows = rows.enumerate().map(|(at, row)| Listed { listed: at < listed, ..row });
        listing.adapters.extend(rows);
        listing.libraries.push(library.path().map(|file| file.to_string_lossy().into_owned()));
        listing.hints.extend(hidden(&own));
        for (origin, bad) in &found.bad {
            let Origin::Line(path, line) = origin else { continue };
            ignored.insert((path.clone(), *line), format!("{origin}: {}", LineUse::Bad(bad)));
        }
    }
    listing.ignored = ignored.into_values().collect();
    if let Some(error) = failure.filter(|_| listing.libraries.is_empty()) {
        return Err(error);
    }
    if common.json {
        print::line(serde_json::to_string_pretty(&listing)?)?;
    } else {
        show(&listing, all)?;
    }
    let any = listing.adapters.iter().any(|row| row.opens);
    Ok(if any { Outcome::Fine } else { Outcome::Failure })
}

/// Opens all adapters, each with its own request, in up to eight concurrent processes.
pub fn probe_all<'a>(adapters: &'a [Adapter], library: Option<&Path>) -> Vec<(&'a Adapter, Probe)> {
    const MAX_CONCURRENT: usize = 8;
    let mut all = Vec::new();
    for some in adapters.chunks(MAX_CONCURRENT) {
        let started: Vec<_> = some.iter().map(|one| start(&one.name, one.request, library)).collect();
        all.extend(some.iter().zip(started.into_iter().map(finish)));
    }
    all
}

/// Returns the entry of an adapter that a library lists. Returns `None` if this tool's registry has no such entry,
/// because the library's rules differ.
pub fn entry_of<'a>(found: &'a Found, adapter: &Adapter) -> Option<(&'a Origin, &'a Entry)> {
    found.usable().find(|(_, entry)| {
        entry.name == adapter.name
            && (entry.api.major, entry.api.minor) == adapter.request.version
            && entry.thread_safe == adapter.request.thread_safe
    })
}

fn row(
    adapter: &Adapter,
    probe: Probe,
    entry: Option<(&Origin, &Entry)>,
    ports: &[Port],
    interfaces: &[(String, IpAddr)],
) -> Listed {
    let named = entry.map_or_else(String::new, |(_, entry)| words(&entry.library));
    let from = entry.map_or("not from dat.conf".to_owned(), |(origin, _)| match origin {
        Origin::BuiltIn => "built in".to_owned(),
        Origin::Line(..) => origin.to_string(),
    });
    let Request { version: (major, minor), thread_safe } = adapter.request;
    let last = probe.errors().next_back().map(|message| message.text.clone());
    let why = probe.answer.as_ref().err().map(|why| last.unwrap_or(why.clone())).or_else(|| outdated(adapter.request));
    let opened = probe.answer.ok().filter(|_| why.is_none());
    let address = opened.as_ref().and_then(|opened| opened.address);
    let port = address.and_then(|address| devices::with_address(ports, interfaces, address));
    let state = if opened.is_some() { "ready" } else { "does not open" };
    Listed {
        name: words(&adapter.name),
        version: format!("{major}.{minor}"),
        thread_safe,
        from,
        listed: true,
        library: opened.and_then(|opened| opened.library).unwrap_or(named),
        device: port.map(|port| port.device.clone()),
        port: port.map(|port| port.number),
        state: port.map_or(state, |port| &port.state).to_owned(),
        address,
        opens: why.is_none(),
        why,
    }
}

/// Maximum number of failed adapters, and of ignored lines, that get a line each without --all. A distribution's file
/// lists dozens of adapters.
const MAX_LINES: usize = 5;
/// Maximum number of causes in the single line about more failed adapters.
const MAX_CAUSES: usize = 3;

fn show(Listing { adapters: rows, missing, hints, ignored, .. }: &Listing, all: bool) -> anyhow::Result<()> {
    let or_dash = |text: Option<String>| text.unwrap_or("-".to_owned());
    let line = |row: &Listed| {
        vec![
            shown(&row.name),
            row.version.clone(),
            if row.thread_safe { "safe" } else { "one" }.to_owned(),
            or_dash(row.device.clone()),
            or_dash(row.port.map(|port| port.to_string())),
            row.state.clone(),
            or_dash(row.address.map(|address| address.to_string())),
            shown(&row.from) + if row.listed { "" } else { ", not listed" },
            shown(&row.library),
        ]
    };
    let lines: Vec<_> = rows.iter().filter(|row| all || row.opens).map(line).collect();
    let heads = ["NAME", "API", "THREADS", "DEVICE", "PORT", "STATE", "ADDRESS", "FROM", "LIBRARY"];
    if !lines.is_empty() {
        print::line(columns(&heads, lines))?;
    }
    let failed = failures(rows);
    if all || failed.len() <= MAX_LINES {
        for (name, versions, why) in &failed {
            print::line(format_args!("{}: {}", styled(WRONG, shown(name) + versions), shown(why)))?;
        }
    } else {
        let count = styled(WRONG, format!("{} adapters do not open", failed.len()));
        print::line(format_args!("{count}: {}; `dat-info --all` lists them.", shown(&causes(&failed))))?;
    }
    if all || ignored.len() <= MAX_LINES {
        ignored.iter().try_for_each(|text| print::line(styled(WRONG, shown(text))))?;
    } else {
        let count = styled(WRONG, format!("{} lines of the configuration are ignored", ignored.len()));
        print::line(format_args!("{count}; `dat-info --all` lists them."))?;
    }
    if rows.is_empty() {
        print::line("There is no adapter that a program could open.")?;
    }
    for text in missing.iter().chain(hints) {
        print::line(shown(text))?;
    }
    if rows.iter().any(|row| !row.opens) || rows.is_empty() || !ignored.is_empty() {
        print::line("`dat-info --explain` shows more.")?;
    }
    Ok(())
}

/// Returns the names that do not open, each cause once with its versions. The text of the versions is empty if the
/// cause applies to all versions of the name.
fn failures(rows: &[Listed]) -> Vec<(&str, String, &str)> {
    let mut failed: Vec<(&str, String, &str)> = Vec::new();
    for row in rows {
        let Some(why) =
            cause(row).filter(|why| !failed.iter().any(|(name, _, known)| *name == row.name && known == why))
        else {
            continue;
        };
        let (of, others): (Vec<&Listed>, Vec<&Listed>) =
            rows.iter().filter(|other| other.name == row.name).partition(|other| cause(other) == Some(why));
        let versions: Vec<&str> = of.iter().map(|one| &*one.version).collect();
        let versions = if others.is_empty() { String::new() } else { format!(" ({})", versions.join(", ")) };
        failed.push((&row.name, versions, why));
    }
    failed
}

/// Returns why an adapter does not open, without the message's prefix and the adapter's name.
fn cause(row: &Listed) -> Option<&str> {
    let why = row.why.as_deref()?;
    let (_, why) = why.split_once(": error: ").unwrap_or(("", why));
    Some(why.strip_prefix(&format!("{}: ", row.name)).unwrap_or(why))
}

/// Returns the part of a cause that adapters can share: without the adapter's name and device, and without the prefix
/// with process and time of C providers.
pub fn shared_part<'a>(name: &str, why: &'a str) -> &'a str {
    let why = why.rsplit_once(" us): ").map_or(why, |(_, why)| why.trim_start());
    let why = why.split_once(&format!("{name}: ")).map_or(why, |(_, why)| why);
    why.rsplit_once("; ").map_or(why, |(_, why)| why)
}

/// Returns the causes as text, each with its number of failures, the most frequent first.
fn causes(failed: &[(&str, String, &str)]) -> String {
    let mut counts: Vec<(&str, usize)> = Vec::new();
    for (name, _, why) in failed {
        let why = shared_part(name, why);
        match counts.iter_mut().find(|(known, _)| *known == why) {
            Some((_, count)) => *count += 1,
            None => counts.push((why, 1)),
        }
    }
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    let mut texts: Vec<String> =
        counts.iter().take(MAX_CAUSES).map(|(why, count)| format!("{why} ({count})")).collect();
    let others: usize = counts.iter().skip(MAX_CAUSES).map(|(_, count)| count).sum();
    if others > 0 {
        texts.push(format!("other causes ({others})"));
    }
    texts.join(", ")
}

#[cfg(test)]
mod tests;
