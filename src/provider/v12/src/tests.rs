use super::*;

/// Returns all bits of a list.
fn all<T>(list: &[(T, u32)]) -> u32 {
    list.iter().fold(0, |all, (_, bit)| all | bit)
}

#[test]
fn flags_match_headers() {
    assert_eq!((all(Udat12::RIGHTS), Udat12::OTHER_RIGHTS), (DAT_MEM_PRIV_ALL_FLAG, 0x100));
    assert_eq!(all(Udat12::STREAMS), DAT_EVD_DEFAULT_FLAG | DAT_EVD_SOFTWARE_FLAG);
    for flags in 0..=0xfff {
        let known = flags & !0x133 == 0;
        let read = attr::rights::<Udat12>(flags).map(attr::c_rights::<Udat12>);
        assert_eq!(read, known.then_some(flags & 0x33), "{flags:#x}");
        let known = flags != 0 && flags & !0x1f1 == 0;
        let read = attr::streams::<Udat12>(flags).map(attr::c_streams::<Udat12>);
        assert_eq!(read, known.then_some(flags), "{flags:#x}");
    }
}
