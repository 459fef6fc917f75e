use super::*;

#[test]
fn sizes_are_exact() {
    assert_eq!(size(0), "0 bytes");
    assert_eq!(size(1000), "1000 bytes");
    assert_eq!(size(2 << 30), "2 GiB");
    assert_eq!(size(1536), "1536 bytes");
    assert_eq!(size(8 << 20), "8 MiB");
    assert_eq!(size(u64::MAX), format!("{} bytes", u64::MAX));
}

#[test]
fn sets_name_their_bits() {
    let all = [(1, "one"), (2, "two")];
    assert_eq!(set(3, "none", &all).1, "one, two");
    assert_eq!(set(4, "none", &all).1, "none");
    assert_eq!(set(2, "none", &all).0, json!(["two"]));
}

#[test]
fn a_choice_without_a_name_is_shown_as_it_is() {
    let all = [(1, "ONE", "the one")];
    assert_eq!(choice(1, &all).0, json!("ONE"));
    assert_eq!(choice(7, &all).1, "7, which has no name");
}

#[test]
fn streams_that_cannot_be_merged_are_named() {
    let mut matrix = [[DAT_TRUE; 6]; 6];
    assert_eq!(merging(matrix).1, "all kinds");
    matrix[2][0] = DAT_FALSE;
    assert_eq!(merging(matrix).1, "not software with transfers");
    assert_eq!(merging([[DAT_FALSE; 6]; 6]).1, "none");
}
