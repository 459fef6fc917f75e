use super::*;

#[test]
fn parses_only_version_numbers() {
    assert_eq!(number(b"GLIBC_2.2.5"), Some([2, 2, 5]));
    assert_eq!(number(b"GLIBC_2.34"), Some([2, 34, 0]));
    assert_eq!(number(b"GLIBC_PRIVATE"), None);
    assert_eq!(number(b"GCC_3.0"), None);
}

/// Returns the default version of a symbol, or `None` if it has none.
fn default(libc: &[u8], name: &str) -> Option<Number> {
    let header = FileHeader64::<LittleEndian>::parse(libc).unwrap();
    let endian = header.endian().unwrap();
    let sections = header.sections(endian, libc).unwrap();
    let symbols = sections.symbols(endian, libc, SHT_DYNSYM).unwrap();
    let versions = sections.versions(endian, libc).unwrap().unwrap();
    let mut found = symbols.enumerate().filter_map(|(index, symbol)| {
        let version = versions.version_index(endian, index);
        let same = symbols.symbol_name(endian, symbol).unwrap() == name.as_bytes();
        (same && !version.is_hidden())
            .then(|| number(versions.version(version.index()).unwrap().unwrap().name()).unwrap())
    });
    let first = found.next();
    assert_eq!(found.next(), None, "{name} has one default version");
    first
}

#[test]
#[cfg(all(target_env = "gnu", target_arch = "x86_64"))]
fn has_no_default_newer_than_newest() {
    // Only build scripts have the compiler's target in the environment.
    let target = "x86_64-unknown-linux-gnu";
    let path = system_libc(cc::Build::new().target(target).host(target).opt_level(0)).unwrap();
    let before = fs::read(path).unwrap();
    let after = aged(before.clone()).unwrap();

    assert_eq!(before.len(), after.len());
    assert!(default(&after, "pthread_sigmask").is_none_or(|version| version == [2, 2, 5]));
    assert_eq!(default(&after, "memcpy"), Some([2, 14, 0]), "what was old enough stays");
    for name in ["gettid", "stat64", "arc4random", "dlopen", "pthread_create", "getrandom"] {
        assert!(default(&after, name).is_none_or(|version| version <= NEWEST), "{name}");
    }
    assert_eq!(aged(after.clone()).unwrap(), after, "a second time there is nothing to change");
}
