use super::*;

#[test]
fn converts_identities_to_c_and_back() {
    for (name, thread_safe) in [("a".to_owned(), true), ("n".repeat(255), false)] {
        let identity = Identity { name: std::ffi::CString::new(name).unwrap(), major: 1, minor: 2, thread_safe };
        assert_eq!(identity_of(&info_of(&identity)), Some(identity));
    }
}

#[test]
fn rejects_empty_and_unterminated_name() {
    let mut info = info_of(&Identity { name: c"a".to_owned(), major: 1, minor: 2, thread_safe: true });
    info.ia_name[0] = 0;
    assert!(identity_of(&info).is_none());
    info.ia_name.fill(1);
    assert!(identity_of(&info).is_none());
}
