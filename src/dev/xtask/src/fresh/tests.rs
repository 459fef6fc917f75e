use super::*;

#[test]
fn reads_the_list_of_cargo() {
    assert_eq!(sources("/t/libdat.so: /s/a.rs /s/b\\ c.rs\n"), [PathBuf::from("/s/a.rs"), PathBuf::from("/s/b c.rs")]);
    assert_eq!(sources(""), Vec::<PathBuf>::new());
}

#[test]
fn finds_a_newer_source() {
    let dir = tempfile::tempdir().unwrap();
    let [library, source] = ["libdat.so", "a.rs"].map(|name| dir.path().join(name));
    let at = |path: &Path, seconds| {
        let file = fs::File::create(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds)).unwrap();
    };
    at(&library, 2);
    at(&source, 1);
    let sources = [source.clone()];
    assert_eq!(newer_source(&library, &sources).unwrap(), None);
    at(&source, 3);
    assert_eq!(newer_source(&library, &sources).unwrap(), Some(source.as_path()));
    fs::remove_file(&source).unwrap();
    assert_eq!(newer_source(&library, &sources).unwrap(), Some(source.as_path()));
}
