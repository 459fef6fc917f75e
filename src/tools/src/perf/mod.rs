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
//! | [`worker`], [`latency`], [`stream`] | what a thread does: the loops whose time is taken |
//! | [`goal`] | how many transfers come next, and when it is enough |
//! | [`clock`], [`processors`], [`machine`] | times, processor time, processors, and the machine |
//! | [`result`], [`report`], [`picture`] | what comes out of it |
//!
//! For each plan both sides open the adapter once more, so what is measured has the connections of the plan and nothing
//! of the plan before. Each thread has its own dispatchers, endpoints and memory; threads meet at a gate, the first of
//! them also meets the peer, and one that fails opens the gate with an error. The loops hold handles beside the
//! functions of the library, leave a completion where the library wrote it, and look at no clock but the processor's
//! counter; the same loops in C are 3 % faster for single messages of 8 bytes, and not measurably for others. That the
//! peer has gone they learn from the receives that end with it, or, where receives are of a shared queue, by looking
//! for the event of the connection now and then. They are run in turns of up to 32,768 transfers, between which the times
//! go into a histogram, the clock is looked at, and the client says how many come next. A second thread ends a client
//! that takes too long in a turn or is asked to end, and shows what it has measured; at a server it ends the connections.

mod arguments;
mod client;
mod clock;
mod control;
mod gate;
mod goal;
mod latency;
mod limit;
mod machine;
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

use anyhow::{Context, anyhow};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub use arguments::Arguments;

use crate::child;
use crate::dat::{Ia, Library, address};
use crate::interrupt::Interrupt;
use crate::print;
use crate::tool::{EXIT_STATUS, Outcome, Section, Tool};
use client::{Client, GiveUp};
use parking_lot::Mutex;
use processors::Processors;
use result::Measurement;

/// The results so far; none once they are shown.
type Rows = Arc<Mutex<Option<Results>>>;

/// What was measured, and a line about where.
#[derive(Default)]
struct Results {
    rows: Vec<Measurement>,
    note: String,
}

impl Tool for Arguments {
    const SECTIONS: &'static [Section] = &[
        Section {
            heading: "TESTS",
            text: "send_lat, write_lat and read_lat have one outstanding transfer, with one buffer for all \
                   transfers. The time is for one direction; for a read, it is the time until the data has \
                   arrived. In send_lat, both sides also reap the completion of each send and each receive; in \
                   write_lat, the target polls its memory.\n\n\
                   send_bw, write_bw and read_bw have many outstanding transfers. A sender never sends more \
                   messages than the receiver has buffers: it uses credits, which the receiver returns in \
                   messages. The target of RDMA makes no transfers; it reads its memory, or sleeps with \
                   --wait.\n\n\
                   With --both, each side makes the transfers, and is also the receiver or target of its peer. \
                   Rates and bandwidth are the sums of both directions.\n\n\
                   With --verify, each transfer has different bytes, which depend on its number and its \
                   connection. The receiving side compares the bytes after they have arrived. The target of \
                   write_bw cannot detect single writes, so it compares each buffer at the end with the last \
                   write into it. Reads always fetch the same bytes, so dat-perf zeroes the destination before \
                   each read.",
        },
        Section {
            heading: "OUTPUT",
            text: "Times are in microseconds and cover all transfers, exact to three digits. CPU % is the CPU \
                   time of the client, and SERVER CPU % the CPU time of the server, in percent of the elapsed \
                   time: a thread that polls uses 100. Rates and bandwidth are averages over the whole time of \
                   all transfers.\n\n\
                   The last line shows how many CPUs the client may use, the load average of the minute before \
                   it began, and where its threads are pinned. If more threads poll than there are CPUs for \
                   them, the line reports this, and these threads yield between two polls. The measured times \
                   then include the time to switch between threads.\n\n\
                   dat-perf writes the results at the end. After an error, --limit or Ctrl-C, it writes the \
                   results up to then, and the exit status is 1. If --limit ends a measurement, this \
                   measurement has fewer transfers, and the next one follows.\n\n\
                   --csv writes a line with names, and then a line for each measurement. --json writes a list \
                   with an object for each measurement, which has the same names; the list is empty if there \
                   is no result. Errors appear only on standard error.\n\n  \
                   adapter                      the interface adapter\n  \
                   test, size                   the test, and the bytes of a transfer\n  \
                   iterations                   transfers of all threads\n  \
                   outstanding                  outstanding transfers of a thread\n  \
                   connections, active          connections of a thread, and those that\n  \
                   \u{20}                            carry traffic\n  \
                   threads                      threads on each side\n  \
                   srq, wait, both              true or false: --srq, --wait, --both\n  \
                   min_ns, median_ns, mean_ns,  nanoseconds of a transfer, as above; in\n  \
                   p90_ns, p99_ns, p99_9_ns,    send_bw, write_bw and read_bw, from one\n  \
                   p99_99_ns, max_ns            post to the next\n  \
                   deviation_ns                 the standard deviation of these times\n  \
                   rate_per_s                   transfers per second, of all threads\n  \
                   bandwidth_mb_per_s           millions of bytes per second, of all threads\n  \
                   seconds                      the time of all transfers\n  \
                   cpu_seconds, cpu_percent     CPU time of the client\n  \
                   server_cpu_seconds,          CPU time of the server\n  \
                   server_cpu_percent\n  \
                   processors, load             CPUs that the client may use, and the load\n  \
                   \u{20}                            average before it began\n  \
                   complete                     false if --limit ended the measurement\n  \
                   histogram                    with --histogram and --json: a list of\n  \
                   \u{20}                            from_ns, to_ns, and count, the number of\n  \
                   \u{20}                            times between",
        },
        Section {
            heading: "EXAMPLES",
            text: "  dat-perf shm --self\n  dat-perf verbs-eth0                                       # the server\n  \
                   dat-perf verbs-eth0 192.0.2.7 --svg perf.svg              # the client\n  \
                   dat-perf shm --self -t send_lat -s 8 --wait --pause 50    # waking a process that sleeps\n  \
                   dat-perf shm --self -t send_lat -s 8 -D 10 --histogram    # for ten seconds",
        },
        EXIT_STATUS,
        Section { heading: "SEE ALSO", text: "dat-info(1), dat-ping(1), dat.conf(5)" },
    ];

    fn run(self) -> anyhow::Result<Outcome> {
        if self.draw {
            return picture::draw_described().map(|()| Outcome::Fine);
        }
        if let Some(contradiction) = self.contradiction() {
            print::complain(format_args!("dat-perf: {contradiction}"));
            return Ok(Outcome::Usage);
        }
        if self.host.is_none() && !self.own_peer {
            let library = self.common.library_with(Some(self.name.as_bytes()))?;
            return server::run(&self, library).map(|()| Outcome::Fine);
        }
        be_client(&self).map(|()| Outcome::Fine)
    }
}

/// Measures, and shows the results. What was measured before a failure, or before the process is to end, is shown as well.
fn be_client(arguments: &Arguments) -> anyhow::Result<()> {
    let rows = Rows::new(Mutex::new(Some(Results::default())));
    let progress = ProgressBar::hidden();
    let give_up = give_up(arguments, &rows, &progress);
    let interrupted = Arc::clone(&give_up);
    let interrupt =
        Interrupt::catch_then(move || interrupted("it was interrupted")).context("signals cannot be caught")?;
    let measured = measure(arguments, &rows, &progress, give_up);
    while interrupt.is_set() {
        // Another thread ends the process. A signal may also be why a call has failed here.
        std::thread::park();
    }
    progress.finish_and_clear();
    let shown = show_once(arguments, &rows);
    measured.and(shown)
}

/// Carries out all plans.
fn measure(arguments: &Arguments, rows: &Rows, progress: &ProgressBar, give_up: GiveUp) -> anyhow::Result<()> {
    if let Some(file) = &arguments.svg {
        picture::check(file)?;
    }
    let library = arguments.common.library_with(Some(arguments.name.as_bytes()))?;
    let mut places = Processors::new(&arguments.cpu, &arguments.peer_cpu, arguments.own_peer);
    places.spread(arguments.threads, arguments.wait);
    processors::pin(&places.own, 0)?;
    let server = if arguments.own_peer { Some(start_server(arguments, library, &places.peer)?) } else { None };
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
    let plans = arguments.plans();
    progress.set_length(plans.len() as u64);
    progress.set_style(ProgressStyle::with_template("{pos} of {len}  {msg}")?);
    progress.set_draw_target(ProgressDrawTarget::stderr());
    let mut client = Client::connect(&ia, arguments, &places, &hosts, qualifier, give_up)?;
    let mut cut = Vec::new();
    for plan in &plans {
        let (what, plan) = (report::under_way(plan.test, plan.size), client.settled(plan));
        progress.set_message(what.clone());
        let row = client.measure(&plan)?;
        if !row.complete {
            let (made, wanted) = (row.iterations, plan.iterations * u64::from(plan.threads));
            cut.push(format!(
                "{what}: it takes longer than {} s (--limit): {made} of {wanted} transfers",
                arguments.seconds()
            ));
        }
        if let Some(results) = &mut *rows.lock() {
            results.rows.push(row);
            results.note = places.line(&plan);
        }
        progress.inc(1);
    }
    client.close()?;
    if cut.is_empty() { Ok(()) } else { Err(anyhow!(cut.join("\ndat-perf: "))) }
}

/// What ends the process in the middle of a measurement: the results of those before are shown, and why it ends.
fn give_up(arguments: &Arguments, rows: &Rows, progress: &ProgressBar) -> GiveUp {
    let (arguments, rows, progress) = (arguments.clone(), Arc::clone(rows), progress.clone());
    Arc::new(move |why| {
        progress.finish_and_clear();
        if let Err(error) = show_once(&arguments, &rows) {
            print::complain(format_args!("dat-perf: {error:#}"));
        }
        print::complain(format_args!("dat-perf: {why}"));
        std::process::exit(1);
    })
}

/// The server of `--self`, which ends when it is dropped.
fn start_server(arguments: &Arguments, library: Library, processors: &[usize]) -> anyhow::Result<child::Server> {
    let processors = processors.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let cpu = (!processors.is_empty()).then(|| format!("--cpu={processors}"));
    let more = cpu.into_iter().chain([format!("--limit={}", arguments.seconds())]);
    child::Server::start(library, arguments.common.library.as_deref(), &arguments.name, more)
}

/// Writes the results, unless another thread has done so.
fn show_once(arguments: &Arguments, rows: &Rows) -> anyhow::Result<()> {
    // Who finds that they are taken finds them written as well.
    let mut rows = rows.lock();
    rows.take().map_or(Ok(()), |results| show(arguments, &results))
}

/// Writes the results in the form that was asked for; without any, an empty list as JSON alone.
fn show(arguments: &Arguments, Results { rows, note }: &Results) -> anyhow::Result<()> {
    if rows.is_empty() && !arguments.common.json {
        return Ok(());
    }
    if arguments.csv {
        print::line(report::csv(rows)?)?;
    } else if arguments.common.json {
        print::line(serde_json::to_string_pretty(rows)?)?;
    } else {
        print::line(format_args!("{}\n{note}", report::text(rows, arguments.percentiles)))?;
    }
    match &arguments.svg {
        Some(file) if !rows.is_empty() => {
            let about = format!("{}\n{}; {}", machine::command(), machine::describe(), note.trim_end_matches('.'));
            picture::draw(rows, &format!("dat-perf, adapter {}", arguments.name), &about, file)
        }
        _ => Ok(()),
    }
}
