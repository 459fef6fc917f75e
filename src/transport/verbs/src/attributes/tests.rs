use dat_core::Rights;

use super::{Limits, mtu};

#[test]
fn packets_are_as_long_as_the_port_says_and_no_longer_than_the_user_wants() {
    let of = |code, asked: Option<&str>| mtu(code, asked.map(Into::into));
    assert_eq!([0, 1, 3, 5, 6, u32::MAX].map(|code| of(code, None)), [256, 256, 1024, 4096, 4096, 4096]);
    assert_eq!(
        ["512", " 2048 ", "4096", "100", "many", ""].map(|asked| of(4, Some(asked))),
        [512, 2048, 2048, 2048, 2048, 2048]
    );
}

#[test]
fn a_device_without_atomic_operations_is_not_asked_to_grant_them() {
    let limits = |atomics| Limits { atomics, ..Limits::default() };
    let local = Rights::LOCAL_READ | Rights::LOCAL_WRITE;
    let others = local | Rights::REMOTE_READ | Rights::REMOTE_WRITE;
    for rights in [Rights::NONE, local, others] {
        assert_eq!([false, true].map(|atomics| limits(atomics).granted(rights)), [rights, rights]);
        let all = rights | Rights::REMOTE_ATOMIC;
        assert_eq!([false, true].map(|atomics| limits(atomics).granted(all)), [rights, all]);
    }
}
