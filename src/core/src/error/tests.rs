use super::*;

// Errors of Linux, by number.
const EPERM: i32 = 1;
const ENOMEM: i32 = 12;
const EACCES: i32 = 13;
const ENODEV: i32 = 19;
const ENFILE: i32 = 23;
const EMFILE: i32 = 24;
const EADDRINUSE: i32 = 98;
const EADDRNOTAVAIL: i32 = 99;
const ENOBUFS: i32 = 105;

#[test]
fn only_a_used_port_is_in_use() {
    let of = |code, qualifier| Error::of_listen(&io::Error::from_raw_os_error(code), qualifier);
    let device = Error::InsufficientResources(Resource::Device);
    assert_eq!(of(EADDRINUSE, Some(2000)), Error::QualifierInUse);
    assert_eq!(of(EADDRINUSE, None), Error::QualifierUnavailable);
    for qualifier in [None, Some(80), Some(2000)] {
        assert_eq!([EACCES, EPERM].map(|code| of(code, qualifier)), [Error::ListenForbidden; 2]);
        assert_eq!([ENOMEM, ENOBUFS].map(|code| of(code, qualifier)), [Error::NO_MEMORY; 2]);
        assert_eq!([EMFILE, ENFILE, ENODEV, EADDRNOTAVAIL].map(|code| of(code, qualifier)), [device; 4]);
    }
}
