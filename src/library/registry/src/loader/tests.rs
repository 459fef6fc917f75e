use super::*;

#[test]
fn reports_loaders_reason() {
    let Err(LoadError::Refused(reason)) = load(c"libno-such-provider.so.9") else {
        panic!("a library of this name, or no memory");
    };
    assert!(reason.contains("libno-such-provider.so.9"), "{reason}");
}

#[test]
fn rejects_text_file() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("libtext.so.1");
    std::fs::write(&path, "text").unwrap();
    let path = CString::new(path.as_os_str().as_bytes()).unwrap();
    assert!(load(&path).is_err());
}

#[test]
fn loads_library_without_the_functions() {
    let library = load(c"libm.so.6").unwrap();
    assert!(library.init.is_none() && library.fini.is_none());
}
