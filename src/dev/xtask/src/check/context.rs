// SPDX-License-Identifier: MIT OR Apache-2.0

//! State that all steps share: directories, commands, time limits and logs.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

use super::builds::Builds;
use super::table::Step;
use crate::command::{End, Group};
use crate::suite::DIAGNOSTICS;

/// Variables that steps do not inherit: the configuration, which tests replace, and variables of a calling make.
const REMOVED: [&str; 5] = ["DAT_OVERRIDE", "MAKEFLAGS", "MFLAGS", "MAKELEVEL", "GNUMAKEFLAGS"];

const BUILD_TIMEOUT: Duration = Duration::from_secs(1800);

pub struct Context {
    pub root: PathBuf,
    /// The build directory of cargo.
    pub target: PathBuf,
    pub logs: PathBuf,
    /// The adapter for the C suite and the demo.
    pub ia: String,
    /// Builds that more than one step needs.
    pub builds: Builds,
    /// Set if there is more than one step. The first step that needs the C suite then builds all its programs, so that
    /// no concurrent steps build it.
    pub is_shared: bool,
    /// Set if steps may install what they lack.
    pub may_install: bool,
    /// Path of this program, found before cargo replaces the file.
    pub xtask: PathBuf,
    /// Factor for all limits.
    pub slow: f64,
    deadlines: Mutex<BTreeMap<String, Instant>>,
    cpu: Mutex<BTreeMap<String, Duration>>,
}

pub fn variable(name: &str, default: &str) -> String {
    std::env::var(name).ok().filter(|value| !value.is_empty()).unwrap_or_else(|| default.to_string())
}

impl Context {
    /// Prepares the logs of `steps`, and removes the results of an earlier run.
    pub fn new(steps: &[Step], slow: f64, may_install: bool) -> Result<Context> {
        let root = crate::root();
        let target = variable("CARGO_TARGET_DIR", &root.join("target").display().to_string());
        let target = root.join(target);
        let logs = target.join("check");
        fs::create_dir_all(&logs).with_context(|| logs.display().to_string())?;
        let _ = fs::remove_file(logs.join("summary"));
        let context = Context {
            root,
            target,
            logs,
            ia: variable("IA", "shm"),
            builds: Builds::default(),
            is_shared: steps.len() > 1,
            may_install,
            xtask: std::env::current_exe().context("cannot find the path of this program")?,
            slow,
            deadlines: Mutex::default(),
            cpu: Mutex::default(),
        };
        for step in steps {
            File::create(context.log(step))?;
        }
        Ok(context)
    }

    pub fn log(&self, step: &Step) -> PathBuf {
        self.logs.join(format!("{}.log", step.name))
    }

    /// Returns a command in the root of the source tree, with the environment of a step.
    pub fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        for name in REMOVED.iter().chain(&DIAGNOSTICS) {
            command.env_remove(name);
        }
        command
            .current_dir(&self.root)
            .env("LC_ALL", "C")
            .env("CARGO_TERM_COLOR", "never")
            .env("CARGO_TARGET_DIR", &self.target)
            .env("XTASK", &self.xtask)
            .stdin(Stdio::null());
        // Double the deadlines by default, because other lanes run concurrently.
        let scale: f64 = variable("DAT_TEST_SCALE", "2").parse().unwrap_or(2.0);
        command.env("DAT_TEST_SCALE", (scale * self.slow).to_string());
        command
    }

    pub fn cargo<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.command(&variable("CARGO", "cargo"));
        command.args(arguments);
        command
    }

    pub fn make<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = self.command(&variable("MAKE", "make"));
        command.arg("--no-print-directory").args(arguments);
        command
    }

    pub fn script(&self, path: &str) -> Command {
        self.command(&self.root.join(path).display().to_string())
    }

    /// Runs a command until its end or the step's deadline. Returns its output, and appends it to the log.
    pub fn run(&self, step: &Step, command: &mut Command) -> Result<(End, String)> {
        let limit = Duration::from_secs_f64(step.longest as f64 * self.slow);
        let mut deadlines = self.deadlines.lock().unwrap_or_else(PoisonError::into_inner);
        let deadline = *deadlines.entry(step.name.clone()).or_insert_with(|| Instant::now() + limit);
        drop(deadlines);
        self.run_until(step, command, deadline)
    }

    /// Runs a build for a step, outside the time limit of the step.
    pub fn build(&self, step: &Step, command: &mut Command) -> Result<bool> {
        let (end, _) = self.run_until(step, command, Instant::now() + BUILD_TIMEOUT.mul_f64(self.slow))?;
        Ok(end.is_success())
    }

    fn run_until(&self, step: &Step, command: &mut Command, deadline: Instant) -> Result<(End, String)> {
        let path = self.log(step);
        let from = fs::metadata(&path).map_or(0, |data| data.len()) as usize;
        let log = OpenOptions::new().append(true).create(true).open(&path)?;
        command.stdout(log.try_clone()?).stderr(log);
        let group = Group::spawn(command).with_context(|| format!("{:?}", command.get_program()))?;
        let (end, cpu) = group.wait(deadline.saturating_duration_since(Instant::now()))?;
        *self.cpu.lock().unwrap_or_else(PoisonError::into_inner).entry(step.name.clone()).or_default() += cpu;
        if end == End::TimedOut {
            self.note(step, &format!("{}: ran out of time", step.name));
        }
        let output = fs::read(&path)?;
        Ok((end, String::from_utf8_lossy(&output[from.min(output.len())..]).into_owned()))
    }

    pub fn cpu_time(&self, step: &Step) -> Duration {
        self.cpu.lock().unwrap_or_else(PoisonError::into_inner).get(&step.name).copied().unwrap_or_default()
    }

    pub fn note(&self, step: &Step, line: &str) {
        if let Ok(mut log) = OpenOptions::new().append(true).create(true).open(self.log(step)) {
            // Ignore errors: the table of results shows the result anyway.
            let _ = writeln!(log, "{line}");
        }
    }
}
