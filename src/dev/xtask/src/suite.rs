// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs programs of the C suite side by side and counts their subtests.
//!
//! Each program has its own rendezvous directory, dat.conf, range of ports and process group. tests-c/schedule.txt
//! lists programs that start early, or that run without others:
//!
//! ```text
//! early programs ─┐
//! other programs ─┴─> pool of threads ──> programs that run alone ──> programs that run last
//! ```

mod environment;
mod schedule;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Sender};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use indicatif::{ProgressBar, ProgressStyle};

use crate::command::Group;
use crate::tap::{self, Counts, Results};
pub use environment::DIAGNOSTICS;
use environment::Environment;
use schedule::{Schedule, Turn};

/// Maximum time limit of a program after scaling.
const MAX_LIMIT: Duration = Duration::from_secs(3600);
/// Maximum number of concurrent programs. `unique_qual` of tests-c/common has a range of ports for each.
const MAX_JOBS: usize = 8;
/// Maximum shown lines of a failed program's standard error.
const SHOWN_ERRORS: usize = 40;

/// Arguments of `xtask suite`.
#[derive(clap::Args)]
pub struct Args {
    /// The adapter that the programs open.
    #[arg(long, default_value = "shm")]
    ia: String,
    /// The directory of libdat and the provider libraries.
    #[arg(long)]
    libdir: PathBuf,
    /// The version of uDAPL for which the programs are compiled.
    #[arg(long, default_value = "1.2", value_parser = ["1.2", "2.0"])]
    api: String,
    /// Longest time of one program in seconds, before scaling by $DAT_TEST_SCALE.
    #[arg(long, default_value_t = 120)]
    limit: u64,
    /// The directory for the outputs.
    #[arg(long)]
    out: PathBuf,
    /// Runs the programs under valgrind, with longer deadlines.
    #[arg(long)]
    memcheck: bool,
    /// Programs, as subject.name, that run with smaller numbers.
    #[arg(long, default_value = "", hide_default_value = true)]
    quick: String,
    /// Programs in which valgrind does not look for leaks.
    #[arg(long, default_value = "", hide_default_value = true)]
    no_leaks: String,
    /// The directory with the programs and libraries of the other version, whose second processes are used.
    #[arg(long)]
    others: Option<PathBuf>,
    /// The pattern by which the caller chose the programs; "." for all.
    #[arg(long, default_value = ".")]
    pattern: String,
    /// Prints the whole output of each program.
    #[arg(long)]
    verbose: bool,
    /// Programs that run concurrently; one more than there are CPUs by default.
    #[arg(long)]
    jobs: Option<usize>,
    /// What to do with the programs that tests-c/schedule.txt runs alone.
    #[arg(long, value_enum, default_value_t)]
    alone: schedule::Alone,
    /// Runs each program this often, alongside a busy thread on each CPU, and reports how many of its runs failed.
    #[arg(long, value_name = "N")]
    repeat: Option<usize>,
    /// Programs and scripts, in the order in which they start.
    programs: Vec<PathBuf>,
}

struct Program {
    path: PathBuf,
    /// Directory and file name, such as `srq/resize`.
    name: String,
    turn: Turn,
}

impl Program {
    fn new(path: PathBuf, schedule: &Schedule) -> Result<Program> {
        let mut parts = path.iter().rev().map(|part| part.to_string_lossy());
        let (file, subject) = (parts.next(), parts.next());
        let (Some(file), Some(subject)) = (file, subject) else { bail!("{}: no directory", path.display()) };
        let name = format!("{subject}/{file}");
        drop(parts);
        Ok(Program { path, turn: schedule.turn(&name), name })
    }

    /// Returns the name in files and options, such as `srq.resize`.
    fn dotted(&self) -> String {
        self.name.replacen('/', ".", 1)
    }
}

struct Run {
    program: usize,
    results: Results,
    why: Option<String>,
    output: String,
    errors: String,
    time: Duration,
    cpu: Duration,
}

#[derive(Default)]
struct Record {
    runs: usize,
    failed_runs: usize,
    counts: Counts,
    time: Duration,
    cpu: Duration,
}

/// Runs the programs. Returns whether no subtest failed, and at least one passed or was skipped.
pub fn run(args: Args) -> Result<bool> {
    fs::create_dir_all(&args.out).with_context(|| args.out.display().to_string())?;
    let out = args.out.canonicalize()?;
    let schedule = Schedule::read(&schedule::path())?;
    let programs: Vec<Program> =
        args.programs.iter().map(|path| Program::new(path.clone(), &schedule)).collect::<Result<_>>()?;
    let environment = Environment::new(&args, &out)?;
    let cpus = thread::available_parallelism().map_or(1, usize::from);
    let suite = Suite {
        jobs: args.jobs.unwrap_or(cpus + 1).clamp(1, MAX_JOBS),
        bar: progress(&programs),
        out,
        environment,
        programs,
        args,
    };
    if suite.args.repeat.is_some() {
        (0..cpus).for_each(|_| {
            drop(thread::spawn(|| {
                loop {
                    std::hint::spin_loop()
                }
            }))
        });
    }
    suite.run_all()
}

fn progress(programs: &[Program]) -> ProgressBar {
    if !std::io::stdout().is_terminal() {
        return ProgressBar::hidden();
    }
    let style = ProgressStyle::with_template("{elapsed} {pos}/{len} {wide_msg}").expect("a valid template");
    ProgressBar::new(programs.len() as u64).with_style(style)
}

struct Suite {
    args: Args,
    out: PathBuf,
    programs: Vec<Program>,
    environment: Environment,
    jobs: usize,
    bar: ProgressBar,
}

impl Suite {
    fn run_all(&self) -> Result<bool> {
        let mut records: BTreeMap<usize, Record> = BTreeMap::new();
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        let of_turn = |turn| (0..self.programs.len()).filter(move |&i| self.programs[i].turn == turn);
        if self.args.alone != schedule::Alone::Only {
            // A single thread runs the programs of a unit in turn. Programs that use the same ports are one unit.
            let ports: Vec<usize> = of_turn(Turn::Ports).collect();
            let single = |program| vec![program];
            let mut pool: Vec<Vec<usize>> = of_turn(Turn::Early).map(single).collect();
            pool.extend((!ports.is_empty()).then_some(ports));
            pool.extend(of_turn(Turn::Any).map(single));
            self.run_some(self.jobs, &pool, &mut records, &mut reasons)?;
        }
        if self.args.alone != schedule::Alone::Skip {
            self.run_some(1, &[of_turn(Turn::Alone).collect()], &mut records, &mut reasons)?;
        }
        if self.args.alone != schedule::Alone::Only {
            self.run_some(1, &[of_turn(Turn::Last).collect()], &mut records, &mut reasons)?;
        }
        self.bar.finish_and_clear();
        if !reasons.is_empty() {
            println!("skipped:");
            reasons.iter().for_each(|(reason, number)| println!("  {number:7} {reason}"));
        }
        let mut total = Counts::default();
        records.values().for_each(|record| total += record.counts);
        println!("{total}");
        Ok(total.failed == 0 && total.passed + total.skipped > 0)
    }

    /// Runs units (lists of programs that run in turn), up to `jobs` concurrently. Reports each program that has ended.
    fn run_some(
        &self,
        jobs: usize,
        units: &[Vec<usize>],
        records: &mut BTreeMap<usize, Record>,
        reasons: &mut BTreeMap<String, usize>,
    ) -> Result<()> {
        let repeat = self.args.repeat.unwrap_or(1);
        let queue = Mutex::new((0..repeat).flat_map(|round| units.iter().map(move |unit| (unit, round))));
        let (ended, runs) = mpsc::channel();
        thread::scope(|scope| {
            for slot in 0..jobs.min(units.len()) {
                let (queue, ended) = (&queue, ended.clone());
                scope.spawn(move || self.work(slot, queue, &ended));
            }
            drop(ended);
            for run in runs {
                let run = run?;
                let record = records.entry(run.program).or_default();
                let program = &self.programs[run.program];
                for reason in &run.results.reasons {
                    *reasons.entry(format!("{reason} ({})", program.name)).or_default() += 1;
                }
                record.runs += 1;
                record.failed_runs += usize::from(run.results.counts.failed > 0);
                record.counts += run.results.counts;
                record.time += run.time;
                record.cpu += run.cpu;
                self.bar.suspend(|| self.report(program, &run, record, repeat));
                if record.runs == repeat {
                    self.bar.inc(1);
                }
            }
            Ok(())
        })
    }

    fn work<'u>(
        &self,
        slot: usize,
        queue: &Mutex<impl Iterator<Item = (&'u Vec<usize>, usize)>>,
        ended: &Sender<Result<Run>>,
    ) {
        loop {
            let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((unit, round)) = next else { return };
            for &program in unit {
                self.bar.set_message(self.programs[program].name.clone());
                if ended.send(self.run_one(slot, program, round)).is_err() {
                    return;
                }
            }
        }
    }

    fn run_one(&self, slot: usize, index: usize, round: usize) -> Result<Run> {
        let program = &self.programs[index];
        let dotted = program.dotted();
        let file = if round == 0 { dotted.clone() } else { format!("{dotted}.{round}") };
        let (tap, err) = (self.out.join(format!("{file}.tap")), self.out.join(format!("{file}.err")));
        let mut command = self.command(program, &dotted);
        self.environment.apply(&mut command, slot, &file)?;
        command.env("DAT_TEST_QUICK", if self.is_quick(&dotted) { "1" } else { "0" });
        command.stdin(Stdio::null()).stdout(File::create(&tap)?).stderr(File::create(&err)?);

        let scaled = self.args.limit as f64 * self.environment.scale();
        let limit = Duration::try_from_secs_f64(scaled).unwrap_or(MAX_LIMIT).min(MAX_LIMIT);
        let began = Instant::now();
        let group = Group::spawn(&mut command).with_context(|| program.path.display().to_string())?;
        let (end, cpu) = group.wait(limit)?;
        let time = began.elapsed();
        let (output, errors) = (read_lossy(&tap)?, read_lossy(&err)?);
        let (results, why) = tap::program(&output, end);
        if round > 0 && results.counts.failed == 0 {
            fs::remove_file(&tap)?;
            fs::remove_file(&err)?;
        }
        Ok(Run { program: index, results, why, output, errors, time, cpu })
    }

    fn is_quick(&self, dotted: &str) -> bool {
        self.args.quick.split_whitespace().any(|name| name == dotted)
            || std::env::var("DAT_TEST_QUICK").is_ok_and(|value| !value.is_empty() && value != "0")
    }

    fn command(&self, program: &Program, dotted: &str) -> Command {
        let is_script = program.path.extension().is_some_and(|extension| extension == "sh");
        let mut command = if is_script {
            Command::new("sh")
        } else if self.args.memcheck {
            let mut valgrind = Command::new("valgrind");
            valgrind.args(["--quiet", "--error-exitcode=99", "--fair-sched=yes", "--trace-children=yes"]);
            // Reading the names of inlined functions would take a fifth of a short program's time.
            valgrind.arg("--read-inline-info=no");
            valgrind.arg(format!("--suppressions={}", schedule::directory().join("valgrind.supp").display()));
            if self.args.no_leaks.split_whitespace().any(|name| name == dotted) {
                valgrind.arg("--leak-check=no");
            } else {
                valgrind.args(["--leak-check=full", "--errors-for-leak-kinds=definite", "--show-leak-kinds=definite"]);
            }
            valgrind
        } else {
            let mut command = Command::new(&program.path);
            command.arg(&self.args.ia);
            return command;
        };
        command.arg(&program.path).arg(&self.args.ia);
        command
    }

    /// Prints the line of a program after its last run or a failed run; and after a failed run, its output about the
    /// failures.
    fn report(&self, program: &Program, run: &Run, record: &Record, repeat: usize) {
        let Counts { passed, failed, skipped } = if repeat == 1 { run.results.counts } else { record.counts };
        if record.runs == repeat || run.results.counts.failed > 0 {
            let times = if repeat == 1 {
                String::new()
            } else {
                format!("  {}/{} runs failed", record.failed_runs, record.runs)
            };
            let name = &program.name;
            let mean = |time: Duration| time.as_secs_f64() / record.runs as f64;
            let (seconds, cpu) = (mean(record.time), mean(record.cpu));
            println!(
                "{name:<34} {passed:4} passed {failed:3} failed {skipped:3} skipped {seconds:6.1}s {cpu:6.1}s of CPU time{times}"
            );
        }
        if self.args.verbose {
            run.output.lines().for_each(|line| println!("    {line}"));
        }
        let remarks = run.output.lines().filter(|line| line.contains("  subtype: got ")).count();
        if remarks > 0 && !self.args.verbose {
            println!("    subtypes that differ from the recommended ones: {remarks}; V=1 shows them");
        }
        if run.results.counts.failed == 0 {
            return;
        }
        if !self.args.verbose {
            tap::failures(&run.output).iter().for_each(|line| println!("    {line}"));
        }
        if let Some(why) = &run.why {
            println!("    {}: {why}; the last lines of its output:", program.name);
            last_lines(&run.output, 3).for_each(|line| println!("    | {line}"));
        }
        last_lines(&run.errors, SHOWN_ERRORS).for_each(|line| println!("    ! {line}"));
    }
}

fn read_lossy(path: &Path) -> Result<String> {
    Ok(String::from_utf8_lossy(&fs::read(path)?).into_owned())
}

fn last_lines(text: &str, number: usize) -> impl Iterator<Item = &str> {
    let lines: Vec<&str> = text.lines().collect();
    let first = lines.len().saturating_sub(number);
    lines.into_iter().skip(first)
}
