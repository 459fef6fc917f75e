//! dat-perf: latency, bandwidth and rate by size and operation.
//!
//! Both processes follow a [`Plan`], which the client sends to the server on a control connection. The crate `dat-measure`
//! contains the plan, the objects of a thread, and its measured loops.
//!
//! | module | contents |
//! |---|---|
//! | [`arguments`] | the arguments, and the plans that they request |
//! | [`client`], [`server`] | the two sides |
//! | [`control`] | how the sides agree on a measurement |
//! | [`listener`] | the connection requests of clients and their measurements |
//! | [`side`], [`crew`] | the objects and threads of a process |
//! | [`goal`], [`interval`] | when turns, the measurement, and the intervals of --interval end |
//! | [`cpus`] | CPUs |
//! | [`result`], [`report`] | the results and their output |
//!
//! Each plan has its own connections, and each thread its own dispatchers, endpoints and memory. A thread makes the
//! transfers in turns of up to 32,768. The measured loops read no clock except the CPU's counter. After each turn, its
//! times are added to a histogram, except in the warm-up, and the client chooses the next turn. A thread that waits for
//! an event periodically checks the limits and the connections.

mod arguments;
mod client;
mod control;
mod cpus;
mod crew;
mod goal;
mod interval;
mod listener;
mod report;
mod result;
mod server;
mod side;

use anyhow::{Context, anyhow, ensure};
use dat_measure::interrupt::Interrupt;
use dat_measure::perf::plan::Plan;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub use arguments::Arguments;
use client::Client;
use cpus::Cpus;
use dat::Library;
use report::Table;
use result::Measurement;

use crate::peer::{Target, child};
use crate::print;
use crate::tool::{Outcome, Tool, log_errors, open_adapter};

const PORT: u64 = 18_516;

struct Results<'a> {
    arguments: &'a Arguments,
    rows: Vec<Measurement>,
    table: Table,
    note: String,
    progress: ProgressBar,
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

/// Measures, and shows each result as soon as it is available, also before an error.
fn run_client(arguments: &Arguments) -> anyhow::Result<()> {
    let plans = arguments.plans();
    let table = Table::new(&plans, arguments.gbits);
    let progress = ProgressBar::hidden();
    let mut results = Results { arguments, rows: Vec::new(), table, note: String::new(), progress };
    let interrupt = Interrupt::catch().context("cannot catch signals")?;
    let measured = measure(&plans, &mut results, &interrupt);
    results.progress.finish_and_clear();
    let shown = results.end();
    ensure!(!interrupt.is_set(), "interrupted");
    measured.and(shown)
}

fn measure(plans: &[Plan], results: &mut Results, interrupt: &Interrupt) -> anyhow::Result<()> {
    let arguments = results.arguments;
    let peer = &arguments.peer;
    let library = peer.common.library_with(Some(arguments.name.as_bytes()))?.library;
    let cpus = Cpus::new(&arguments.cpu, &arguments.peer_cpu, peer.own_peer);
    // Start the child process before pinning this thread, because a child inherits the pinned CPUs.
    let server = if peer.own_peer { Some(start_server(arguments, library)?) } else { None };
    cpus::pin(&cpus.own, 0)?;
    let ia = open_adapter(library, &arguments.name)?;
    let progress = results.progress.clone();
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
    for plan in plans {
        let (title, plan) = (report::title(plan.test, plan.size), client.settled(plan));
        progress.set_message(title.clone());
        let row = client.measure(&plan, |end, row| results.show(|table| Ok(table.row(row, Some(end)))))?;
        if !row.complete {
            let (made, wanted) = (row.iterations, plan.iterations * u64::from(plan.threads));
            let seconds = arguments.seconds();
            cut.push(format!("{title}: it takes longer than {seconds} s (--limit): {made} of {wanted} transfers"));
        }
        results.add(row)?;
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

impl Results<'_> {
    /// Adds a row, and writes it. JSON is written by [`end`](Self::end) instead.
    fn add(&mut self, row: Measurement) -> anyhow::Result<()> {
        let first = self.rows.is_empty();
        match (self.arguments.csv, self.arguments.peer.common.json) {
            (true, _) => self.show(|_| report::csv(&row, first))?,
            (_, true) => {}
            _ => self.show(|table| Ok(table.row(&row, None)))?,
        }
        self.rows.push(row);
        Ok(())
    }

    /// Writes the lines that `text` returns to standard output, while the progress bar is hidden.
    fn show(&mut self, text: impl FnOnce(&mut Table) -> anyhow::Result<String>) -> anyhow::Result<()> {
        let text = text(&mut self.table)?;
        self.progress.suspend(|| print::line(text))
    }

    /// Writes the summary after the rows; or as JSON all rows, even if there are none.
    fn end(&self) -> anyhow::Result<()> {
        match (self.arguments.csv, self.arguments.peer.common.json) {
            (true, _) => Ok(()),
            (_, true) => print::line(serde_json::to_string_pretty(&self.rows)?),
            _ if self.rows.is_empty() => Ok(()),
            _ => print::line(format_args!("\n{}\n{}", report::summary(&self.rows), self.note)),
        }
    }
}
