use super::*;

#[test]
fn names_are_cut_and_ended() {
    let long = name(&"n".repeat(300));
    assert!(long[..255].iter().all(|&c| c == b'n' as c_char));
    assert_eq!(long[255], 0);
    assert_eq!(name("ab")[..3], [b'a' as c_char, b'b' as c_char, 0]);
}
