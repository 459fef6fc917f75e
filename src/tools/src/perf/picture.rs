//! The results as a picture: latency and bandwidth by size, both with logarithmic axes.

use std::fs::{self, File};
use std::io::{self, ErrorKind};
use std::path::Path;

use anyhow::{Context, anyhow};
use plotters::prelude::*;

use super::plan::Test;
use super::result::Row;

/// Width and height of a picture, in its own units.
const PICTURE: (u32, u32) = (1_000, 520);

/// Draws the rows into a file.
///
/// # Errors
/// If the file cannot be written.
pub fn draw(rows: &[Row], title: &str, file: &Path) -> anyhow::Result<()> {
    fs::write(file, svg(rows, title)?).with_context(|| cannot_write(file))
}

/// Checks before the measurements that a file can be written after them. One that is there stays as it is, and none comes.
///
/// # Errors
/// If it cannot.
pub fn check(file: &Path) -> anyhow::Result<()> {
    let writable = match fs::metadata(file) {
        Ok(there) if there.is_dir() => Err(ErrorKind::IsADirectory.into()),
        Ok(there) if there.is_file() => File::options().append(true).open(file).map(drop),
        // Who reads a pipe would see its end.
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => create_for_a_moment(file),
        Err(error) => Err(error),
    };
    writable.with_context(|| cannot_write(file))
}

fn create_for_a_moment(file: &Path) -> io::Result<()> {
    match File::create_new(file) {
        Ok(_) => fs::remove_file(file),
        // A link to a file that is not there.
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

fn cannot_write(file: &Path) -> String {
    format!("cannot write {}", file.display())
}

/// The picture of the rows.
fn svg(rows: &[Row], title: &str) -> anyhow::Result<String> {
    let mut text = String::new();
    {
        let root = SVGBackend::with_string(&mut text, PICTURE).into_drawing_area();
        root.fill(&WHITE).map_err(drawing)?;
        let body = root.titled(title, ("sans-serif", 17)).map_err(drawing)?;
        let (left, right) = body.split_horizontally(PICTURE.0 / 2);
        panel(&left, "Latency, one way (less is better)", rows, &LATENCIES, |row| row.median_ns / 1e3, micros)?;
        panel(&right, "Bandwidth (more is better)", rows, &STREAMS, |row| row.bandwidth_mb_per_s, megabytes)?;
        root.present().map_err(drawing)?;
    }
    Ok(text)
}

const LATENCIES: [Test; 3] = [Test::SendLat, Test::WriteLat, Test::ReadLat];
const STREAMS: [Test; 3] = [Test::SendBw, Test::WriteBw, Test::ReadBw];
const COLOURS: [RGBColor; 3] = [RGBColor(193, 39, 45), RGBColor(232, 135, 30), RGBColor(123, 50, 148)];

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// One of the two diagrams: a line for each test, through its values by size.
fn panel(
    area: &Area<'_>,
    heading: &str,
    rows: &[Row],
    tests: &[Test; 3],
    value: fn(&Row) -> f64,
    label: fn(&f64) -> String,
) -> anyhow::Result<()> {
    let lines: Vec<_> = tests
        .iter()
        .zip(COLOURS)
        .map(|(&test, colour)| {
            let of_test = rows.iter().filter(|row| row.test == test && value(row) > 0.0);
            let mut points: Vec<(f64, f64)> = of_test.map(|row| (row.size as f64, value(row))).collect();
            points.sort_by(|a, b| a.0.total_cmp(&b.0));
            (test, colour, points)
        })
        .filter(|(_, _, points)| !points.is_empty())
        .collect();
    let points = || lines.iter().flat_map(|(_, _, points)| points.iter().copied());
    if points().next().is_none() {
        return Ok(());
    }
    let (low, high) = decades(points().map(|point| point.1));
    let (smallest, largest) = powers_of_two(points().map(|point| point.0));

    let mut chart = ChartBuilder::on(area)
        .caption(heading, ("sans-serif", 14))
        .margin(12)
        .x_label_area_size(42)
        .y_label_area_size(70)
        .build_cartesian_2d((smallest..largest).log_scale().base(2.0), (low..high).log_scale())
        .map_err(drawing)?;
    chart
        .configure_mesh()
        .light_line_style(TRANSPARENT)
        .bold_line_style(RGBColor(221, 221, 221))
        .x_desc("bytes of a transfer")
        .x_labels(10)
        .x_label_formatter(&bytes)
        .y_label_formatter(&label)
        .draw()
        .map_err(drawing)?;
    for (test, colour, points) in lines {
        chart
            .draw_series(LineSeries::new(points, colour.stroke_width(2)).point_size(3))
            .map_err(drawing)?
            .label(test.name())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 22, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .draw()
        .map_err(drawing)?;
    Ok(())
}

fn drawing(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow!("cannot draw: {error}")
}

/// The powers of ten around the values.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = around(values, f64::log10);
    (10f64.powf(low), 10f64.powf(high))
}

/// The powers of two around the values.
fn powers_of_two(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = around(values, f64::log2);
    (low.exp2(), high.exp2())
}

/// The whole exponents around the values, which are two different ones.
fn around(values: impl Iterator<Item = f64>, exponent: fn(f64) -> f64) -> (f64, f64) {
    let (low, high) = values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
        (low.min(exponent(value)), high.max(exponent(value)))
    });
    let (low, high) = (low.floor(), high.ceil());
    (low, if high > low { high } else { low + 1.0 })
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "plotters calls it so")]
fn bytes(number: &f64) -> String {
    match *number {
        n if n >= 1_048_576.0 => format!("{} MiB", n / 1_048_576.0),
        n if n >= 1_024.0 => format!("{} KiB", n / 1_024.0),
        n => format!("{n} B"),
    }
}

fn micros(value: &f64) -> String {
    match *value {
        us if us >= 999.0 => format!("{:.0} ms", us / 1e3),
        us if us >= 0.999 => format!("{us:.0} us"),
        us => format!("{:.0} ns", us * 1e3),
    }
}

fn megabytes(value: &f64) -> String {
    match *value {
        mb if mb >= 999.0 => format!("{:.0} GB/s", mb / 1e3),
        mb if mb >= 0.999 => format!("{mb:.0} MB/s"),
        mb => format!("{:.0} kB/s", mb * 1e3),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::perf::report::tests::row;

    #[test]
    fn a_line_for_each_test_that_ran() {
        let rows = [row(Test::SendLat, 8), row(Test::SendLat, 4_096), row(Test::ReadBw, 1)];
        let text = svg(&rows, "a <machine> & more").expect("it can be drawn");
        assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
        assert!(text.contains("a &lt;machine&gt; &amp; more"), "{text}");
        for (name, there) in [("send_lat", true), ("read_bw", true), ("write_lat", false), ("send_bw", false)] {
            assert_eq!(text.contains(name), there, "{name}: {text}");
        }
    }

    #[test]
    fn nothing_measured_is_an_empty_picture() {
        assert!(svg(&[], "nothing").expect("it can be drawn").contains("nothing"));
    }

    #[test]
    fn a_file_is_checked_without_a_trace() {
        let folder = tempfile::tempdir().expect("a folder");
        let (there, new) = (folder.path().join("there"), folder.path().join("new"));
        fs::write(&there, "as it is").expect("a file");
        assert!(check(&there).is_ok() && check(&new).is_ok());
        assert_eq!((fs::read_to_string(&there).expect("a file"), new.exists()), ("as it is".to_owned(), false));
        assert!(check(folder.path()).is_err() && check(&folder.path().join("none/svg")).is_err());
        assert!(check(Path::new("/dev/null")).is_ok());
    }

    #[test]
    fn axes_end_at_whole_powers() {
        assert_eq!(decades([0.2, 12.0].into_iter()), (0.1, 100.0));
        assert_eq!(decades([1.0].into_iter()), (1.0, 10.0));
        assert_eq!(powers_of_two([8.0, 4_000.0].into_iter()), (8.0, 4_096.0));
    }

    #[test]
    fn labels_have_units() {
        assert_eq!((bytes(&512.0), bytes(&65_536.0)), ("512 B".to_owned(), "64 KiB".to_owned()));
        assert_eq!((micros(&0.1), micros(&100.0)), ("100 ns".to_owned(), "100 us".to_owned()));
        assert_eq!((megabytes(&1_000.0), megabytes(&0.1)), ("1 GB/s".to_owned(), "100 kB/s".to_owned()));
    }
}
