// SPDX-License-Identifier: MIT OR Apache-2.0

//! The table of limits: its format, and what `--write` changes.

use anyhow::{Context, Result, bail};

use super::measure::Measurement;

/// Limits of style, from CONTRIBUTING.md.
const FILE_LINES: u64 = 600;
const FUNCTION_LINES: u64 = 80;

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// Name of the value, such as `lines:dat-core`.
    pub name: String,
    /// Highest value that passes.
    pub limit: u64,
    /// Lowest value that was ever reached.
    pub best: u64,
    /// Benefit of a limit far above `best`; empty if the row has no sentence.
    pub sentence: String,
}

enum Line {
    /// A comment or an empty line, which `--write` keeps.
    Comment(String),
    Row(Row),
}

pub struct Table {
    lines: Vec<Line>,
}

impl Table {
    /// Parses the table. Fails if a row lacks its two numbers or a name occurs twice.
    pub fn parse(text: &str) -> Result<Self> {
        let mut table = Table { lines: Vec::new() };
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                table.lines.push(Line::Comment(line.to_owned()));
                continue;
            }
            let row = parse_row(line).with_context(|| format!("line {}: expected NAME LIMIT BEST", index + 1))?;
            if table.row(&row.name).is_some() {
                bail!("line {}: the row {} occurs twice", index + 1, row.name);
            }
            table.lines.push(Line::Row(row));
        }
        Ok(table)
    }

    pub fn rows(&self) -> impl Iterator<Item = &Row> {
        self.lines.iter().filter_map(|line| match line {
            Line::Row(row) => Some(row),
            Line::Comment(_) => None,
        })
    }

    pub fn row(&self, name: &str) -> Option<&Row> {
        self.rows().find(|row| row.name == name)
    }

    /// Lowers numbers that fell, adds rows for new values and removes rows without a value. Never raises a number.
    pub fn update(&mut self, measured: &[Measurement]) {
        self.lines.retain_mut(|line| {
            let Line::Row(row) = line else { return true };
            let Some(m) = measured.iter().find(|m| m.name == row.name) else { return false };
            row.best = row.best.min(m.value);
            row.limit = row.limit.min(m.value + slack(&m.name, m.value));
            true
        });
        for m in measured {
            if self.row(&m.name).is_none() {
                self.add(m);
            }
        }
    }

    /// Adds a row after the last of its kind, or at the end.
    fn add(&mut self, m: &Measurement) {
        let kind = kind(&m.name);
        let row = Row {
            name: m.name.clone(),
            limit: m.value + slack(&m.name, m.value),
            best: m.value,
            sentence: String::new(),
        };
        let last = self.lines.iter().rposition(|line| matches!(line, Line::Row(row) if self::kind(&row.name) == kind));
        self.lines.insert(last.map_or(self.lines.len(), |last| last + 1), Line::Row(row));
    }

    pub fn render(&self) -> String {
        let mut text = String::new();
        for line in &self.lines {
            match line {
                Line::Comment(comment) => text += comment,
                Line::Row(Row { name, limit, best, sentence }) => {
                    text += format!("{name:<30} {limit:>7} {best:>7}  {sentence}").trim_end();
                }
            }
            text.push('\n');
        }
        text
    }
}

/// Parses one row. Returns `None` if a number is missing or invalid.
fn parse_row(line: &str) -> Option<Row> {
    let mut words = line.split_whitespace();
    let name = words.next()?.to_owned();
    let limit = words.next()?.parse().ok()?;
    let best = words.next()?.parse().ok()?;
    Some(Row { name, limit, best, sentence: words.collect::<Vec<_>>().join(" ") })
}

/// Returns the kind of a row: its name up to the first colon.
fn kind(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

/// Returns how far LIMIT may exceed `value` without a sentence.
pub fn slack(name: &str, value: u64) -> u64 {
    match kind(name) {
        "lines" | "comments" | "words" => value.div_ceil(100).max(20),
        "instructions" => value.div_ceil(200).max(2),
        "longest" if name == "longest:file" => FILE_LINES.saturating_sub(value),
        "longest" => FUNCTION_LINES.saturating_sub(value),
        _ => 0,
    }
}
