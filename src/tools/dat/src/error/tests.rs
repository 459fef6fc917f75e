use super::*;

#[test]
fn detects_absent_files() {
    let is_absent =
        |reason: &str| Error::library(std::path::Path::new("libdat.so.1"), reason.to_owned()).absent().is_some();
    assert!(is_absent("libdat.so.1: cannot open shared object file: No such file or directory"));
    assert!(is_absent("Error loading shared library libdat.so.1: No such file or directory"));
    assert!(!is_absent("/x/libdat.so.1: file too short"));
    assert!(!is_absent("libgcc_s.so.1: cannot open shared object file: No such file or directory"));
}
