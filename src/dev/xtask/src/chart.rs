// SPDX-License-Identifier: MIT OR Apache-2.0

//! `xtask chart`: the chart of `make bench` in SVG, with values by size on logarithmic axes.

use std::fmt::{Display, Write as _};
use std::io;

use anyhow::Context;
use serde::Deserialize;

/// A chart. tests-c/bench/lines.awk writes it as JSON.
#[derive(Debug, Deserialize)]
struct Chart {
    title: String,
    /// Lines about the command, the machine and the date.
    note: String,
    panels: Vec<Panel>,
}

#[derive(Debug, Deserialize)]
struct Panel {
    heading: String,
    unit: Unit,
    lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
enum Unit {
    #[serde(rename = "ns")]
    Time,
    /// Millions of bytes per second.
    #[serde(rename = "MB/s")]
    Bandwidth,
}

/// Values by size, in ascending order of the sizes.
#[derive(Debug, Deserialize)]
struct Line {
    label: String,
    colour: String,
    /// Lengths of dashes and gaps; empty for a solid line.
    #[serde(default)]
    dash: String,
    points: Vec<(f64, f64)>,
}

/// Writes the chart that standard input describes to standard output.
pub fn run() -> anyhow::Result<bool> {
    let chart: Chart =
        serde_json::from_reader(io::stdin().lock()).context("standard input: not the description of a chart")?;
    print!("{}", chart.svg());
    Ok(true)
}

/// The area of the first panel's lines in pixels, and in `NEXT` the distance from panel to panel.
const LEFT: f64 = 70.0;
const TOP: f64 = 94.0;
const WIDTH: f64 = 380.0;
const HEIGHT: f64 = 320.0;
const NEXT: f64 = 470.0;
/// Minimum distance between two labels in a row.
const LABEL_DISTANCE: f64 = 44.0;

impl Chart {
    fn svg(&self) -> String {
        let most = self.panels.iter().map(|panel| panel.lines.len()).max().unwrap_or(0);
        let (width, height) = (NEXT * self.panels.len() as f64, TOP + HEIGHT + 74.0 + 17.0 * most as f64);
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" \
             role=\"img\" aria-labelledby=\"title told\">\n<title id=\"title\">{}</title>\n<desc id=\"told\">{}</desc>\n\
             <style>text{{font:12px sans-serif;fill:#222}}.t{{font-size:16px;font-weight:bold}}\
             .h{{font-size:13px;font-weight:bold}}\n.x{{text-anchor:middle;font-size:11px}}\
             .y{{text-anchor:end;font-size:11px}}.g{{stroke:#ddd;stroke-width:1}}</style>\n\
             <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n",
            escaped(&self.title),
            escaped(&self.description())
        );
        text(&mut svg, LEFT, 24.0, "t", &self.title);
        for (number, line) in self.note.lines().enumerate() {
            text(&mut svg, LEFT, 42.0 + 16.0 * number as f64, "", line);
        }
        for (number, panel) in self.panels.iter().enumerate() {
            panel.draw(&mut svg, LEFT + NEXT * number as f64);
        }
        svg + "</svg>\n"
    }

    fn description(&self) -> String {
        let mut text = self.note.replace('\n', "; ");
        for Panel { heading, unit, lines } in &self.panels {
            let _ = write!(text, "\n{heading}");
            for Line { label, points, .. } in lines {
                let ends = points.first().into_iter().chain(points[1.min(points.len())..].last());
                let ends: Vec<_> =
                    ends.map(|&(size, value)| format!("{} at {}", unit.shown(value), bytes(size))).collect();
                if !ends.is_empty() {
                    let _ = write!(text, "\n{label}: {}", ends.join(", "));
                }
            }
        }
        text
    }
}

impl Panel {
    fn draw(&self, svg: &mut String, left: f64) {
        // Omit points with a 0, which has no logarithm.
        let shown = |line: &Line| -> Vec<(f64, f64)> {
            line.points.iter().copied().filter(|point| point.0 > 0.0 && point.1 > 0.0).collect()
        };
        let lines: Vec<_> =
            self.lines.iter().map(|line| (line, shown(line))).filter(|(_, all)| !all.is_empty()).collect();
        let all = || lines.iter().flat_map(|(_, points)| points.iter());
        if lines.is_empty() {
            return;
        }
        let (low, high) = around(all().map(|point| point.1.log10()));
        let (smallest, largest) = around(all().map(|point| point.0.log2()));
        let bottom = TOP + HEIGHT;
        let x = |size: f64| left + WIDTH * (size.log2() - smallest) / (largest - smallest);
        let y = |value: f64| bottom - HEIGHT * (value.log10() - low) / (high - low);

        text(svg, left, TOP - 10.0, "h", &self.heading);
        // If the axis has more than four decades, there is room only for powers of ten.
        let parts: &[f64] = if high - low <= 4.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
        for value in (low as i32..=high as i32).flat_map(|power| parts.iter().map(move |part| part * 10f64.powi(power)))
        {
            if value <= 10f64.powi(high as i32) {
                grid(svg, (left, y(value)), (left + WIDTH, y(value)));
                text(svg, left - 6.0, y(value) + 4.0, "y", self.unit.shown(value));
            }
        }
        for (place, size, row) in labels(all().map(|point| point.0), x) {
            grid(svg, (place, TOP), (place, bottom));
            text(svg, place, bottom + 16.0 + 14.0 * row as f64, "x", bytes(size));
        }
        text(svg, left + WIDTH / 2.0, bottom + 48.0, "x", "bytes of a transfer");
        for (number, (Line { label, colour, dash, .. }, points)) in lines.iter().enumerate() {
            let dash = if dash.is_empty() { "none" } else { dash };
            let style =
                format!("stroke=\"{}\" stroke-width=\"2\" stroke-dasharray=\"{}\"", escaped(colour), escaped(dash));
            let places: Vec<(f64, f64)> = points.iter().map(|&(size, value)| (x(size), y(value))).collect();
            let way: Vec<String> = places.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
            let _ = writeln!(svg, "<polyline points=\"{}\" fill=\"none\" {style}/>", way.join(" "));
            for (x, y) in places {
                let _ = writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"2.5\" fill=\"{}\"/>", escaped(colour));
            }
            let (key, end) = (bottom + 70.0 + 17.0 * number as f64, left + 26.0);
            let _ = writeln!(svg, "<line x1=\"{left}\" y1=\"{0}\" x2=\"{end}\" y2=\"{0}\" {style}/>", key - 4.0);
            text(svg, left + 34.0, key, "", label);
        }
    }
}

/// Returns the x position, size and row (0 or 1) of each label of the axis of sizes. A size for which neither row has
/// room gets no label.
fn labels(sizes: impl Iterator<Item = f64>, place: impl Fn(f64) -> f64) -> Vec<(f64, f64, usize)> {
    let mut sizes: Vec<f64> = sizes.collect();
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    let mut taken = [f64::NEG_INFINITY; 2];
    let labelled = sizes.into_iter().filter_map(|size| {
        let x = place(size);
        let row = taken.iter().position(|last| x - last >= LABEL_DISTANCE)?;
        taken[row] = x;
        Some((x, size, row))
    });
    labelled.collect()
}

fn text(svg: &mut String, x: f64, y: f64, class: &str, text: impl Display) {
    let text = escaped(&text.to_string());
    let _ = writeln!(svg, "<text x=\"{x:.1}\" y=\"{y:.1}\" class=\"{class}\">{text}</text>");
}

fn grid(svg: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64)) {
    let _ = writeln!(svg, "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" class=\"g\"/>");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// Returns two different whole numbers around the values.
fn around(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) =
        values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| (low.min(value), high.max(value)));
    let (low, high) = (low.floor(), high.ceil());
    (low, if high > low { high } else { low + 1.0 })
}

impl Unit {
    fn shown(self, value: f64) -> String {
        let (mut value, units) = match self {
            Unit::Time => (value, ["ns", "us", "ms", "s"]),
            Unit::Bandwidth => (value * 1e6, ["B/s", "kB/s", "MB/s", "GB/s"]),
        };
        let mut unit = 0;
        while value > 999.0 && unit + 1 < units.len() {
            value /= 1e3;
            unit += 1;
        }
        format!("{value:.0} {}", units[unit])
    }
}

fn bytes(number: f64) -> String {
    match number {
        n if n >= 1_048_576.0 => format!("{} MiB", (n / 104_857.6).round() / 10.0),
        n if n >= 1_024.0 => format!("{} KiB", (n / 102.4).round() / 10.0),
        n => format!("{n} B"),
    }
}

#[cfg(test)]
mod tests;
