use super::*;

#[test]
fn rejects_null_and_unterminated_strings() {
    let read = |text: &'static [u8], limit| {
        // SAFETY: no limit exceeds the number of bytes.
        unsafe { bounded(text.as_ptr().cast(), limit) }
    };
    assert_eq!(read(b"abc\0", 4), Some(c"abc"));
    assert_eq!(read(b"\0", 1), Some(c""));
    assert_eq!(read(b"abc\0", 3), None);
    assert_eq!(read(b"abc", 3), None);
    // SAFETY: NULL is valid.
    assert_eq!(unsafe { bounded(std::ptr::null(), 4) }, None);
}

#[test]
fn arrays_are_cut_and_ended() {
    let long: [_; 256] = array(&[b'n'; 300]);
    assert!(long[..255].iter().all(|&c| c == b'n' as c_char));
    assert_eq!(long[255], 0);
    assert_eq!(array::<4>(b"ab"), [b'a' as c_char, b'b' as c_char, 0, 0]);
}
