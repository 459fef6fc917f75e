// SPDX-License-Identifier: MIT OR Apache-2.0

//! tests-c/schedule.txt: when programs run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// What to do with the programs that need the machine for themselves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Alone {
    /// Runs them after the other programs.
    #[default]
    Run,
    /// Skips them.
    Skip,
    /// Runs only them.
    Only,
}

/// The turn of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Turn {
    /// Before the others, because it takes long.
    Early,
    /// Alongside others.
    #[default]
    Any,
    /// Alongside others, but not others with this turn, which use the same ports.
    Ports,
    /// Without others.
    Alone,
    /// After all others, and without them.
    Last,
}

#[derive(Debug, Default)]
pub struct Schedule(BTreeMap<String, Turn>);

pub fn directory() -> PathBuf {
    crate::root().join("tests-c")
}

pub fn path() -> PathBuf {
    directory().join("schedule.txt")
}

impl Schedule {
    pub fn read(path: &Path) -> Result<Schedule> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Schedule::parse(&text).with_context(|| path.display().to_string())
    }

    /// Parses lines `PROGRAM TURN REASON`.
    fn parse(text: &str) -> Result<Schedule> {
        let mut turns = BTreeMap::new();
        for line in text.lines().filter(|line| !line.starts_with('#') && !line.trim().is_empty()) {
            let mut words = line.split_whitespace();
            let (program, turn) = (words.next(), words.next());
            let turn = match turn {
                Some("early") => Turn::Early,
                Some("ports") => Turn::Ports,
                Some("alone") => Turn::Alone,
                Some("last") => Turn::Last,
                _ => bail!("no turn: {line}"),
            };
            if words.next().is_none() {
                bail!("no reason: {line}");
            }
            turns.extend(program.map(|name| (name.to_string(), turn)));
        }
        Ok(Schedule(turns))
    }

    pub fn turn(&self, program: &str) -> Turn {
        self.0.get(program).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests;
