use super::*;

#[test]
fn an_attempt_is_rejected_only_by_a_peer() {
    // ECONNREFUSED and ECONNRESET; then the errors of Linux that persist, from EPERM to EHOSTUNREACH.
    let of = |code| ConnectionReport::of(&io::Error::from_raw_os_error(code));
    assert!([111, 104].map(of).iter().all(|report| *report == ConnectionReport::NonPeerRejected));
    assert_eq!(ConnectionReport::of(&io::ErrorKind::InvalidData.into()), ConnectionReport::NonPeerRejected);
    for code in [1, 12, 13, 19, 23, 24, 99, 100, 101, 105, 110, 112, 113] {
        assert_eq!(of(code), ConnectionReport::Unreachable, "{code}");
    }
}
