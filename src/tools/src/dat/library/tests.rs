use super::*;

#[test]
fn only_a_file_that_is_not_there_is_absent() {
    let is_absence = |reason: &str| is_absence(Path::new("libdat.so.1"), reason);
    assert!(is_absence("libdat.so.1: cannot open shared object file: No such file or directory"));
    assert!(is_absence("Error loading shared library libdat.so.1: No such file or directory"));
    assert!(!is_absence("/x/libdat.so.1: file too short"));
    assert!(!is_absence("libgcc_s.so.1: cannot open shared object file: No such file or directory"));
}

#[test]
fn a_library_of_another_kind_is_refused_for_what_it_lacks() {
    let error = Library::of_file(Path::new("libc.so.6"), None).err().expect("no uDAPL").to_string();
    assert!(error.contains("dat_ia_openv"), "{error}");
}

#[test]
fn text_ends_where_the_string_does_or_with_its_array() {
    let bytes = |text: &str| text.bytes().map(|byte| byte as c_char).collect::<Vec<_>>();
    assert_eq!(text(&bytes("shm\0old")), "shm");
    assert_eq!(text(&bytes("full")), "full");
}
