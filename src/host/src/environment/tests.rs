use std::fs;

use super::*;

/// Cargo sets this variable for every test.
const SET: &str = "CARGO_MANIFEST_DIR";
const UNSET: &str = "DAT_NO_SUCH_VARIABLE";

#[test]
fn a_privileged_process_sees_no_variable() {
    assert_eq!(value(SET, false), std::env::var_os(SET));
    assert!(value(SET, false).is_some());
    assert_eq!(value(SET, true), None);
    assert_eq!(value(UNSET, false), None);
    assert_eq!(value(UNSET, true), None);
}

/// The privileges that the kernel reports are the ones that count.
#[test]
fn privileges_are_those_that_the_kernel_tells() {
    let words = fs::read("/proc/self/auxv").expect("auxv");
    let words: Vec<libc::c_ulong> = words
        .chunks_exact(size_of::<libc::c_ulong>())
        .map(|bytes| libc::c_ulong::from_ne_bytes(bytes.try_into().expect("a word")))
        .collect();
    let told = words.chunks_exact(2).find(|pair| pair[0] == libc::AT_SECURE).expect("AT_SECURE");
    assert_eq!(privileged(), told[1] != 0);
    assert_eq!(secure(SET), value(SET, told[1] != 0));
}
