// SPDX-License-Identifier: MIT OR Apache-2.0

//! Results of tests from the output of programs: TAP, `cargo test`, and the closing line of this tool.

use std::fmt;
use std::ops::AddAssign;

use crate::command::End;

/// Numbers of subtests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Subtests that passed.
    pub passed: u64,
    /// Subtests that failed, and programs that failed as a whole.
    pub failed: u64,
    /// Subtests and programs that were skipped.
    pub skipped: u64,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.passed += other.passed;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

impl Counts {
    /// Parses a closing line, the inverse of `Display`.
    fn parse(line: &str) -> Option<Counts> {
        let mut parts = line.split(", ");
        let mut number = |unit| parts.next()?.strip_suffix(unit)?.parse().ok();
        let counts = Counts { passed: number(" passed")?, failed: number(" failed")?, skipped: number(" skipped")? };
        parts.next().is_none().then_some(counts)
    }
}

/// The subtests of a program or step.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Results {
    pub counts: Counts,
    /// Reasons of skipped subtests, one each.
    pub reasons: Vec<String>,
}

impl AddAssign for Results {
    fn add_assign(&mut self, other: Results) {
        self.counts += other.counts;
        self.reasons.extend(other.reasons);
    }
}

impl Results {
    pub fn failure() -> Results {
        Results { counts: Counts { failed: 1, ..Counts::default() }, reasons: Vec::new() }
    }

    pub fn skip(&mut self, reason: String) {
        self.counts.skipped += 1;
        self.reasons.push(reason);
    }
}

enum Line<'a> {
    Passed,
    Failed,
    /// With the name and the reason.
    Skipped(&'a str, &'a str),
    /// The number of subtests, and the reason if all are skipped.
    Plan(u64, Option<&'a str>),
    BailOut,
    Other,
}

/// Splits `text` at a directive SKIP. Returns the text before the directive and the reason; `None` without a directive.
fn skip(text: &str) -> Option<(&str, &str)> {
    let is_skip = |rest: &str| rest.get(..4).is_some_and(|word| word.eq_ignore_ascii_case("skip"));
    let (at, directive) =
        text.match_indices('#').map(|(at, _)| (at, text[at + 1..].trim_start())).find(|(_, rest)| is_skip(rest))?;
    Some((text[..at].trim_end(), directive[4..].trim_start()))
}

/// Returns the text after the number at the start of `text`, without the dash before a name. `None` without a number.
fn after_number(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    (end > 0).then(|| text[end..].trim_start().trim_start_matches("- "))
}

fn line(text: &str) -> Line<'_> {
    if let Some(rest) = text.strip_prefix("ok ").and_then(after_number) {
        skip(rest).map_or(Line::Passed, |(name, reason)| Line::Skipped(name, reason))
    } else if text.strip_prefix("not ok ").is_some_and(|rest| after_number(rest).is_some()) {
        Line::Failed
    } else if let Some(plan) = text.strip_prefix("1..") {
        let end = plan.find(|c: char| !c.is_ascii_digit()).unwrap_or(plan.len());
        plan[..end].parse().map_or(Line::Other, |n| Line::Plan(n, skip(plan).map(|(_, reason)| reason)))
    } else if text.starts_with("Bail out!") {
        Line::BailOut
    } else {
        Line::Other
    }
}

/// Counts the subtests in the TAP of a script. Ignores the plan. The reason of a skipped subtest includes its name.
pub fn script(output: &str) -> Results {
    let mut results = Results::default();
    for text in output.lines() {
        match line(text) {
            Line::Passed => results.counts.passed += 1,
            Line::Failed => results.counts.failed += 1,
            Line::Skipped(name, reason) => {
                results.skip(format!("{name}: {reason}"));
            }
            _ if text.starts_with("not ok") => results.counts.failed += 1,
            _ => {}
        }
    }
    results
}

/// Counts the subtests in the TAP of a program. If the program failed as a whole, this counts as one more failure, and
/// the second value is the reason.
pub fn program(output: &str, end: End) -> (Results, Option<String>) {
    let mut results = Results::default();
    let (mut made, mut plan, mut bailed_out) = (0, None, false);
    for text in output.lines() {
        match line(text) {
            Line::Passed => results.counts.passed += 1,
            Line::Failed => results.counts.failed += 1,
            Line::Skipped(_, reason) => {
                results.skip(reason.to_string());
            }
            Line::Plan(number, reason) => {
                plan = Some(number);
                if number == 0 {
                    results.counts.skipped += 1;
                    results.reasons.extend(reason.map(String::from));
                }
                continue;
            }
            Line::BailOut => {
                bailed_out = true;
                continue;
            }
            Line::Other => continue,
        }
        made += 1;
    }
    let why = match (end, plan) {
        (End::TimedOut, _) => Some("ran out of time".into()),
        _ if bailed_out => Some("bailed out".into()),
        (End::Exited(99), _) => Some("valgrind found errors".into()),
        (End::Signalled(signal), _) => Some(format!("killed by signal {signal}")),
        (End::Exited(status), None) => Some(format!("ended without a plan, status {status}")),
        (_, Some(number)) if number != made => Some(format!("planned {number} subtests, made {made}")),
        (End::Exited(status), _) if status != 0 && results.counts.failed == 0 => Some(format!("exit status {status}")),
        _ => None,
    };
    results.counts.failed += u64::from(why.is_some());
    (results, why)
}

/// Returns the failed subtests of a program, each with the comment lines around it.
pub fn failures(output: &str) -> Vec<&str> {
    let (mut shown, mut comments, mut after_failure) = (Vec::new(), Vec::new(), false);
    for text in output.lines() {
        if matches!(line(text), Line::Failed | Line::BailOut) {
            shown.append(&mut comments);
            shown.push(text);
            after_failure = true;
        } else if text.starts_with('#') {
            if after_failure { shown.push(text) } else { comments.push(text) }
        } else {
            after_failure = false;
            comments.clear();
        }
    }
    shown
}

/// Returns the lines of a step's log that name failed subtests, Rust tests or C programs.
pub fn failed_lines(log: &str) -> Vec<&str> {
    log.lines()
        .map(str::trim)
        .filter(|text| {
            let counts_failures =
                text.split_once(" passed ").and_then(|(_, rest)| rest.trim_start().split_once(" failed "));
            text.starts_with("not ok")
                || (text.starts_with("test ") && text.ends_with("FAILED"))
                || counts_failures.is_some_and(|(number, _)| number.parse().is_ok_and(|failed: u64| failed > 0))
        })
        .collect()
}

/// Adds up the lines `test result:` of cargo; ignored tests are skipped.
pub fn cargo(output: &str) -> Results {
    let mut results = Results::default();
    for text in output.lines() {
        if let Some(rest) = text.strip_prefix("test result:") {
            let words: Vec<&str> = rest.split_whitespace().collect();
            let before = |unit| {
                let at = words.iter().position(|&word| word == unit)?;
                words[at.checked_sub(1)?].parse::<u64>().ok()
            };
            results.counts += Counts {
                passed: before("passed;").unwrap_or(0),
                failed: before("failed;").unwrap_or(0),
                skipped: before("ignored;").unwrap_or(0),
            };
        } else if let Some((name, rest)) = text.strip_prefix("test ").and_then(|rest| rest.split_once(" ... ignored")) {
            results.reasons.push(format!("{name}: ignored{rest}"));
        }
    }
    results
}

/// Returns the counts in the last closing line of this tool, and the reasons above it. `None` without a closing line.
pub fn closing(output: &str) -> Option<Results> {
    let counts = output.lines().rev().find_map(Counts::parse)?;
    let reasons = output
        .lines()
        .skip_while(|&text| text != "skipped:")
        .filter_map(|text| after_number(text.strip_prefix("  ")?.trim_start()))
        .map(String::from)
        .collect();
    Some(Results { counts, reasons })
}

#[cfg(test)]
mod tests;
