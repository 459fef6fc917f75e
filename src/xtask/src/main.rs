// SPDX-License-Identifier: MIT OR Apache-2.0

//! Runs the checks of the project.

mod limits;

use clap::{Parser, Subcommand};

/// Runs the checks of the project.
#[derive(Parser)]
#[command(disable_version_flag = true)]
struct Args {
    #[command(subcommand)]
    command: Command,
}

/// What to do.
#[derive(Subcommand)]
enum Command {
    /// Compares the size of the project with tests-c/limits.txt; prints TAP.
    Limits(limits::Args),
}

fn main() -> anyhow::Result<()> {
    match Args::parse().command {
        Command::Limits(args) => limits::run(&args),
    }
}
