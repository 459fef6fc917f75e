// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs the checks of the project: `make check` and its relatives call it.

mod chart;
mod check;
mod command;
mod fresh;
mod libraries;
mod limits;
mod suite;
mod tap;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::{Parser, Subcommand};

/// Runs the checks of the project.
#[derive(Parser)]
#[command(disable_version_flag = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Runs the steps of tests-c/steps.txt, and prints a table of results.
    Check(check::Args),
    /// Runs programs of the C suite side by side, and prints a closing line.
    Suite(Box<suite::Args>),
    /// Fails if a library is older than a source file from which it was built.
    Fresh(fresh::Args),
    /// Compares the sources with tests-c/limits.txt, and lists the phrases to avoid; prints TAP.
    Limits,
    /// Reads the description of a chart, and writes it as SVG.
    Chart,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(3).expect("the crate is in src/dev").to_path_buf()
}

fn main() -> ExitCode {
    let command = Args::parse().command;
    let grace = Duration::from_secs(if matches!(command, Command::Check(_)) { 8 } else { 1 });
    let result = command::end_all_on_signals(grace).map_err(Into::into).and_then(|()| match command {
        Command::Check(args) => check::run(&args),
        Command::Suite(args) => suite::run(*args),
        Command::Fresh(args) => fresh::run(&args),
        Command::Limits => limits::run(),
        Command::Chart => chart::run(),
    });
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}
