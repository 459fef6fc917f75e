//! dat-perf: latency, bandwidth and rate by size and operation.
//!
//! Both processes follow a [`plan`], which the client sends to the server on a control connection.
//!
//! | module | contents |
//! |---|---|
//! | [`arguments`] | the arguments, and the plans that they request |
//! | [`client`], [`server`] | the two sides |
//! | [`plan`], [`control`] | a measurement, and how the sides agree on it |
//! | [`listener`] | the connection requests of clients and their measurements |
//! | [`side`], [`crew`], [`limit`] | the objects and threads of a process, and its limits |
//! | [`worker`], [`latency`], [`stream`] | the part of a thread: the measured loops |
//! | [`goal`] | the number of transfers in the next turn, and the end |
//! | [`clock`], [`cpus`] | times and CPU time, CPUs |
//! | [`result`], [`report`] | the results and their output |
//!
//! Each plan has its own connections, and each thread its own dispatchers, endpoints and memory. The measured loops read no clock except the CPU's counter. After each turn of up
//! to 32,768 transfers, the times are added to a histogram, and the client chooses the next turn. A thread without
//! events periodically checks the limits and the connections.

mod arguments;
mod client;
mod clock;
mod control;
mod cpus;
mod crew;
mod goal;
mod latency;
mod limit;
mod listener;
mod plan;
mod report;
mod result;
mod server;
mod side;
mod stream;
mod worker;

use anyhow::{Context, anyhow, ensure};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub use arguments::Arguments;
use client::Client;
use cpus::Cpus;
use dat::Library;
use result::Measurement;

use crate::interrupt::Interrupt;
use crate::peer::{Target, child};
use crate::print;
use crate::tool::{Outcome, Tool, log_errors, open_adapter};

const PORT: u64 = 18_516;

#[derive(Default)]
struct Results {
    rows: Vec<Measurement>,
    note: String,
}

impl Tool for Arguments {
    const MANUAL: &'static str = include_str!("manual.txt");

    fn run(self) -> anyhow::Result<Outcome> {
        if let Some(contradiction) = self.contradiction() {
            print::complain(format_args!("dat-perf: {contradiction}"));
            return Ok(Outcome::Usage);
        }
        log_errors();
        let ran = if self.peer.is_server() { server::run(&self) } else { run_client(&self) };
        ran.map(|()| Outcome::Fine)
    }
}

/// Measures, and shows the results even after an error.
fn run_client(arguments: &Arguments) -> anyhow::Result<()> {
    let (mut results, progress) = (Results::default(), ProgressBar::hidden());
    let interrupt = Interrupt::catch().context("cannot catch signals")?;
    let measured = measure(arguments, &mut results, &progress, &interrupt);
    progress.finish_and_clear();
    let shown = show(arguments, &results);
    ensure!(!interrupt.is_set(), "interrupted");
    measured.and(shown)
}

fn measure(
    arguments: &Arguments,
    results: &mut Results,
    progress: &ProgressBar,
    interrupt: &Interrupt,
) -> anyhow::Result<()> {
    let peer = &arguments.peer;
    let library = peer.common.library_with(Some(arguments.name.as_bytes()))?.library;
    let cpus = Cpus::new(&arguments.cpu, &arguments.peer_cpu, peer.own_peer);
    // First, because a child process inherits the CPUs.
    let server = if peer.own_peer { Some(start_server(arguments, library)?) } else { None };
    cpus::pin(&cpus.own, 0)?;
    let ia = open_adapter(library, &arguments.name)?;
    let plans = arguments.plans();
    progress.set_length(plans.len() as u64);
    progress.set_style(ProgressStyle::with_template("{pos} of {len}  {msg}")?);
    progress.set_draw_target(ProgressDrawTarget::stderr());
    let target = Target {
        tool: "dat-perf",
        adapter: &arguments.name,
        host: peer.host.as_deref(),
        qualifier: server.as_ref().map_or(peer.qualifier.unwrap_or(PORT), |server| server.qualifier),
        timeout: arguments.timeout(),
        interrupt,
    };
    let mut client = Client::connect(&ia, arguments, &cpus, &target)?;
    let mut cut = Vec::new();
    for plan in &plans {
        let (title, plan) = (report::title(plan.test, plan.size), client.settled(plan));
        progress.set_message(title.clone());
        let row = client.measure(&plan)?;
        if !row.complete {
            let (made, wanted) = (row.iterations, plan.iterations * u64::from(plan.threads));
            let seconds = arguments.seconds();
            cut.push(format!("{title}: it takes longer than {seconds} s (--limit): {made} of {wanted} transfers"));
        }
        results.rows.push(row);
        results.note = cpus.line(&plan);
        progress.inc(1);
    }
    client.control.close()?;
    if cut.is_empty() { Ok(()) } else { Err(anyhow!(cut.join("\ndat-perf: "))) }
}

fn start_server(arguments: &Arguments, library: Library) -> anyhow::Result<child::Server> {
    let cpus = arguments.peer_cpu.iter().map(ToString::to_string).collect::<Vec<_>>().join(",");
    let cpus = (!cpus.is_empty()).then(|| format!("--cpu={cpus}"));
    let more = cpus.into_iter().chain([format!("--limit={}", arguments.seconds())]);
    child::Server::start(library, arguments.peer.common.library.as_deref(), &arguments.name, more)
}

/// Writes the results; an empty list only as JSON.
fn show(arguments: &Arguments, Results { rows, note }: &Results) -> anyhow::Result<()> {
    if rows.is_empty() && !arguments.peer.common.json {
        return Ok(());
    }
    if arguments.csv {
        print::line(report::csv(rows)?)
    } else if arguments.peer.common.json {
        print::line(serde_json::to_string_pretty(rows)?)
    } else {
        print::line(format_args!("{}\n{note}", report::text(rows)))
    }
}
