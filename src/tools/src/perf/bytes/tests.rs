use super::*;

#[test]
fn a_wrong_byte_is_found_in_each_part() {
    let mut bytes = [0; 5_000];
    stamp(&mut bytes, 0, 2, u64::MAX);
    check(&bytes, 0, 2, u64::MAX).expect("they are those");
    let mut parts = [0; 5_000];
    for (part, bytes) in parts.chunks_mut(999).enumerate() {
        stamp(bytes, part * 999, 2, u64::MAX);
    }
    assert_eq!(bytes, parts);
    bytes[4_999] ^= 1;
    check(&bytes[..4_999], 0, 2, u64::MAX).expect("these are");
    let error = check(&bytes[4_000..], 4_000, 2, u64::MAX).expect_err("one is wrong").to_string();
    assert_eq!(error, format!("connection 2, transfer {}: byte 4999 is wrong", u64::MAX));
}

#[test]
fn messages_differ() {
    let of = |connection, number| {
        let mut bytes = [0; 64];
        stamp(&mut bytes, 0, connection, number);
        bytes
    };
    assert_ne!(of(0, 1), of(0, 2));
    assert_ne!(of(0, 1), of(1, 1));
}
