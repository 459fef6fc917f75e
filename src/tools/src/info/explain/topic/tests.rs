use super::*;

#[test]
fn the_page_has_these_sections_in_this_order() {
    let page = include_str!("../../../../../../docs/troubleshooting.md");
    let headings = page.lines().filter_map(|line| line.strip_prefix("## "));
    let anchors: Vec<String> =
        headings.map(|heading| format!("{PAGE}#{}", heading.to_lowercase().replace(' ', "-"))).collect();
    let places: Vec<String> = Topic::value_variants().iter().map(|topic| topic.place()).collect();
    assert_eq!(anchors, places);
}
