//! How results are shown: a table for people, CSV and JSON for programs.

use super::plan::Test;
use super::result::Measurement;
use crate::print;

/// The tables for people: one of latency, one of bandwidth and rate, and the processor time of all.
pub fn text(rows: &[Measurement]) -> String {
    let (latency, stream): (Vec<&Measurement>, Vec<&Measurement>) = rows.iter().partition(|row| row.test.is_latency());
    let table = |heads: &[&str], rows: Vec<&Measurement>, cells: fn(&Measurement) -> Vec<String>| {
        let heads = [&["TEST", "BYTES"], heads, &["CPU %", "SERVER CPU %"]].concat();
        let line = |row: &Measurement| {
            let names = [row.test.to_string(), row.size.to_string()];
            let processor = [row.cpu_percent, row.server_cpu_percent].map(|percent| format!("{percent:.0}"));
            names.into_iter().chain(cells(row)).chain(processor).collect()
        };
        (!rows.is_empty()).then(|| print::columns(&heads, rows.into_iter().map(line).collect::<Vec<_>>()))
    };
    let times = ["MIN us", "MEDIAN us", "MEAN us", "99 % us", "MAX us"];
    let latency = table(&times, latency, |row| {
        let times = [row.min_ns, row.median_ns, row.mean_ns, row.p99_ns, row.max_ns];
        times.map(|time| format!("{:.3}", time / 1e3)).to_vec()
    });
    let stream = table(&["OUTSTANDING", "TRANSFERS/s", "MB/s"], stream, |row| {
        let digits = if row.bandwidth_mb_per_s < 100.0 { 2 } else { 0 };
        let bandwidth = format!("{:.digits$}", row.bandwidth_mb_per_s);
        vec![row.outstanding.to_string(), format!("{:.0}", row.rate_per_s), bandwidth]
    });
    latency.into_iter().chain(stream).chain([processor_time(rows)]).collect::<Vec<_>>().join("\n\n")
}

fn processor_time(rows: &[Measurement]) -> String {
    let sum = |of: fn(&Measurement) -> f64| rows.iter().map(of).sum::<f64>();
    format!(
        "Processor time: {:.2} s here and {:.2} s at the server, in {:.2} s of measurement.",
        sum(|row| row.cpu_seconds),
        sum(|row| row.server_cpu_seconds),
        sum(|row| row.seconds)
    )
}

/// A line with the names of the columns, and a line a row, without a line break behind the last one.
pub fn csv(rows: &[Measurement]) -> anyhow::Result<String> {
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
