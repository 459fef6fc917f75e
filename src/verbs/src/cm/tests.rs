use super::{fewer, port_of};

#[test]
fn no_end_has_more_reads_under_way_than_the_other_serves() {
    assert_eq!(fewer((16, 8), (4, 4)), (4, 4));
    assert_eq!(fewer((2, 2), (4, 4)), (2, 2));
    assert_eq!(fewer((2, 2), (0, 0)), (0, 1));
    assert_eq!(fewer((0, 0), (4, 4)), (0, 0));
}

#[test]
fn qualifiers_become_ports_as_in_the_c_provider() {
    assert_eq!(port_of(1), 1);
    assert_eq!(port_of(65535), 65535);
    assert_eq!(port_of(65536), (33534 + 65536 % 32001) as u16);
    assert_eq!(port_of(u64::MAX), (33534 + u64::MAX % 32001) as u16);
}
