use std::net::UdpSocket;
use std::path::Path;

use super::*;

#[test]
fn addresses_belong_to_this_host() {
    for (name, address) in interfaces() {
        assert!(!name.is_empty());
        let link_local = matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local());
        if !link_local {
            UdpSocket::bind((address, 0)).unwrap_or_else(|error| panic!("{name} {address}: {error}"));
        }
    }
    if UdpSocket::bind("127.0.0.1:0").is_ok() {
        assert!(interfaces().iter().any(|(_, address)| address.is_loopback()));
    }
}

#[test]
fn names_include_interfaces_with_addresses() {
    let all = names(Path::new(PROC));
    for (name, _) in interfaces() {
        // An address can have a label, which follows a colon.
        let name = name.split(':').next().unwrap_or_default().to_owned();
        assert!(all.contains(&name.clone().into()), "{name} is not among {all:?}");
    }
    assert!(names(Path::new("/nonexistent")).is_empty());
}
