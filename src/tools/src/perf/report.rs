//! How results are shown: a table for people, CSV and JSON for programs.

use super::plan::Test;
use super::result::Measurement;
use crate::print;

/// The tables for people: one of latency, one of bandwidth and rate, histograms if there are some, and the processor time
/// of all.
///
/// # Parameters
/// * `percentiles` - show more of how the times are spread.
pub fn text(rows: &[Measurement], percentiles: bool) -> String {
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
    let histograms: Vec<String> = latency.iter().filter_map(|row| histogram(row)).collect();
    let latency = if percentiles {
        let heads =
            ["MIN us", "50 % us", "90 % us", "99 % us", "99.9 % us", "99.99 % us", "MAX us", "MEAN us", "DEVIATION us"];
        table(&heads, latency, |row| {
            let low = [row.min_ns, row.median_ns, row.p90_ns, row.p99_ns];
            let high = [row.p99_9_ns, row.p99_99_ns, row.max_ns, row.mean_ns, row.deviation_ns];
            low.into_iter().chain(high).map(microseconds).collect()
        })
    } else {
        table(&["MIN us", "MEDIAN us", "MEAN us", "99 % us", "MAX us"], latency, |row| {
            [row.min_ns, row.median_ns, row.mean_ns, row.p99_ns, row.max_ns].map(microseconds).to_vec()
        })
    };
    let stream = table(&["OUTSTANDING", "TRANSFERS/s", "MB/s"], stream, |row| {
        let digits = if row.bandwidth_mb_per_s < 100.0 { 2 } else { 0 };
        let bandwidth = format!("{:.digits$}", row.bandwidth_mb_per_s);
        vec![row.outstanding.to_string(), format!("{:.0}", row.rate_per_s), bandwidth]
    });
    let both = rows.iter().any(|row| row.both);
    let both = if both { "\nTransfers and MB are those of both directions together." } else { "" };
    let stream = stream.map(|table| table + both);
    latency.into_iter().chain(stream).chain(histograms).chain([processor_time(rows)]).collect::<Vec<_>>().join("\n\n")
}

fn microseconds(nanoseconds: f64) -> String {
    format!("{:.3}", nanoseconds / 1e3)
}

/// The most characters of a bar.
const BAR: f64 = 40.0;

/// The histogram of a measurement, if it was asked for: a line for each class that has times.
fn histogram(row: &Measurement) -> Option<String> {
    let classes = row.histogram.as_ref()?;
    let most = classes.iter().map(|class| class.count).max().unwrap_or(1) as f64;
    let lines = classes.iter().map(|class| {
        let percent = class.count as f64 * 100.0 / row.iterations.max(1) as f64;
        // What is there has a bar, however short.
        let bar = "#".repeat((class.count as f64 / most * BAR).ceil() as usize);
        let bounds = [class.from_ns, class.to_ns].map(microseconds);
        bounds.into_iter().chain([class.count.to_string(), format!("{percent:.2}"), bar]).collect()
    });
    let table = print::columns(&["FROM us", "TO us", "TRANSFERS", "%", ""], lines.collect::<Vec<_>>());
    Some(format!("{}:\n{table}", under_way(row.test, row.size)))
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
