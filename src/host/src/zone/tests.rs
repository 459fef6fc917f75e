use super::*;

#[test]
fn no_two_zones_have_one_number() {
    assert_ne!(next_number(), next_number());
}
