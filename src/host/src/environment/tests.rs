use std::fs;

use super::*;

/// A variable that cargo sets for every test.
const SET: &str = "CARGO_MANIFEST_DIR";
const UNSET: &str = "DAT_NO_SUCH_VARIABLE";

#[test]
fn privileged_process_ignores_variables() {
    assert_eq!(value(SET, false), std::env::var_os(SET));
    assert!(value(SET, false).is_some());
    assert_eq!(value(SET, true), None);
    assert_eq!(value(UNSET, false), None);
    assert_eq!(value(UNSET, true), None);
}

#[test]
fn privileged_matches_the_auxiliary_vector() {
    let words = fs::read("/proc/self/auxv").expect("auxv");
    let words: Vec<libc::c_ulong> = words
        .chunks_exact(size_of::<libc::c_ulong>())
        .map(|bytes| libc::c_ulong::from_ne_bytes(bytes.try_into().expect("a word")))
        .collect();
    let secure_entry = words.chunks_exact(2).find(|pair| pair[0] == libc::AT_SECURE).expect("AT_SECURE");
    assert_eq!(privileged(), secure_entry[1] != 0);
    assert_eq!(secure(SET), value(SET, secure_entry[1] != 0));
}
