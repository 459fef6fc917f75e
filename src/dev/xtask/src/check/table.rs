// SPDX-License-Identifier: MIT OR Apache-2.0

//! tests-c/steps.txt: the steps in their order.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result};

/// The targets of make that run a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tier {
    /// `make check` and `make check-all`.
    Check,
    /// `make check-all` only.
    All,
}

/// The lane of a step, which determines its predecessors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Builds, lints and tests of Rust.
    Cargo,
    /// Steps that build or run programs in tests-c/build.
    Suite,
    Machine,
    /// After all other steps, because these need the machine for themselves.
    Last,
}

const TIERS: [(&str, Tier); 2] = [("check", Tier::Check), ("all", Tier::All)];
const LANES: [(&str, Lane); 4] =
    [("cargo", Lane::Cargo), ("suite", Lane::Suite), ("machine", Lane::Machine), ("last", Lane::Last)];

fn parse<T: Copy>(words: &[(&str, T)], word: &str) -> Option<T> {
    words.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

fn word_of<'a, T: PartialEq>(words: &[(&'a str, T)], value: T) -> &'a str {
    words.iter().find(|(_, one)| *one == value).map_or("", |(name, _)| name)
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    pub name: String,
    pub tier: Tier,
    pub lane: Lane,
    /// Time limit in seconds.
    pub longest: u64,
    /// Measured seconds on a machine with two CPUs.
    pub took: u64,
    /// Description of what the step checks.
    pub what: String,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Step { name, tier, lane, longest, took, what } = self;
        let (tier, lane) = (word_of(&TIERS, *tier), word_of(&LANES, *lane));
        write!(f, "{name:<14} {tier:<5} {lane:<8} {longest:>7} {took:>6}  {what}")
    }
}

impl Step {
    fn parse(line: &str) -> Option<Step> {
        let mut rest = line;
        let mut word = || {
            let (word, tail) = rest.trim_start().split_once(' ')?;
            rest = tail;
            Some(word)
        };
        Some(Step {
            name: word()?.to_string(),
            tier: parse(&TIERS, word()?)?,
            lane: parse(&LANES, word()?)?,
            longest: word()?.parse().ok()?,
            took: word()?.parse().ok()?,
            what: rest.trim().to_string(),
        })
    }
}

fn path() -> PathBuf {
    crate::root().join("tests-c/steps.txt")
}

pub fn read() -> Result<Vec<Step>> {
    let text = fs::read_to_string(path()).with_context(|| path().display().to_string())?;
    text.lines()
        .filter(|line| !line.starts_with('#') && !line.trim().is_empty())
        .map(|line| Step::parse(line).with_context(|| format!("tests-c/steps.txt: no step: {line}")))
        .collect()
}

/// Writes the seconds that steps took into the table.
pub fn keep_times(seconds: &BTreeMap<&str, u64>) -> Result<()> {
    let text = fs::read_to_string(path())?;
    let line = |line: &str| match Step::parse(line) {
        Some(step) if !line.starts_with('#') => {
            let took = seconds.get(step.name.as_str()).copied().unwrap_or(step.took);
            Step { took, ..step }.to_string()
        }
        _ => line.to_string(),
    };
    let lines: Vec<String> = text.lines().map(line).collect();
    fs::write(path(), lines.join("\n") + "\n").context("tests-c/steps.txt")
}

#[cfg(test)]
mod tests;
