use super::*;

#[test]
fn names_place_and_side_of_wrong_bytes() {
    assert_eq!(wrong_text(Operation::Send, None, None), None);
    assert_eq!(
        wrong_text(Operation::Write, Some(3), Some(0)).unwrap(),
        "write: the server received a wrong byte 3; write: this side received a wrong byte 0"
    );
}
