// SPDX-License-Identifier: MIT OR Apache-2.0

use super::*;

#[test]
fn draws_lines_with_labels() {
    let described = r#"{ "title": "a <machine> & more", "note": "", "panels": [ { "heading": "", "unit": "ns", "lines": [
            { "label": "a", "colour": "red", "points": [[8, 100], [4096, 800]] },
            { "label": "none", "colour": "red", "points": [] }] }] }"#;
    let svg = serde_json::from_str::<Chart>(described).expect("a description").svg();
    assert!(svg.starts_with("<svg") && svg.ends_with("</svg>\n"), "{svg}");
    assert!(svg.contains("a &lt;machine&gt; &amp; more") && svg.matches("<polyline").count() == 1, "{svg}");
    for label in ["8 B", "4 KiB", "100 ns", "200 ns", "500 ns", "1 us"] {
        assert!(svg.contains(&format!(">{label}</text>")), "{label}: {svg}");
    }
}

/// A tenfold value is one step higher.
#[test]
fn places_points() {
    let described = r#"{ "title": "", "note": "", "panels": [ { "heading": "", "unit": "ns", "lines": [
            { "label": "a", "colour": "red", "dash": "7 4", "points": [[1, 100], [4, 1000], [16, 10000], [64, 0]] }] }] }"#;
    let svg = serde_json::from_str::<Chart>(described).expect("a description").svg();
    assert!(
        svg.contains("<polyline points=\"70.0,414.0 260.0,254.0 450.0,94.0\" fill=\"none\" stroke=\"red\""),
        "{svg}"
    );
}

#[test]
fn describes_the_chart_in_words() {
    let described = r#"{ "title": "t", "note": "how\nwhere", "panels": [ { "heading": "h", "unit": "ns", "lines": [
            { "label": "a & b", "colour": "red", "points": [[1, 100], [4096, 2000]] },
            { "label": "none", "colour": "red", "points": [] }] }] }"#;
    let svg = serde_json::from_str::<Chart>(described).expect("a description").svg();
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
