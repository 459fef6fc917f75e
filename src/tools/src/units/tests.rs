use super::*;

#[test]
fn parses_units_of_bytes_and_counts() {
    let (bytes, count) = (bytes::<u64>(1..=1 << 31), count::<u32>(0..=3_000_000));
    assert_eq!((bytes("8"), bytes("64K"), bytes("64k"), bytes("2G")), (Ok(8), Ok(65_536), Ok(65_536), Ok(1 << 31)));
    assert_eq!((count("0"), count("20k"), count("3M")), (Ok(0), Ok(20_000), Ok(3_000_000)));
    for wrong in ["", "x", "8x", "K", "-1", "+1", "1.5K", "1KK", "0", "3G", "99999999999999999999", "99999999999G"] {
        assert!(bytes(wrong).is_err(), "{wrong}");
    }
    assert_eq!(count("4M"), Err("must be between 0 and 3000000".to_owned()));
}

#[test]
fn describes_invalid_numbers() {
    let (seconds, whole) = (seconds(0.001..=DAY), whole::<u32>(0..=5, "a whole number of seconds"));
    assert_eq!((seconds("0.5"), seconds("86400"), whole("5")), (Ok(0.5), Ok(DAY), Ok(5)));
    for (wrong, reason) in [
        ("x", "x is not a number of seconds"),
        ("1s", "1s is not a number of seconds"),
        ("", "an empty value is not a number of seconds"),
        ("-1", "must be between 0.001 and 86400"),
        ("nan", "must be between 0.001 and 86400"),
    ] {
        assert_eq!(seconds(wrong), Err(reason.to_owned()));
    }
    for (wrong, reason) in [
        ("0.5", "0.5 is not a whole number of seconds"),
        ("-1", "must be between 0 and 5"),
        ("6", "must be between 0 and 5"),
        ("", "an empty value is not a whole number of seconds"),
    ] {
        assert_eq!(whole(wrong), Err(reason.to_owned()));
    }
}
