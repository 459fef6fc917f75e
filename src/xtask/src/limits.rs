// SPDX-License-Identifier: MIT OR Apache-2.0

//! The limits on the size of the project.

/// Arguments of `xtask limits`.
#[derive(clap::Args)]
pub struct Args {}

/// Compares the project with its limits.
pub fn run(_: &Args) -> anyhow::Result<()> {
    Ok(())
}
