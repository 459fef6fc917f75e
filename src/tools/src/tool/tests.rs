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
fn finds_programs_as_the_shell_does() {
    let path = OsStr::new("/no/such/directory:/usr/bin:/bin");
    assert!(by_name(Path::new("sh"), path).unwrap().ends_with("sh"));
    assert!(by_name(Path::new("/bin/sh"), OsStr::new("")).is_some());
    assert_eq!(by_name(Path::new("no-such-program"), path), None);
    assert_eq!(by_name(Path::new("./no-such-program"), path), None);
}

#[test]
fn joins_the_lines_of_a_paragraph() {
    let section = |heading: &str, text: &str| Section { heading: heading.to_owned(), text: text.to_owned() };
    assert_eq!(
        sections("# ONE\n\na\nb\n\nc\n\n  d\n    e\n\n# TWO\n\n  f\n\ng\n"),
        [section("ONE", "a b\n\nc\n\n  d\n    e"), section("TWO", "  f\n\ng")]
    );
}
