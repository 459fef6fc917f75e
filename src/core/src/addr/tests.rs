use super::*;

fn address(ip: &str) -> Address {
    Address::new(SocketAddr::new(ip.parse().unwrap(), 0))
}

#[test]
fn groups_and_everybody_are_no_hosts() {
    for host in ["10.1.2.3", "127.0.0.1", "0.0.0.0", "::1", "2001:db8::1"] {
        assert!(address(host).is_host(), "{host}");
    }
    for other in ["224.0.0.1", "239.255.0.1", "255.255.255.255", "ff02::1"] {
        assert!(!address(other).is_host() && !address(other).is_local(), "{other}");
    }
}

#[test]
fn loopback_is_local_and_what_is_reserved_for_documents_is_not() {
    assert!(address("127.0.0.1").is_local() && address("::1").is_local());
    assert!(!address("203.0.113.9").is_local() && !address("0.0.0.0").is_local());
}

#[test]
fn the_any_address_is_that_of_the_adapter() {
    let unreachable = Err(Error::InvalidAddress(AddressFault::Unreachable));
    let at = |ip: &str| address(ip).with_port(7);
    let card = address("203.0.113.9");
    assert_eq!(card.named_by(&at("0.0.0.0"), false), Ok(at("203.0.113.9")));
    assert_eq!(card.named_by(&at("203.0.113.9"), false), Ok(at("203.0.113.9")));
    for other in ["127.0.0.1", "203.0.113.10", "::", "::1"] {
        assert_eq!(card.named_by(&at(other), false), unreachable, "{other}");
    }
    let host = Address::loopback();
    assert_eq!(host.named_by(&at("0.0.0.0"), true), Ok(at("127.0.0.1")));
    assert_eq!(host.named_by(&at("::"), true), Ok(at("::1")));
    assert_eq!(host.named_by(&at("127.0.0.1"), true), Ok(at("127.0.0.1")));
    assert_eq!(host.named_by(&at("::1"), true), Ok(at("::1")));
    assert_eq!(host.named_by(&at("203.0.113.9"), true), unreachable);
    assert_eq!(host.named_by(&at("::1"), false), unreachable);
}

#[test]
fn sockets_of_streams_are_supported() {
    let comm = |domain, kind, protocol| Comm { domain, kind, protocol };
    for good in [comm(2, 1, 0), comm(2, 1, 6), comm(10, 1, 0), comm(10, 1, 6)] {
        assert_eq!(good.check(), Ok(()));
    }
    for bad in [Comm::default(), comm(1, 1, 0), comm(2, 2, 0), comm(2, 1, 17), comm(-1, -1, -1)] {
        assert_eq!(bad.check(), Err(Error::CommNotSupported), "{bad:?}");
    }
    let malformed = Err(Error::InvalidAddress(AddressFault::Malformed));
    for (comm, v4, v6) in
        [(comm(2, 1, 0), Ok(()), malformed), (comm(10, 1, 0), malformed, Ok(())), (Comm::default(), Ok(()), malformed)]
    {
        assert_eq!(comm.check_address(&address("10.1.2.3")), v4);
        assert_eq!(comm.check_address(&address("::1")), v6);
    }
}

#[test]
fn the_native_form_is_read_back() {
    for text in ["127.0.0.1:0", "10.1.2.3:65535", "[::1]:7", "[fe80::1%3]:9"] {
        let address = Address::new(text.parse().unwrap());
        assert_eq!(Address::from_native(address.native()), Some(address));
    }
    assert_eq!(Address::from_native(&[1, 0, 0, 0]), None);
    assert_eq!(Address::from_native(&[2]), None);
}

#[test]
fn qualifiers_become_ports_as_in_the_c_provider() {
    assert_eq!(port_of(1), 1);
    assert_eq!(port_of(65535), 65535);
    assert_eq!(port_of(65536), (33534 + 65536 % 32001) as u16);
    assert_eq!(port_of(u64::MAX), (33534 + u64::MAX % 32001) as u16);
}
