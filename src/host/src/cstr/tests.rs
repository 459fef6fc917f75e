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
