use super::*;

#[test]
fn a_text_needs_a_beginning_and_an_end() {
    let read = |text: &'static [u8], limit| {
        // SAFETY: no test has a limit beyond the end of its bytes.
        unsafe { bounded(text.as_ptr().cast(), limit) }
    };
    assert_eq!(read(b"abc\0", 4), Some(c"abc"));
    assert_eq!(read(b"\0", 1), Some(c""));
    assert_eq!(read(b"abc\0", 3), None);
    assert_eq!(read(b"abc", 3), None);
    // SAFETY: NULL is allowed.
    assert_eq!(unsafe { bounded(std::ptr::null(), 4) }, None);
}
