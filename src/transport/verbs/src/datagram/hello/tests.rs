use super::*;

const HELLO: Hello = Hello {
    endpoint: 0x1234_5678,
    qp: 0x9a_bcde,
    request: 0xf102_0304,
    port: Port { gid: [7; 16], lid: 0x1122, service_level: 3, hop_limit: 64, traffic_class: 9 },
};

#[test]
fn what_is_written_is_read_whatever_follows() {
    for len in [0, 1, MAX_PRIVATE_DATA] {
        let data: Vec<u8> = (1..=len as u8).collect();
        let mut bytes = HELLO.write(&data).to_vec();
        assert_eq!(Hello::read(&bytes), Some((HELLO, &*data)));
        bytes.resize(180, 0);
        assert_eq!(Hello::read(&bytes), Some((HELLO, &*data)));
    }
}

#[test]
fn what_others_send_is_not_read() {
    let bytes = HELLO.write(&[1, 2, 3]);
    for len in 0..bytes.len() {
        assert_eq!(Hello::read(&bytes[..len]), None, "{len} bytes");
    }
    for at in 0..MAGIC.len() {
        let mut other = bytes.clone();
        other[at] ^= 1;
        assert_eq!(Hello::read(&other), None);
    }
    assert_eq!(Hello::read(&[0; 180]), None);
    assert_eq!(Hello::read(&Hello { endpoint: 0, ..HELLO }.write(&[])), None);
    assert_eq!(Hello::read(&Hello { qp: 1 << 24, ..HELLO }.write(&[])), None);
}
