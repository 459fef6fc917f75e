use super::*;

#[test]
fn formats_groups() {
    assert_eq!(groups(&0x0002_c903_00a1_b2c3_u64.to_be_bytes()), "0002:c903:00a1:b2c3");
    let mut gid = [0; 16];
    (gid[0], gid[1], gid[15]) = (0xfe, 0x80, 1);
    assert_eq!(groups(&gid), "fe80:0000:0000:0000:0000:0000:0000:0001");
}

#[test]
fn ends_value_at_zero_byte() {
    assert_eq!(text("ab\0cd").as_c_str(), c"ab");
}
