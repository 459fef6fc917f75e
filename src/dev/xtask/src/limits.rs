// SPDX-License-Identifier: MIT OR Apache-2.0

//! The limits on the size of the project: compares `tests-c/limits.txt`, whose head specifies its format and rules,
//! with measured values.

mod measure;
mod source;
pub mod style;
mod table;

use std::fs;

use anyhow::{Context, Result};
use measure::Measurement;
use table::{Row, Table, slack};

const TABLE: &str = "tests-c/limits.txt";

/// Arguments of `xtask limits`.
#[derive(clap::Args)]
pub struct Args {
    /// Lower the numbers that fell, add new rows and remove rows that are no longer measured.
    #[arg(long)]
    write: bool,
}

/// Compares the project with its limits and prints TAP. Returns whether no row fails.
pub fn run(args: &Args) -> Result<bool> {
    let root = crate::root();
    let path = root.join(TABLE);
    let text = fs::read_to_string(&path).with_context(|| format!("cannot read {TABLE}"))?;
    let mut table = Table::parse(&text)?;
    let measured = measure::all(&root)?;
    if args.write {
        table.update(&measured);
        fs::write(&path, table.render()).with_context(|| format!("cannot write {TABLE}"))?;
    }
    let tests = compare(&table, &measured);
    for (index, test) in tests.iter().enumerate() {
        println!("{}ok {} - {}", if test.passed { "" } else { "not " }, index + 1, test.text);
    }
    println!("1..{}", tests.len());
    if measured.iter().any(|m| table.row(&m.name).is_some_and(|row| can_fall(row, m.value))) {
        println!("# Some values fell: `make limits WRITE=1` lowers their limits.");
    }
    let failed = tests.iter().filter(|test| !test.passed).count();
    if failed > 0 {
        println!("# {failed} of {} rows failed: the head of {TABLE} explains the rules.", tests.len());
    }
    Ok(failed == 0)
}

struct Test {
    /// Set if the row follows the rules.
    passed: bool,
    /// Name, numbers and, if the test failed, the remedy.
    text: String,
}

/// Compares each measured value with its row, and finds rows without a value.
fn compare(table: &Table, measured: &[Measurement]) -> Vec<Test> {
    let mut tests: Vec<Test> = measured.iter().map(|m| judge(table.row(&m.name), m)).collect();
    // Without git, no row of this kind is measured.
    let is_measured = |kind: &str| measured.iter().any(|m| m.name.starts_with(kind));
    let counts = |row: &&Row| is_measured("naming:") || !row.name.starts_with("naming:");
    let unmeasured = table.rows().filter(counts).filter(|row| measured.iter().all(|m| m.name != row.name));
    tests.extend(unmeasured.map(|row| Test {
        passed: false,
        text: format!("{}: no longer measured: `make limits WRITE=1` removes the row from {TABLE}", row.name),
    }));
    tests
}

fn judge(row: Option<&Row>, measured: &Measurement) -> Test {
    let Measurement { name, value, place } = measured;
    let Some(row) = row else {
        let text =
            format!("{name}: {} without a limit: `make limits WRITE=1` adds the row to {TABLE}", grouped(*value));
        return Test { passed: false, text };
    };
    let mut text = format!("{name}: {} of at most {}", grouped(*value), grouped(row.limit));
    if let Some(place) = place {
        text += &format!(" ({place})");
    }
    let fault = if row.best > row.limit {
        Some("the column BEST is above LIMIT: correct the row".to_owned())
    } else if *value > row.limit {
        Some(format!("{}, or raise LIMIT in {TABLE} with a sentence that states the benefit", remedy(name)))
    } else if row.limit > row.best + slack(name, row.best) && row.sentence.is_empty() {
        Some(format!(
            "LIMIT is more than {} above BEST ({}): lower LIMIT, or add a sentence that states the benefit",
            slack(name, row.best),
            grouped(row.best)
        ))
    } else {
        None
    };
    if let Some(fault) = &fault {
        text += &format!(": {fault}");
    }
    Test { passed: fault.is_none(), text }
}

fn remedy(name: &str) -> &'static str {
    match name.split(':').next() {
        Some("lines") => "remove lines",
        Some("words") => "shorten the page",
        Some("comments") => "shorten comments",
        Some("longest") => "split it",
        Some("phrases") => "`xtask phrases` lists them: use other words",
        Some("sentences") => "`xtask phrases` lists them: split long sentences",
        Some("naming") => "name the transport only in its own crates",
        Some("instructions") => "make the path shorter",
        _ => "remove some",
    }
}

fn can_fall(row: &Row, value: u64) -> bool {
    value < row.best || value + slack(&row.name, value) < row.limit
}

/// Separates groups of three digits by commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests;
