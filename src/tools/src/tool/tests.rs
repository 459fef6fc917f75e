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
