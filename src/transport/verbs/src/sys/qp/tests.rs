use super::*;

#[test]
fn an_element_says_as_much_as_devices_take() {
    let of = |len: u64| {
        let elements =
            elements(&[Segment { addr: 8, len: 16, key: 1, since: 0 }, Segment { addr: 24, len, key: 2, since: 0 }]);
        assert_eq!(elements.len(), 2);
        assert_eq!(total(&elements), 16 + len.min(MAX_MESSAGE));
        let second = elements[1];
        (second.addr, second.length, second.lkey)
    };
    assert_eq!(of(100), (24, 100, 2));
    assert_eq!(of(MAX_MESSAGE), (24, 0x7fff_ffff, 2));
    assert_eq!(of(1 << 32), (24, 0x7fff_ffff, 2));
    assert_eq!(of(u64::MAX), (24, 0x7fff_ffff, 2));
}
