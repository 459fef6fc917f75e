use super::*;

/// Returns whether the masks `dat` and `dapl` together enable a message of a library.
fn admits(role: Role, dat: u64, dapl: u64, level: Level, target: &str) -> bool {
    let mask = Mask::of(role, Some(dat), Some(dapl)).unwrap();
    let admitted = mask.admits(&Metadata::builder().level(level).target(target).build());
    assert!(!admitted || level <= mask.level(), "{mask:x?} {level}");
    admitted
}

#[test]
fn errors_and_warnings_are_for_all_libraries() {
    for role in [Role::Registry, Role::Provider] {
        for (dat, dapl) in [(1, 0), (0, 1)] {
            assert!(admits(role, dat, dapl, Level::Error, "dat_shm::nodes"));
            assert!(!admits(role, dat, dapl, Level::Warn, "dat_shm::nodes"));
        }
        assert!(admits(role, 2, 0, Level::Warn, "dat_library::provider"));
        assert!(admits(role, 0, 3, Level::Warn, "dat_library::provider"));
        assert!(!admits(role, 3, 3, Level::Debug, "dat_library::provider"));
    }
}

#[test]
fn who_asks_for_anything_gets_errors() {
    assert!(admits(Role::Provider, 0, 8, Level::Error, "dat_core::ia"));
    assert!(admits(Role::Provider, 4, 0, Level::Error, "dat_core::ia"));
    assert!(!admits(Role::Provider, 0, 8, Level::Warn, "dat_core::ia"));
    assert!(!admits(Role::Provider, 0, 0, Level::Error, "dat_core::ia"));
}

#[test]
fn a_bit_asks_for_its_targets_alone() {
    for (bit, target) in [
        (0x4, EVD),
        (0x8, CM),
        (0x10, EP),
        (0x20, "dat_verbs::sys::device"),
        (0x40, CALLBACK),
        (0x80, COMPLETION),
        (0x100, CALL),
        (0x200, RETURN),
        (0x400, EXCEPTION),
        (0x800, SRQ),
        (0x1000, COUNTERS),
        (0x4000, THREAD),
    ] {
        assert!(admits(Role::Provider, 0, bit, Level::Debug, target), "{target}");
        assert!(!admits(Role::Provider, 0, 0xffff_ffff & !0xff & !bit, Level::Debug, target), "{target}");
        assert!(!admits(Role::Provider, 0, 0x7f & !bit, Level::Debug, target), "{target}");
        // A bit above warnings counts only in the library's own variable.
        assert!(!admits(Role::Provider, bit, 0, Level::Debug, target), "{target}");
    }
    for (bit, target) in [(0x4, "dat_library::provider"), (0x8, REGISTERED), (0x10, PROVIDER_CALL), (0x20, CALL)] {
        assert!(admits(Role::Registry, bit, 0, Level::Debug, target), "{target}");
        assert!(!admits(Role::Registry, 0x3f & !bit, 0x7f, Level::Debug, target), "{target}");
    }
}

#[test]
fn all_bits_ask_all_libraries_for_everything() {
    for role in [Role::Registry, Role::Provider] {
        for all in [0xff, 0xffff, u64::MAX] {
            assert!(admits(role, all, 0, Level::Trace, "elsewhere"));
            assert!(admits(role, 0, all, Level::Trace, CALL));
        }
    }
}

#[test]
fn the_bits_are_distinct() {
    for classes in [&REGISTRY[..], &PROVIDER] {
        let all = classes.iter().fold(ERRORS | WARNINGS, |all, (bit, _)| {
            assert_eq!(all & bit, 0);
            all | bit
        });
        assert!(all.count_ones() as usize == classes.len() + 2);
    }
}

#[test]
fn numbers_are_those_of_strtol() {
    let of = |text: &str| number(text.as_bytes());
    assert_eq!(of("1"), Some(1));
    assert_eq!(of("0x1f rest"), Some(0x1f));
    assert_eq!(of(" 010 "), Some(8));
    assert_eq!(of("+3"), Some(3));
    assert_eq!(of("-1"), Some(u64::MAX));
    assert_eq!(of("99999999999999999999999"), Some(u64::MAX));
    assert_eq!(of(""), None);
    assert_eq!(of("x"), None);
}
