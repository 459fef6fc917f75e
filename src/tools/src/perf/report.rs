//! How results are shown: a table for people, CSV and JSON for programs.

use super::plan::Test;
use super::result::Row;
use crate::print;

/// The tables for people: one of latency, one of bandwidth and rate, and the processor time of all.
pub fn text(rows: &[Row]) -> String {
    let (latency, stream): (Vec<&Row>, Vec<&Row>) = rows.iter().partition(|row| row.test.is_latency());
    let mut parts = Vec::new();
    if !latency.is_empty() {
        parts.push(print::columns(
            &["TEST", "BYTES", "MIN us", "MEDIAN us", "MEAN us", "99 % us", "MAX us", "CPU %", "SERVER CPU %"],
            latency.into_iter().map(latency_cells),
        ));
    }
    if !stream.is_empty() {
        parts.push(print::columns(
            &["TEST", "BYTES", "OUTSTANDING", "TRANSFERS/s", "MB/s", "CPU %", "SERVER CPU %"],
            stream.into_iter().map(stream_cells),
        ));
    }
    parts.push(processor_time(rows));
    parts.join("\n\n")
}

fn latency_cells(row: &Row) -> Vec<String> {
    let mut cells = name_cells(row);
    cells.extend(
        [row.min_ns, row.median_ns, row.mean_ns, row.p99_ns, row.max_ns].map(|time| format!("{:.3}", time / 1e3)),
    );
    cells.extend(processor_cells(row));
    cells
}

fn stream_cells(row: &Row) -> Vec<String> {
    let mut cells = name_cells(row);
    cells.extend([
        row.outstanding.to_string(),
        format!("{:.0}", row.rate_per_s),
        if row.bandwidth_mb_per_s < 100.0 {
            format!("{:.2}", row.bandwidth_mb_per_s)
        } else {
            format!("{:.0}", row.bandwidth_mb_per_s)
        },
    ]);
    cells.extend(processor_cells(row));
    cells
}

fn name_cells(row: &Row) -> Vec<String> {
    vec![row.test.to_string(), row.size.to_string()]
}

/// The processor time of either side, in percent of the time that passed.
fn processor_cells(row: &Row) -> [String; 2] {
    [row.cpu_percent, row.server_cpu_percent].map(|percent| format!("{percent:.0}"))
}

fn processor_time(rows: &[Row]) -> String {
    let sum = |of: fn(&Row) -> f64| rows.iter().map(of).sum::<f64>();
    format!(
        "Processor time: {:.2} s here and {:.2} s at the server, in {:.2} s of measurement.",
        sum(|row| row.cpu_seconds),
        sum(|row| row.server_cpu_seconds),
        sum(|row| row.seconds)
    )
}

/// A line with the names of the columns, and a line a row, without a line break behind the last one.
pub fn csv(rows: &[Row]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let text = String::from_utf8(writer.into_inner()?)?;
    Ok(text.trim_end().to_owned())
}

/// A line about a measurement that is under way, for the progress on a terminal.
pub fn under_way(test: Test, size: u64) -> String {
    format!("{test}, {}", print::counted(size, "byte"))
}

#[cfg(test)]
pub mod tests;
