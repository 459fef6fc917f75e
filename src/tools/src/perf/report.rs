//! The output of results: tables, CSV and JSON.

use std::time::Duration;

use dat_measure::perf::plan::{Plan, Test};

use super::result::Measurement;
use crate::print::{self, HEADING, styled};

/// Heads of the columns, each at least as wide as its values.
const LATENCY: [&str; 7] = ["MIN us", "MEDIAN", "  MEAN", "   P99", " P99.9", "   MAX", "   DEV"];
const STREAM: [&str; 2] = [" OUTSTANDING", " TRANSFERS/s"];
const RATES: [&str; 2] = ["     MB/s", "   Gbit/s"];
const CPU: [&str; 2] = ["CPU %", "SERVER"];

/// The tables of latency and of bandwidth, which are written row by row.
pub struct Table {
    /// Width of the column BYTES.
    digits: usize,
    gbits: bool,
    /// `true` if the last row is of a test of latency. `None` before the first row.
    last: Option<bool>,
}

impl Table {
    pub fn new(plans: &[Plan], gbits: bool) -> Self {
        let longest = plans.iter().map(|plan| plan.size).max().unwrap_or(0);
        Self { digits: longest.to_string().len().max("BYTES".len()), gbits, last: None }
    }

    /// Returns the line of a row, after heads if the previous row has other columns. The line of an interval has its
    /// `end` instead of the test.
    pub fn row(&mut self, row: &Measurement, end: Option<Duration>) -> String {
        let latency = row.test.is_latency();
        let columns = match latency {
            true => &LATENCY[..],
            false => &[STREAM[0], STREAM[1], RATES[usize::from(self.gbits)]],
        };
        let heads = [columns, &CPU].concat();
        let mut cells = match latency {
            true => [row.min_ns, row.median_ns, row.mean_ns, row.p99_ns, row.p99_9_ns, row.max_ns, row.deviation_ns]
                .map(|nanoseconds| short(nanoseconds / 1e3))
                .to_vec(),
            false => {
                let rate = row.bandwidth_mb_per_s;
                let rate = if self.gbits { short(rate * 8.0 / 1e3) } else { short(rate) };
                vec![row.outstanding.to_string(), format!("{:.0}", row.rate_per_s), rate]
            }
        };
        cells.extend([row.cpu_percent, row.server_cpu_percent].map(|percent| format!("{percent:.0}")));
        let mut name = row.test.to_string();
        if let Some(end) = end {
            name = format!("{:>6.2} s", end.as_secs_f64());
            // The CPU time of the server is known only at the end of the measurement.
            cells.pop();
        }
        let head = self.line(["TEST", "BYTES"], heads.iter().map(|head| head.to_string()));
        let aligned = heads.iter().zip(cells).map(|(head, cell)| format!("{cell:>0$}", head.len()));
        let line = self.line([&name, &row.size.to_string()], aligned);
        let space = if self.last.is_some() { "\n" } else { "" };
        match self.last.replace(latency) {
            Some(last) if last == latency => line,
            _ => format!("{space}{}\n{line}", styled(HEADING, head)),
        }
    }

    fn line(&self, [test, size]: [&str; 2], cells: impl Iterator<Item = String>) -> String {
        format!("{test:8}  {size:>0$} {1}", self.digits, cells.collect::<Vec<_>>().join(" "))
    }
}

/// Formats a number with four digits; from 10,000, formats all digits of the integer.
fn short(number: f64) -> String {
    let digits = match number {
        ..10.0 => 3,
        ..100.0 => 2,
        ..1000.0 => 1,
        _ => 0,
    };
    format!("{number:.digits$}")
}

/// Returns the text below the tables: histograms, and what applies to all rows.
pub fn summary(rows: &[Measurement]) -> String {
    let histograms = rows.iter().filter(|row| row.test.is_latency()).filter_map(histogram);
    let both =
        if rows.iter().any(|row| row.both) { "Transfers and bandwidth are the sums of both directions.\n" } else { "" };
    histograms.chain([both.to_owned() + &cpu_time(rows)]).collect::<Vec<_>>().join("\n\n")
}

const MAX_BAR: f64 = 40.0;

fn histogram(row: &Measurement) -> Option<String> {
    let classes = row.histogram.as_ref()?;
    let most = classes.iter().map(|class| class.count).max().unwrap_or(1) as f64;
    let lines = classes.iter().map(|class| {
        let percent = class.count as f64 * 100.0 / row.iterations.max(1) as f64;
        let bar = "#".repeat((class.count as f64 / most * MAX_BAR).ceil() as usize);
        let bounds = [class.from_ns, class.to_ns].map(|nanoseconds| format!("{:.3}", nanoseconds / 1e3));
        bounds.into_iter().chain([class.count.to_string(), format!("{percent:.2}"), bar]).collect()
    });
    let table = print::columns(&["FROM us", "TO us", "TRANSFERS", "%", ""], lines.collect::<Vec<_>>());
    Some(format!("{}:\n{table}", title(row.test, row.size)))
}

fn cpu_time(rows: &[Measurement]) -> String {
    let sum = |of: fn(&Measurement) -> f64| rows.iter().map(of).sum::<f64>();
    format!(
        "CPU time: {:.2} s here and {:.2} s at the server, in {:.2} s of measurement.",
        sum(|row| row.cpu_seconds),
        sum(|row| row.server_cpu_seconds),
        sum(|row| row.seconds)
    )
}

/// Returns the values of a row, separated by commas, after a line with their names if `first` is set.
pub fn csv(row: &Measurement, first: bool) -> anyhow::Result<String> {
    let mut writer = csv::WriterBuilder::new().has_headers(first).from_writer(Vec::new());
    writer.serialize(row)?;
    let text = String::from_utf8(writer.into_inner()?)?;
    Ok(text.trim_end().to_owned())
}

pub fn title(test: Test, size: u64) -> String {
    format!("{test}, {}", print::counted(size, "byte"))
}

#[cfg(test)]
pub mod tests;
