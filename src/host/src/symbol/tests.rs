use super::*;

#[test]
fn finds_only_existing_symbols() {
    assert!(named(c"memcpy").is_some());
    assert!(named(c"no_library_has_this_name").is_none());
    assert!(versioned(c"memcpy", c"NO_SUCH_VERSION").is_none());
}
