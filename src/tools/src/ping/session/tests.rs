use super::*;

#[test]
fn wrong_bytes_are_told_with_place_and_side() {
    assert_eq!(wrong_text(Operation::Send, None, None), None);
    assert_eq!(
        wrong_text(Operation::Write, Some(3), Some(0)).unwrap(),
        "write: byte 3 was wrong when it came to the server; write: byte 0 was wrong when it came to this side"
    );
}
