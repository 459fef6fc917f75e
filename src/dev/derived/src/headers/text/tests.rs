use super::*;

#[test]
fn fills_lines() {
    assert_eq!(wrap("a bb ccc dddd".split(' '), 6), ["a bb", "ccc", "dddd"]);
    assert_eq!(wrap("a bb ccc".split(' '), 8), ["a bb ccc"]);
}
