use std::io::{Write, pipe};

use super::*;

#[test]
fn an_answer_is_found_among_what_a_provider_prints() {
    let (answer, printed) = read("acme: no device\n\n{\"Err\":\"dat_ia_open: X\"}\nacme: bye\n");
    assert_eq!(answer.unwrap().unwrap_err(), "dat_ia_open: X");
    assert_eq!(printed, ["acme: no device", "acme: bye"]);
    let (answer, printed) = read("acme: crash\n");
    assert!(answer.is_none());
    assert_eq!(printed, ["acme: crash"]);
}

#[test]
fn pipes_are_read_to_their_ends_or_until_the_limit() {
    let (ends, mut into_ends) = pipe().unwrap();
    let (stays, mut into_stays) = pipe().unwrap();
    into_ends.write_all(b"one\n").unwrap();
    into_stays.write_all(b"two\n").unwrap();
    drop(into_ends);
    let file = |pipe| Some(File::from(OwnedFd::from(pipe)));
    let (texts, hangs) = read_all([file(ends), file(stays)], Duration::from_millis(20));
    assert_eq!((texts, hangs), (["one\n".to_owned(), "two\n".to_owned()], true));
    let (ends, into_ends) = pipe().unwrap();
    drop(into_ends);
    assert_eq!(read_all([file(ends)], LIMIT), ([String::new()], false));
}
