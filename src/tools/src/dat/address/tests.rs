use super::*;

#[test]
fn addresses_are_read_as_they_were_written() {
    for ip in ["127.0.0.1", "192.0.2.7", "::1", "2001:db8::9"] {
        let ip: IpAddr = ip.parse().unwrap();
        let native = SockAddr::from(SocketAddr::new(ip, 0));
        // SAFETY: the pointer is that of a whole address.
        assert_eq!(unsafe { read(native.as_ptr().cast()) }, native.as_socket());
    }
    // SAFETY: null is allowed.
    assert_eq!(unsafe { read(std::ptr::null()) }, None);
}

#[test]
fn a_host_is_a_name_or_an_address() {
    let v4: IpAddr = "192.0.2.7".parse().unwrap();
    assert_eq!(resolve("192.0.2.7", None).unwrap(), [v4]);
    assert_eq!(resolve("[::1]", Some(v4)).unwrap(), ["::1".parse::<IpAddr>().unwrap()]);
    assert!(resolve("localhost", Some(v4)).unwrap()[0].is_loopback());
    assert!(resolve("host.invalid", None).is_err());
}
