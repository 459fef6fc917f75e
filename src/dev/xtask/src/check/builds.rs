// SPDX-License-Identifier: MIT OR Apache-2.0

//! Builds for several steps. The first step that needs a build makes it, and the other steps wait.

use std::sync::OnceLock;

use anyhow::{Result, bail};

use super::context::Context;
use super::packages;
use super::table::Step;

#[derive(Default)]
pub struct Builds {
    release: OnceLock<bool>,
    programs: OnceLock<bool>,
    debug: OnceLock<bool>,
}

/// Arguments of cargo for all targets except benchmarks. There are no benchmarks, but with them, cargo would compile
/// each library once more.
pub const TARGETS: [&str; 4] = ["--lib", "--bins", "--tests", "--examples"];

/// Returns the arguments of cargo that select the crates that this machine can build. Commands with these arguments
/// share builds.
pub fn selection() -> Vec<&'static str> {
    if packages::verbs().is_empty() {
        vec!["--workspace", "--features", "dat-fuzz/verbs", "--locked"]
    } else {
        vec!["--workspace", "--exclude", "dat-verbs", "--exclude", "libdaplverbs", "--locked"]
    }
}

pub fn release(context: &Context, step: &Step) -> Result<()> {
    let build = || context.build(step, &mut context.make(["all"])).unwrap_or(false);
    once(&context.builds.release, build, "make all")
}

/// Builds the C suite for both versions, so that no two steps build it concurrently.
pub fn programs(context: &Context, step: &Step) -> Result<()> {
    release(context, step)?;
    let build = || {
        [("API=1.2", "both-all"), ("API=2.0", "libs")].iter().all(|(api, more)| {
            let goals = ["-C", "tests-c", "-j3", "programs", "measure-programs", more, "IA=verbs-v0", api];
            let mut make = context.make(goals);
            context.build(step, &mut make).unwrap_or(false)
        })
    };
    once(&context.builds.programs, build, "make -C tests-c programs")
}

pub fn debug(context: &Context, step: &Step) -> Result<()> {
    let build = || {
        let mut cargo = context.cargo(["build"]);
        context.build(step, cargo.args(TARGETS).args(selection())).unwrap_or(false)
    };
    once(&context.builds.debug, build, "cargo build")
}

fn once(built: &OnceLock<bool>, build: impl FnOnce() -> bool, name: &str) -> Result<()> {
    if !*built.get_or_init(build) {
        bail!("{name} failed");
    }
    Ok(())
}
