//! dat-info: the interface adapters of this host.
//!
//! | module | contents |
//! |---|---|
//! | [`arguments`] | the arguments |
//! | [`probe`] | opening an adapter in a process of its own |
//! | [`attributes`] | the attributes of an adapter in words |
//! | [`devices`] | the RDMA devices of the host |
//! | [`listing`] | the table of the adapters |
//! | [`explain`] | what dat_ia_open does, step by step |
//! | [`processes`] | the processes that have an adapter open |
//!
//! The registry applies the rules of dat.conf and reports each step of its search. `explain` shows the steps and compares the
//! result with the list of the loaded libdat.so.1. Only the provider knows what else it needs, so a separate process opens
//! each adapter with error messages enabled; a provider that crashes or hangs affects no other.

mod arguments;
mod attributes;
mod devices;
mod explain;
mod listing;
mod probe;
mod processes;

pub use arguments::Arguments;

use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStringExt;

use anyhow::{Context, bail};
use serde_json::json;

use crate::dat::{Adapter, Demand, Library};
use crate::print::{self, HEADING, styled};
use crate::shell::operand;
use crate::tool::{Common, Outcome, Section, Tool};
use attributes::Group;

/// What `--licences` prints. It is part of the tool, so that a copy of the tool has it wherever it is.
const LICENCES: &[&str] = &[
    include_str!("../../../../LICENSE"),
    include_str!("../../../../LICENSE-MIT"),
    include_str!("../../../../LICENSE-THIRD-PARTY"),
];

impl Tool for Arguments {
    const SECTIONS: &'static [Section] = &[
        Section {
            heading: "OUTPUT",
            text: "Without NAME, the output is a table with a line for each adapter that opens, in the order \
                in which programs see the adapters:\n\n  \
                NAME       the name of the adapter\n  \
                API        the version of uDAPL of the programs that see the adapter\n  \
                THREADS    safe if several threads may call it concurrently, else one\n  \
                DEVICE     for RDMA, the device\n  \
                PORT       for RDMA, the port of the device\n  \
                STATE      the state of the port; ready for an adapter without a port\n  \
                ADDRESS    the address\n  \
                FROM       the file and line of the entry, or that it is built in\n  \
                LIBRARY    the file of the provider library\n\n\
                Below the table, one line reports the cause for each adapter that does not open, and one line \
                reports each malformed line of the configuration. If there are more than five of a kind, one \
                line has their number, and --all lists them. If several entries have the same name, dat-info \
                opens each of them as a program of its version and thread safety does. Control characters are \
                shown as escapes.\n\n\
                With --json, the output is an object:\n\n  \
                libraries  the files of the libdat.so.1 and libdat2.so.2 that exist\n  \
                adapters   a list of objects with name, version, thread_safe, from,\n  \
                \u{20}          library, device, port, state, address, opens and, if the\n  \
                \u{20}          adapter does not open, why\n  \
                missing    a list of texts: why a version has no library\n  \
                ignored    a list of texts: the malformed lines of the configuration\n\n\
                With --json and NAME, the object contains name, library, and an object of attributes for each \
                of adapter, provider and so on. The attributes have the names of dat_ia_query(3), and sizes \
                are in bytes.\n\n\
                With --json and --explain, the object contains:\n\n  \
                chapters   a list of objects with title and steps; each step has state\n  \
                \u{20}          (ok, note or wrong), text and, if there is a remedy, see: the\n  \
                \u{20}          page and section that describe it\n  \
                works      the adapters that open\n\n\
                After a failure, the object contains error, the reason; with --explain, it also contains \
                chapters.",
        },
        Section {
            heading: "PROCESSES",
            text: "With --processes, there is a line for each adapter of the provider shm that a process has \
                open:\n\n  \
                PID, COMMAND, USER   the process\n  \
                ADAPTER, API         the name of the adapter; the version of uDAPL\n  \
                CONNECTIONS          the connected endpoints\n  \
                MADE                 the established connections\n  \
                FAILED               the connections and attempts that did not end\n  \
                \u{20}                    with a disconnect\n  \
                SENT, BYTES          the started sends and RDMA writes\n  \
                RECEIVED, BYTES      the received messages and the started RDMA reads\n  \
                STALLS               how often a request found no room, and after the\n  \
                \u{20}                    slash how often a message found no receive\n  \
                AGE                  the time since the adapter was opened\n\n\
                All numbers except CONNECTIONS count from the time at which the adapter was opened. A line of \
                - represents a process that does not respond within a second, for example because it is \
                stopped.\n\n\
                The table contains the processes of the user, for root of all users, that use /tmp/dat-shm-UID \
                or a directory in dat.conf(5). A process in a container is listed if the container shares the \
                directory. Its line has a process ID if /proc here shows the process; otherwise, run dat-info \
                in the container.\n\n\
                For the provider verbs, the kernel lists the processes: `rdma resource show qp`.\n\n\
                With --json, the output is an object with processes, a list of objects with pid, command, \
                user, directory and adapters. If the process does not respond, adapters is null; otherwise, it \
                is a list of objects with:\n\n  \
                name, version, seconds, connections, established, failures,\n  \
                async_events, sends, send_bytes, rdma_writes, rdma_write_bytes,\n  \
                rdma_reads, rdma_read_bytes, receives, receive_bytes, request_stalls,\n  \
                receive_stalls, peer_wakeups",
        },
        Section {
            heading: "TROUBLESHOOTING",
            text: "With --explain, each step that is WRONG, and each note with a remedy, names the section of \
                docs/troubleshooting.md that describes what to do. This page is installed with the \
                documentation of libdat.",
        },
        Section {
            heading: "EXIT STATUS",
            text: "0 if an adapter opens (with NAME, if this adapter opens; with --explain, if nothing is \
                wrong), 1 if not, 2 if the arguments are wrong.",
        },
        Section {
            heading: "EXAMPLES",
            text: "The adapters that open:\n\n    dat-info\n\nWhy an adapter does not open:\n\n    dat-info \
                --explain verbs-eth0\n\nThe size limit of a message, in bytes, for a script:\n\n    dat-info --json \
                shm | jq .adapter.max_message_size",
        },
        Section { heading: "SEE ALSO", text: "dat-ping(1), dat-perf(1), dat_ia_open(3), dat.conf(5), libdat(7)" },
    ];

    fn run(self) -> anyhow::Result<Outcome> {
        if self.licences {
            print::line(LICENCES.join("\n").trim_end())?;
            return Ok(Outcome::Fine);
        }
        let (common, json) = (&self.common, self.common.json);
        // No argument has a NUL byte in it.
        let name = self.name.map(|name| CString::new(name.into_vec()).unwrap_or_default());
        let outcome = match (name.as_deref(), self.probe) {
            (Some(name), Some(demand)) => return probe::answer(name, demand, common),
            (None, _) if self.processes => processes::run(json),
            (name, _) if self.explain => explain::run(name, common),
            (Some(name), _) => one(name, common),
            (None, _) => listing::run(common, self.all),
        };
        if let Err(error) = &outcome {
            if json {
                let mut object = json!({ "error": format!("{error:#}") });
                if let Some(name) = &name {
                    object["name"] = words(name).into();
                }
                print::line(format_args!("{object:#}"))?;
            }
        }
        outcome
    }
}

/// Shows all attributes of an adapter.
fn one(name: &CStr, common: &Common) -> anyhow::Result<Outcome> {
    // Its own failure says more than that of the process that opens the adapter.
    let library = common.library_with(Some(name.to_bytes()))?;
    let probe = probe::probe(name, Demand::of(library.api()), common.library.as_deref());
    let opened = match probe.answer {
        Ok(opened) => opened,
        Err(why) => {
            for message in probe.messages {
                print::complain(shown(&message));
            }
            let (shown, name) = (shown(&words(name)), operand(name.to_bytes()));
            bail!("{shown} does not open: {why}; `dat-info --explain {name}` tells more")
        }
    };
    if common.json {
        let mut object = json!({ "name": words(name), "library": opened.library });
        for group in &opened.groups {
            let attributes = group.attributes.iter().map(|one| (one.name.clone(), one.value.clone())).collect();
            object[&group.name] = serde_json::Value::Object(attributes);
        }
        print::line(format_args!("{object:#}"))?;
    } else {
        print::line(text(&opened))?;
    }
    Ok(Outcome::Fine)
}

/// All attributes, one a line.
fn text(opened: &probe::Opened) -> String {
    let all = || opened.groups.iter().flat_map(|group| &group.attributes);
    let width = all().map(|attribute| attribute.meaning.chars().count()).max().unwrap_or(0);
    let mut text = String::new();
    for Group { name, attributes } in &opened.groups {
        text += &format!("{}\n", styled(HEADING, name));
        for attribute in attributes {
            text += &format!("  {:width$}  {}\n", shown(&attribute.meaning), shown(&attribute.words));
        }
        if name == "provider" {
            if let Some(library) = &opened.library {
                text += &format!("  {:width$}  {}\n", "Library", library.display());
            }
        }
    }
    text.trim_end().to_owned()
}

/// A C string of the registry as text.
fn words(string: &CStr) -> String {
    string.to_string_lossy().into_owned()
}

/// A text for people: control characters are shown, and do nothing to a terminal.
fn shown(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for letter in text.chars() {
        if letter.is_control() { shown.extend(letter.escape_default()) } else { shown.push(letter) }
    }
    shown
}

/// The libraries with the adapters that they list, one for each version; for a version without one, why.
fn load(common: &Common) -> Vec<anyhow::Result<(Library, Vec<Adapter>)>> {
    let list = |library: Library| {
        let adapters = library.adapters().context("the interface adapters cannot be listed")?;
        Ok((library, adapters))
    };
    common.libraries().into_iter().map(|library| library.and_then(list)).collect()
}

/// That programs do not find a library, which is installed together with this tool.
fn hidden(library: Library) -> Option<String> {
    let folder = library.path()?.parent()?.to_owned();
    library.missed().map(|_| {
        let own = library.api().library();
        format!("Programs do not find {own}: put {} into LD_LIBRARY_PATH, or see ldconfig(8).", folder.display())
    })
}
