use super::*;

#[test]
fn calls_are_repeated_as_long_as_that_helps() {
    let mut calls = 0;
    let mut fails = |errno: c_int, times: u32| {
        calls = 0;
        let answer = code(|| {
            calls += 1;
            if calls <= times { errno } else { 0 }
        });
        (answer.map_err(|error| error.raw_os_error()), calls)
    };
    assert_eq!(fails(0, 0), (Ok(()), 1));
    assert_eq!(fails(libc::EINTR, 3), (Ok(()), 4));
    assert_eq!(fails(libc::EAGAIN, 1), (Ok(()), 2));
    assert_eq!(fails(libc::EAGAIN, u32::MAX), (Err(Some(libc::EAGAIN)), 21));
    assert_eq!(fails(libc::ENOMEM, 1), (Err(Some(libc::ENOMEM)), 1));
}

#[test]
fn kernels_since_5_12_copy() {
    for release in ["5.12.0", "5.12.0-rc1+", "5.100.1", "6.1.0-28-amd64", "10.0", "6"] {
        assert!(kernel_copies(release), "{release}");
    }
    for release in ["5.11.22", "5.4.0-216-generic", "4.18.0-553.el8.x86_64", "3.12.1", "5", "", "?", "99999999999.1"] {
        assert!(!kernel_copies(release), "{release}");
    }
}

#[test]
fn versions_are_read_as_far_as_they_are_numbers() {
    assert_eq!(version("20.31.1014"), (20, 31));
    assert_eq!(version("rxe"), (0, 0));
    assert_eq!(version(""), (0, 0));
}

#[test]
fn what_is_given_back_is_offered_more_than_once() {
    for (refusals, offers) in [(0, 1), (2, 3), (100, 5)] {
        let mut calls = 0;
        destroy("it stays", || {
            calls += 1;
            if calls <= refusals { libc::EBUSY } else { 0 }
        });
        assert_eq!(calls, offers);
    }
}
