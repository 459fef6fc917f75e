// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs the steps of tests-c/steps.txt and adds up their results.
//!
//! The steps of a lane run in turn, and the lanes concurrently:
//!
//! ```text
//! cargo    ── builds, lints and tests of Rust ──────────┐
//! suite    ── all that uses tests-c/build ──────────────┼──> last ── what needs the machine for itself
//! machine  ── the virtual machine with an RDMA device ──┘
//! ```

mod builds;
mod context;
mod packages;
mod steps;
mod table;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};
use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::tap::{self, Counts, Results};
use context::Context;
use table::{Lane, Step, Tier};

/// Maximum lines of a failed step's output on a terminal.
const MAX_SHOWN: usize = 60;
/// Maximum failures of a step in the summary.
const MAX_NAMED: usize = 20;

/// Arguments of `xtask check`.
#[derive(clap::Args)]
pub struct Args {
    /// Runs the steps of `make check-all`.
    #[arg(long)]
    all: bool,
    /// Runs only this step; can be repeated.
    #[arg(long = "step", value_name = "NAME")]
    steps: Vec<String>,
    /// Lists the steps with their lanes, longest and measured times.
    #[arg(long)]
    list: bool,
    /// Starts further steps after one has failed.
    #[arg(long)]
    keep_going: bool,
    /// A factor for all time limits and deadlines, for slow machines.
    #[arg(long, default_value_t = 1.0, value_name = "FACTOR")]
    slow: f64,
    /// Installs the Debian packages that the steps need; needs root.
    #[arg(long)]
    install: bool,
    /// Writes the seconds of each step that passed into tests-c/steps.txt.
    #[arg(long)]
    keep_times: bool,
}

/// A step that has ended, or that was not started.
struct Outcome {
    step: Step,
    results: Results,
    time: Duration,
    /// CPU time of the step's commands, including builds.
    cpu: Duration,
}

/// Runs the steps. Returns whether none of them failed.
pub fn run(args: &Args) -> Result<bool> {
    let table = table::read()?;
    let steps = choose(args, &table)?;
    if args.list {
        steps.iter().for_each(|step| println!("{step}"));
        return Ok(true);
    }
    let context = Context::new(&steps, args.slow, args.install && context::variable("CHECK_INSTALL", "1") != "0")?;
    let missing = packages::provide(&context, &steps)?;
    missing.iter().for_each(|line| println!("xtask: {line}"));
    let began = Instant::now();
    let check = Check {
        bars: MultiProgress::with_draw_target(ProgressDrawTarget::stdout()),
        keep_going: args.keep_going,
        outcomes: Mutex::default(),
        context,
    };
    thread::scope(|scope| {
        for lane in [Lane::Cargo, Lane::Suite, Lane::Machine] {
            let mine: Vec<Step> = steps.iter().filter(|step| step.lane == lane).cloned().collect();
            let check = &check;
            scope.spawn(move || check.run_lane(&mine));
        }
    });
    check.run_lane(&steps.iter().filter(|step| step.lane == Lane::Last).cloned().collect::<Vec<_>>());
    let outcomes = check.outcomes.into_inner().unwrap_or_else(PoisonError::into_inner);
    let total = summarise(&check.context, &steps, &outcomes, &missing, began.elapsed())?;
    if args.keep_times {
        let passed =
            outcomes.iter().filter(|outcome| outcome.results.counts.failed == 0 && outcome.results.counts.passed > 0);
        table::keep_times(&passed.map(|outcome| (outcome.step.name.as_str(), outcome.time.as_secs())).collect())?;
    }
    Ok(total.failed == 0)
}

fn choose(args: &Args, table: &[Step]) -> Result<Vec<Step>> {
    if let Some(unknown) = args.steps.iter().find(|name| !table.iter().any(|step| step.name == **name)) {
        let names: Vec<&str> = table.iter().map(|step| step.name.as_str()).collect();
        bail!("no step {unknown}; steps are: {}", names.join(" "));
    }
    let chosen = |step: &&Step| {
        if args.steps.is_empty() { args.all || step.tier == Tier::Check } else { args.steps.contains(&step.name) }
    };
    Ok(table.iter().filter(chosen).cloned().collect())
}

struct Check {
    context: Context,
    keep_going: bool,
    bars: MultiProgress,
    outcomes: Mutex<Vec<Outcome>>,
}

impl Check {
    fn run_lane(&self, steps: &[Step]) {
        let style = ProgressStyle::with_template("{spinner} {elapsed} {msg}").expect("a valid template");
        for step in steps {
            let has_failed = |outcome: &Outcome| outcome.results.counts.failed > 0;
            if !self.keep_going && self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).iter().any(has_failed) {
                return;
            }
            let bar =
                self.bars.add(ProgressBar::new_spinner().with_style(style.clone()).with_message(step.name.clone()));
            bar.enable_steady_tick(Duration::from_millis(200));
            let began = Instant::now();
            let results = self.run_step(step);
            bar.finish_and_clear();
            let cpu = self.context.cpu_time(step);
            let outcome = Outcome { step: step.clone(), results, time: began.elapsed(), cpu };
            self.report(&outcome);
            self.outcomes.lock().unwrap_or_else(PoisonError::into_inner).push(outcome);
        }
    }

    /// Runs a step. A step without results, or whose command failed without a failed test, counts as one failure.
    fn run_step(&self, step: &Step) -> Results {
        let mut results = match steps::run(&self.context, step) {
            Ok(results) => results,
            Err(error) => {
                self.context.note(step, &format!("{}: {error:#}", step.name));
                Results::failure()
            }
        };
        if results.counts == Counts::default() {
            self.context.note(step, &format!("{}: no test ran", step.name));
            results.counts.failed = 1;
        }
        results
    }

    /// Prints the output of a step; on a terminal, only the end, and only if the step failed.
    fn report(&self, outcome: &Outcome) {
        let log = fs::read(self.context.log(&outcome.step)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let lines: Vec<&str> = log.lines().collect();
        let is_terminal = std::io::stdout().is_terminal();
        let shown = match (is_terminal, outcome.results.counts.failed) {
            (true, 0) => 0,
            (true, _) => lines.len().min(MAX_SHOWN),
            (false, _) => lines.len(),
        };
        let mut text = String::new();
        if shown > 0 {
            text += &format!("\n==== {}\n", outcome.step.name);
            lines[lines.len() - shown..].iter().for_each(|line| text += &format!("{line}\n"));
        }
        text += &row(&outcome.step.name, outcome.results.counts, outcome.time, outcome.cpu);
        self.bars.suspend(|| {
            // Writing fails if standard output is a closed pipe.
            let _ = writeln!(std::io::stdout(), "{text}");
        });
    }
}

fn row(name: &str, counts: Counts, time: Duration, cpu: Duration) -> String {
    let Counts { passed, failed, skipped } = counts;
    let (time, cpu) = (time.as_secs(), cpu.as_secs());
    format!("{name:<15} {passed:6} passed {failed:4} failed {skipped:4} skipped {time:5}s {cpu:5}s of CPU time")
}

/// Returns lines that list the failed tests of each failed step, or the last line of its output if it lists none.
fn name_failures(context: &Context, outcomes: &[Outcome]) -> Vec<String> {
    let mut lines = Vec::new();
    for outcome in outcomes.iter().filter(|outcome| outcome.results.counts.failed > 0) {
        let log = fs::read(context.log(&outcome.step)).unwrap_or_default();
        let log = String::from_utf8_lossy(&log);
        let mut failed = tap::failed_lines(&log);
        if failed.is_empty() {
            failed.extend(log.lines().last());
        }
        lines.extend(failed.iter().take(MAX_NAMED).map(|line| format!("  {}: {line}", outcome.step.name)));
    }
    if !lines.is_empty() {
        lines.insert(0, "failed:".into());
    }
    lines
}

/// Prints skipped tests with reasons, the table of results, failures and the closing line, and writes the same lines to
/// the file `summary`.
fn summarise(
    context: &Context,
    steps: &[Step],
    outcomes: &[Outcome],
    missing: &[String],
    time: Duration,
) -> Result<Counts> {
    let mut lines = Vec::new();
    lines.extend(missing.iter().cloned());
    let reasons: BTreeSet<String> = outcomes
        .iter()
        .flat_map(|outcome| outcome.results.reasons.iter().map(|reason| format!("  {}: {reason}", outcome.step.name)))
        .collect();
    if !reasons.is_empty() {
        lines.push("skipped:".into());
        lines.extend(reasons);
    }
    let mut total = Counts::default();
    for step in steps {
        match outcomes.iter().find(|outcome| outcome.step.name == step.name) {
            Some(outcome) => {
                total += outcome.results.counts;
                lines.push(row(&step.name, outcome.results.counts, outcome.time, outcome.cpu));
            }
            None => lines.push(format!("{:<15} not started: another step failed (KEEP_GOING=1 runs all)", step.name)),
        }
    }
    lines.push(row("total", total, time, outcomes.iter().map(|outcome| outcome.cpu).sum()));
    lines.extend(name_failures(context, outcomes));
    lines.push(total.to_string());
    let path = context.logs.join("summary");
    let mut file = File::create(&path).with_context(|| path.display().to_string())?;
    println!("\n==== summary");
    for line in &lines {
        println!("{line}");
        writeln!(file, "{line}")?;
    }
    Ok(total)
}
