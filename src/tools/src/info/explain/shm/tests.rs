use super::super::step::Finding;
use super::*;

#[test]
fn the_directory_is_that_of_the_line_or_of_the_user() {
    assert!(meeting(" /srv/meet ", 7).text.starts_with("the rendezvous directory /srv/meet belongs to you, user 7:"));
    assert!(meeting("", 7).text.contains("/tmp/dat-shm-7 "));
}

#[test]
fn a_kernel_that_forbids_copies_is_noted() {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), "1\n").unwrap();
    assert!(copies(file.path()).is_none());
    fs::write(file.path(), "3\n").unwrap();
    assert_eq!(copies(file.path()).unwrap().state, Finding::Note);
}
