use super::*;
use crate::perf::report::tests::row;

#[test]
fn draws_a_line_for_each_test() {
    let rows = [row(Test::SendLat, 8), row(Test::SendLat, 4_096), row(Test::ReadBw, 1)];
    let text = of(&rows, "a <machine> & more", "on a host").svg();
    assert!(text.starts_with("<svg") && text.trim_end().ends_with("</svg>"), "{text}");
    assert!(text.contains("a &lt;machine&gt; &amp; more"), "{text}");
    for label in ["8 B", "4 KiB", "100 ns", "200 ns", "500 ns", "1 us"] {
        assert!(text.contains(&format!(">{label}</text>")), "{label}: {text}");
    }
    for (name, there) in [("send_lat", true), ("read_bw", true), ("write_lat", false), ("send_bw", false)] {
        assert_eq!(text.contains(name), there, "{name}: {text}");
    }
}

#[test]
fn draws_an_empty_chart() {
    assert!(of(&[], "nothing", "").svg().contains("nothing"));
}

#[test]
fn checking_a_file_does_not_change_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (there, new) = (folder.path().join("there"), folder.path().join("new"));
    fs::write(&there, "as it is").expect("a file");
    assert!(check(&there).is_ok() && check(&new).is_ok());
    assert_eq!((fs::read_to_string(&there).expect("a file"), new.exists()), ("as it is".to_owned(), false));
    assert!(check(folder.path()).is_err() && check(&folder.path().join("none/svg")).is_err());
    assert!(check(Path::new("/dev/null")).is_ok());
}

/// A tenfold value is one step higher.
#[test]
fn places_points() {
    let described = r#"{ "title": "", "note": "", "panels": [ { "heading": "", "unit": "ns", "lines": [
            { "label": "a", "colour": "red", "dash": "7 4", "points": [[1, 100], [4, 1000], [16, 10000], [64, 0]] }] }] }"#;
    let svg = serde_json::from_str::<Picture>(described).expect("a description").svg();
    assert!(
        svg.contains("<polyline points=\"70.0,414.0 260.0,254.0 450.0,94.0\" fill=\"none\" stroke=\"red\""),
        "{svg}"
    );
}

/// What the picture shows can also be read.
#[test]
fn describes_the_chart_in_words() {
    let described = r#"{ "title": "t", "note": "how\nwhere", "panels": [ { "heading": "h", "unit": "ns", "lines": [
            { "label": "a & b", "colour": "red", "points": [[1, 100], [4096, 2000]] },
            { "label": "none", "colour": "red", "points": [] }] }] }"#;
    let svg = serde_json::from_str::<Picture>(described).expect("a description").svg();
    let told = "<title id=\"title\">t</title>\n\
                <desc id=\"told\">how; where\nh\na &amp; b: 100 ns at 1 B, 2 us at 4 KiB</desc>\n";
    assert!(svg.contains(told) && svg.contains("aria-labelledby=\"title told\""), "{svg}");
    assert!(svg.contains(">how</text>") && svg.contains(">where</text>"), "{svg}");
}

#[test]
fn labels_are_where_points_are_in_two_rows_without_touching() {
    let place = |size: f64| size.log2() * 17.0;
    let sizes = [32_768.0, 1.0, 65_536.0, 262_144.0, 1.0, 1_048_576.0, 524_288.0];
    let all: Vec<_> = labels(sizes.into_iter(), place).into_iter().map(|(_, size, row)| (size, row)).collect();
    assert_eq!(all, [(1.0, 0), (32_768.0, 0), (65_536.0, 1), (262_144.0, 0), (524_288.0, 1)]);
}

#[test]
fn axes_end_at_whole_numbers() {
    assert_eq!(around([-0.7, 1.1].into_iter()), (-1.0, 2.0));
    assert_eq!(around([0.0].into_iter()), (0.0, 1.0));
}

#[test]
fn labels_have_units() {
    assert_eq!((bytes(512.0), bytes(65_536.0)), ("512 B".to_owned(), "64 KiB".to_owned()));
    assert_eq!(bytes(5_000.0), "4.9 KiB");
    assert_eq!((Unit::Time.shown(100.0), Unit::Time.shown(1e5)), ("100 ns".to_owned(), "100 us".to_owned()));
    assert_eq!((Unit::Bandwidth.shown(1e3), Unit::Bandwidth.shown(0.1)), ("1 GB/s".to_owned(), "100 kB/s".to_owned()));
}
