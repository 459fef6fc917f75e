use super::*;

#[test]
fn queues_get_shorter_until_the_device_can_make_them() {
    let device = |most: usize| {
        move |sends: usize, recvs: usize| {
            if sends + recvs > most { Err(std::io::Error::from_raw_os_error(libc::EINVAL)) } else { Ok(()) }
        }
    };
    assert_eq!(as_long_as_possible(50, 0, MIN_DEPTH, device(100)).unwrap(), ((), 50, 0));
    assert_eq!(as_long_as_possible(50_000, 10, MIN_DEPTH, device(4096)).unwrap(), ((), 3125, 10));
    assert_eq!(as_long_as_possible(17, 0, MIN_DEPTH, device(16)).unwrap(), ((), 16, 0));
    assert!(as_long_as_possible(1000, 1000, MIN_DEPTH, device(8)).is_err());
    // All receives are kept.
    assert_eq!(as_long_as_possible(3000, 2000, 2000, device(4096)).unwrap(), ((), 1500, 2000));
    assert!(as_long_as_possible(1000, 5000, 5000, device(4096)).is_err());
}

#[test]
fn segments_are_cut_to_the_length_of_a_read() {
    let of = |len: u64| Segment { len, ..Segment::default() };
    let lens = |segments: &[Segment], len: u64| {
        let mut cut = Checked::new();
        shorten(segments, len, &mut cut).iter().map(|segment| segment.len).collect::<Vec<_>>()
    };
    assert_eq!(lens(&[of(4), of(4)], 8), [4, 4]);
    assert_eq!(lens(&[of(4), of(4)], 5), [4, 1]);
    assert_eq!(lens(&[of(4), of(4)], 4), [4]);
    assert_eq!(lens(&[of(4)], 0), Vec::<u64>::new());
}
