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
fn finds_library_next_to_its_own() {
    let root = tempfile::tempdir().unwrap();
    let own = root.path().join("libdat.so.1");
    let found = |name| {
        beside(name, own.clone())
            .unwrap()
            .map(|path| path.into_string().unwrap().rsplit_once('/').unwrap().1.to_owned())
    };
    for name in ["libdat.so.1", "libold.so.1", "libboth.so", "libboth.so.1"] {
        std::fs::write(root.path().join(name), "").unwrap();
    }
    assert_eq!(found(c"libold.so.1").as_deref(), Some("libold.so.1"));
    assert_eq!(found(c"libold.so").as_deref(), Some("libold.so.1"), "without the version");
    assert_eq!(found(c"libboth.so").as_deref(), Some("libboth.so"));
    assert_eq!(found(c"libold"), None);
    assert_eq!(found(c"libnone.so"), None);
}

#[test]
fn loads_library_without_the_functions() {
    let library = load(c"libm.so.6").unwrap();
    assert!(library.init.is_none() && library.fini.is_none());
}
