use super::*;

#[test]
fn arguments_are_consistent() {
    command::<crate::info::Arguments>().debug_assert();
    command::<crate::ping::Arguments>().debug_assert();
    command::<crate::perf::Arguments>().debug_assert();
}

#[test]
fn headings_become_words() {
    assert_eq!(capitalised("EXIT STATUS"), "Exit status");
}

#[test]
fn finds_its_own_file_without_proc() {
    assert_eq!(executed_file().unwrap(), std::env::current_exe().unwrap());
}

#[test]
fn recognises_hosts() {
    assert!(["127.0.0.1", "::1", "[fe80::1]", "localhost", "a.example.org"].into_iter().all(is_host));
    assert!(!["shm", "tcp-eth0", "OpenIB-cma", "verbs-eth0", "a:1"].into_iter().any(is_host));
}

#[test]
fn parses_versions() {
    let api =
        |text: &str| crate::info::Arguments::try_parse_from(["dat-info", "--api", text]).map(|all| all.common.api);
    assert_eq!(Api::ALL.map(|version| api(version.name()).unwrap()), Api::ALL.map(Some));
    assert!(api("3.0").is_err());
}

#[test]
fn joins_the_lines_of_a_paragraph() {
    let section = |heading: &str, text: &str| Section { heading: heading.to_owned(), text: text.to_owned() };
    assert_eq!(
        sections("# ONE\n\na\nb\n\nc\n\n  d\n    e\n\n# TWO\n\n  f\n\ng\n"),
        [section("ONE", "a b\n\nc\n\n  d\n    e"), section("TWO", "  f\n\ng")]
    );
}
