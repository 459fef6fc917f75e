use super::*;

#[test]
fn reads_addresses() {
    for ip in ["127.0.0.1", "192.0.2.7", "::1", "2001:db8::9"] {
        let native = SockAddr::from(SocketAddr::new(ip.parse().unwrap(), 0));
        // SAFETY: the pointer refers to a whole address.
        assert_eq!(unsafe { address(native.as_ptr().cast()) }, native.as_socket());
    }
    // SAFETY: null is allowed.
    assert_eq!(unsafe { address(std::ptr::null()) }, None);
}
