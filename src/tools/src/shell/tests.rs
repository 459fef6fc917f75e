use std::process::Command;

use super::*;

#[test]
fn paths_and_names_are_words_for_the_shell() {
    assert_eq!(quoted("/etc/dat.conf"), "/etc/dat.conf");
    assert_eq!(quoted("/a b's"), "'/a b'\\''s'");
    assert_eq!(quoted(""), "''");
    let hostile = OsStr::from_bytes(b"a\x1b[31m\xff'b");
    let word = quoted(hostile);
    assert!(!word.contains('\u{1b}'), "{word:?}");
    let output = Command::new("sh").args(["-c", &format!("printf %s {word}")]).output().unwrap();
    assert_eq!(output.stdout, hostile.as_bytes());
}

#[test]
fn a_name_that_looks_like_an_option_is_an_operand() {
    assert_eq!(operand("shm"), "shm");
    assert_eq!(operand("-x y"), "-- '-x y'");
}
