use super::*;

#[test]
fn numbers_are_unique() {
    assert_ne!(next_number(), next_number());
}
