use super::*;

#[test]
fn names_are_found_and_missing_ones_are_not() {
    assert!(named(c"memcpy").is_some());
    assert!(named(c"no_library_has_this_name").is_none());
    assert!(versioned(c"memcpy", c"NO_SUCH_VERSION").is_none());
}
