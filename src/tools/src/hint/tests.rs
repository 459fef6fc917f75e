use std::net::Ipv4Addr;

use super::*;

#[test]
fn the_question_depends_on_the_place() {
    let (shm, far) = (IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from([203, 0, 113, 9]));
    let of = |own, host, late| hint("dat-ping", "shm", Some(own), host, late);
    assert_eq!(of(shm, shm, false), "is `dat-ping shm` running there, as this user?");
    assert_eq!(of(shm, [127, 0, 1, 1].into(), false), "is `dat-ping shm` running there, as this user?");
    assert_eq!(of(shm, shm, true), "it listens but does not answer; is it stopped or busy?");
    for late in [false, true] {
        assert_eq!(of(far, [203, 0, 113, 10].into(), late), "is `dat-ping shm` running there?");
    }
    assert_eq!(of(far, shm, false), "is `dat-ping shm` running there?");
}
