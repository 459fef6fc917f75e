//! The output of results: tables, CSV and JSON.

use super::plan::Test;
use super::result::Measurement;
use crate::print;

pub fn text(rows: &[Measurement]) -> String {
    let (latency, stream): (Vec<&Measurement>, Vec<&Measurement>) = rows.iter().partition(|row| row.test.is_latency());
    let table = |heads: &[&str], rows: Vec<&Measurement>, cells: fn(&Measurement) -> Vec<String>| {
        let heads = [&["TEST", "BYTES"], heads, &["CPU %", "SERVER CPU %"]].concat();
        let line = |row: &Measurement| {
            let names = [row.test.to_string(), row.size.to_string()];
            let cpu = [row.cpu_percent, row.server_cpu_percent].map(|percent| format!("{percent:.0}"));
            names.into_iter().chain(cells(row)).chain(cpu).collect()
        };
        (!rows.is_empty()).then(|| print::columns(&heads, rows.into_iter().map(line).collect::<Vec<_>>()))
    };
    let histograms: Vec<String> = latency.iter().filter_map(|row| histogram(row)).collect();
    let heads = ["MIN us", "MEDIAN us", "MEAN us", "99 % us", "99.9 % us", "MAX us", "DEVIATION us"];
    let latency = table(&heads, latency, |row| {
        let low = [row.min_ns, row.median_ns, row.mean_ns, row.p99_ns];
        low.into_iter().chain([row.p99_9_ns, row.max_ns, row.deviation_ns]).map(microseconds).collect()
    });
    let stream = table(&["OUTSTANDING", "TRANSFERS/s", "MB/s"], stream, |row| {
        let digits = if row.bandwidth_mb_per_s < 100.0 { 2 } else { 0 };
        let bandwidth = format!("{:.digits$}", row.bandwidth_mb_per_s);
        vec![row.outstanding.to_string(), format!("{:.0}", row.rate_per_s), bandwidth]
    });
    let both = rows.iter().any(|row| row.both);
    let both = if both { "\nTransfers and MB are the sums of both directions." } else { "" };
    let stream = stream.map(|table| table + both);
    latency.into_iter().chain(stream).chain(histograms).chain([cpu_time(rows)]).collect::<Vec<_>>().join("\n\n")
}

fn microseconds(nanoseconds: f64) -> String {
    format!("{:.3}", nanoseconds / 1e3)
}

const MAX_BAR: f64 = 40.0;

fn histogram(row: &Measurement) -> Option<String> {
    let classes = row.histogram.as_ref()?;
    let most = classes.iter().map(|class| class.count).max().unwrap_or(1) as f64;
    let lines = classes.iter().map(|class| {
        let percent = class.count as f64 * 100.0 / row.iterations.max(1) as f64;
        let bar = "#".repeat((class.count as f64 / most * MAX_BAR).ceil() as usize);
        let bounds = [class.from_ns, class.to_ns].map(microseconds);
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

/// Returns a line with column names and a line for each row, without a final newline.
pub fn csv(rows: &[Measurement]) -> anyhow::Result<String> {
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in rows {
        writer.serialize(row)?;
    }
    let text = String::from_utf8(writer.into_inner()?)?;
    Ok(text.trim_end().to_owned())
}

pub fn title(test: Test, size: u64) -> String {
    format!("{test}, {}", print::counted(size, "byte"))
}

#[cfg(test)]
pub mod tests;
