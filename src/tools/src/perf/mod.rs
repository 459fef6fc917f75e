//! dat-perf: latency, bandwidth and rate by size and operation.
//!
//! Both processes follow a [`plan`], which the client sends to the server on a connection of its own.
//!
//! | module | contents |
//! |---|---|
//! | [`arguments`] | the arguments, and the plans that they stand for |
//! | [`client`], [`server`] | the two sides |
//! | [`plan`], [`control`] | what is measured, and how the sides agree on it |
//! | [`node`], [`gate`], [`limit`] | the objects and threads of a process, where they meet, and when they must end |
//! | [`worker`], [`direct`], [`latency`], [`stream`], [`bytes`] | what a thread does: the loops whose time is taken |
//! | [`clock`], [`processors`] | times, processor time and processors |
//! | [`result`], [`report`], [`picture`] | what comes out of it |

mod arguments;
mod bytes;
mod client;
mod clock;
mod control;
mod direct;
mod gate;
mod latency;
mod limit;
mod node;
mod picture;
mod plan;
mod processors;
mod report;
mod result;
mod server;
mod stream;
mod worker;

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use indicatif::{ProgressBar, ProgressStyle};

pub use arguments::Arguments;

use crate::child;
use crate::dat::{Ia, Library, address};
use crate::print;
use crate::tool::{EXIT_STATUS, Outcome, Section, Tool};
use client::{Client, TooLate, first_that_connects};
use parking_lot::Mutex;
use result::Row;

/// The results until now.
type Rows = Arc<Mutex<Vec<Row>>>;

impl Tool for Arguments {
    const SECTIONS: &'static [Section] = &[
        Section {
            heading: "TESTS",
            text: "send_lat, write_lat and read_lat make one transfer at a time, with one buffer for all. The time is that of \
                   one way, of a read that until its data is there. Of sends, both sides also reap the completion of \
                   each send and of each receive; the target of RDMA writes spins on its memory.\n\n\
                   send_bw, write_bw and read_bw have many transfers under way. A sender never sends more than the \
                   receiver has buffers for: it counts credits, which come back by messages. The target of RDMA makes \
                   no transfers meanwhile; it looks at its memory, and with --wait it sleeps.\n\n\
                   With --verify each transfer has bytes of its own, which follow from its number and its connection, and \
                   are compared when it has arrived. The target of write_bw knows nothing of single writes; it compares \
                   its buffers at the end, each with the last write into it. What reads fetch does not change, so each is \
                   preceded by zeros where it lands.",
        },
        Section {
            heading: "OUTPUT",
            text: "Times are in microseconds, of the last 32,768 transfers of a thread; the mean is that of all. CPU % is \
                   the processor time of the client and SERVER CPU % that of the server, in percent of the time that \
                   passed: a thread that polls takes 100.\n\n\
                   --csv and --json have the same numbers and more: nanoseconds, transfers a second, millions of bytes a \
                   second, and seconds of processor time.",
        },
        Section {
            heading: "EXAMPLES",
            text: "  dat-perf shm --self\n  dat-perf verbs-eth0                                       # the server\n  \
                   dat-perf verbs-eth0 192.0.2.7 --svg perf.svg              # the client\n  \
                   dat-perf shm --self -t send_lat -s 8 --wait --pause 50    # waking a process that sleeps",
        },
        EXIT_STATUS,
        Section { heading: "SEE ALSO", text: "dat-info(1), dat-ping(1), dat.conf(5)" },
    ];

    fn run(self) -> anyhow::Result<Outcome> {
        let serves = self.host.is_none() && !self.own_peer;
        if serves && self.common.json {
            print::complain("dat-perf: --json is for the client, which names a HOST or has --self");
            return Ok(Outcome::Usage);
        }
        let library = Library::load(self.common.library.as_deref())?;
        if serves {
            return server::run(&self, library).map(|()| Outcome::Fine);
        }
        let rows = Rows::default();
        let measured = measure(&self, library, &rows);
        // What was measured before a failure is shown as well.
        let rows = rows.lock();
        if !rows.is_empty() || measured.is_ok() {
            show(&self, &rows)?;
        }
        measured.map(|()| Outcome::Fine)
    }
}

/// Carries out all plans as the client.
fn measure(arguments: &Arguments, library: Library, rows: &Rows) -> anyhow::Result<()> {
    processors::pin(&arguments.cpu, 0)?;
    let server = if arguments.own_peer { Some(start_server(arguments)?) } else { None };
    let ia = Ia::open(library, &arguments.name)?;
    let own = ia.attributes()?.address.map(|address| address.ip());
    let (hosts, qualifier) = match (&server, &arguments.host) {
        (Some(server), _) => (vec![own.unwrap_or(IpAddr::from([127, 0, 0, 1]))], server.qualifier),
        (None, host) => {
            let host = host.as_deref().unwrap_or_default();
            let hosts = address::resolve(host, own).with_context(|| format!("{host} is no host that can be found"))?;
            (hosts, arguments.qualifier)
        }
    };
    let longest = Duration::from_secs(arguments.limit);
    let plans = arguments.plans();
    let progress = ProgressBar::new(plans.len() as u64);
    progress.set_style(ProgressStyle::with_template("{pos} of {len}  {msg}")?);
    let too_late = too_late(arguments, rows, &progress);
    let mut client = first_that_connects(&hosts, |host| {
        Client::new(&ia, &arguments.name, host, qualifier, &arguments.cpu, longest, Arc::clone(&too_late))
    })?;
    for plan in &plans {
        progress.set_message(report::under_way(plan.test, plan.size));
        let row = client.measure(plan);
        if row.is_err() {
            progress.finish_and_clear();
        }
        rows.lock().push(row?);
        progress.inc(1);
    }
    progress.finish_and_clear();
    client.close()
}

/// What is done when a measurement takes too long: the results of those before are shown.
fn too_late(arguments: &Arguments, rows: &Rows, progress: &ProgressBar) -> TooLate {
    let (arguments, rows, progress) = (arguments.clone(), Arc::clone(rows), progress.clone());
    Arc::new(move || {
        progress.finish_and_clear();
        let rows = rows.lock();
        if !rows.is_empty()
            && let Err(error) = show(&arguments, &rows)
        {
            print::complain(format_args!("dat-perf: {error:#}"));
        }
    })
}

/// The server of `--self`, which ends when it is dropped.
fn start_server(arguments: &Arguments) -> anyhow::Result<child::Server> {
    let processors = arguments.peer_cpu.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let mut texts = vec![arguments.name.clone(), "--announce".to_owned(), format!("--limit={}", arguments.limit)];
    if !processors.is_empty() {
        texts.push(format!("--cpu={processors}"));
    }
    if let Some(library) = &arguments.common.library {
        texts.push(format!("--library={}", library.display()));
    }
    child::Server::start(texts.iter().map(String::as_str))
}

/// Writes the results in the form that was asked for.
fn show(arguments: &Arguments, rows: &[Row]) -> anyhow::Result<()> {
    if arguments.csv {
        print::line(report::csv(rows)?)?;
    } else if arguments.common.json {
        print::line(serde_json::to_string_pretty(rows)?)?;
    } else {
        print::line(report::text(rows))?;
    }
    match &arguments.svg {
        Some(file) => picture::draw(rows, &format!("dat-perf, adapter {}", arguments.name), file),
        None => Ok(()),
    }
}
