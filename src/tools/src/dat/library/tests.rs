use super::*;

#[test]
fn only_a_file_that_is_not_there_is_absent() {
    let error = |reason: &str| LoadError { file: NAME.into(), chosen: false, reason: reason.to_owned() };
    assert!(error("libdat.so.1: cannot open shared object file: No such file or directory").is_absence());
    assert!(error("Error loading shared library libdat.so.1: No such file or directory").is_absence());
    assert!(!error("/x/libdat.so.1: file too short").is_absence());
    assert!(!error("libgcc_s.so.1: cannot open shared object file: No such file or directory").is_absence());
}

#[test]
fn a_library_of_another_kind_is_refused_for_what_it_lacks() {
    let error = Library::load(Some(Path::new("libc.so.6"))).unwrap_err().to_string();
    assert!(error.contains("dat_ia_openv"), "{error}");
}

#[test]
fn text_ends_where_the_string_does_or_with_its_array() {
    let bytes = |text: &str| text.bytes().map(|byte| byte as c_char).collect::<Vec<_>>();
    assert_eq!(text(&bytes("shm\0old")), "shm");
    assert_eq!(text(&bytes("full")), "full");
}
