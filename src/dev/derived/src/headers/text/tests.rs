use super::*;

#[test]
fn lines_are_as_long_as_they_may_be() {
    assert_eq!(wrap("a bb ccc dddd".split(' '), 6), ["a bb", "ccc", "dddd"]);
    assert_eq!(wrap("a bb ccc".split(' '), 8), ["a bb ccc"]);
}
