use super::*;

#[test]
fn the_page_has_these_sections_in_this_order() {
    let page = include_str!("../../../../docs/troubleshooting.md");
    let headings = page.lines().filter_map(|line| line.strip_prefix("## "));
    let sections: Vec<String> = headings.map(|heading| heading.to_lowercase().replace(' ', "-")).collect();
    assert_eq!(sections, Topic::ALL.iter().map(|topic| topic.name()).collect::<Vec<_>>());
}

#[test]
fn splits_lines() {
    assert_eq!(Topic::split("a: b [no-entry]"), ("a: b", Some(Topic::NoEntry)));
    for line in ["a: b", "a [b]", "[no-entry]", "a [no-entry] b", "a [no-entry"] {
        assert_eq!(Topic::split(line), (line, None));
    }
}

#[test]
fn a_lack_of_descriptors_is_a_topic() {
    let topic = |code| Topic::DoesNotOpen.error(&io::Error::from_raw_os_error(code), "").topic;
    assert_eq!((topic(libc::EMFILE), topic(libc::ENOENT)), (Topic::OpenFiles, Topic::DoesNotOpen));
}
