use std::net::Ipv4Addr;

use super::*;

fn interfaces() -> Vec<(String, IpAddr)> {
    let all = [("lo", "127.0.0.1"), ("eth0", "192.0.2.7"), ("lo", "::1"), ("eth0", "fe80::1"), ("v6", "2001:db8::5")];
    all.map(|(netdev, address)| (netdev.to_owned(), address.parse().unwrap())).to_vec()
}

#[test]
fn the_default_route_is_that_with_the_lowest_metric() {
    let table = "Iface Destination Gateway Flags RefCnt Use Metric Mask MTU Window IRTT\n\
        wlan0 00000000 0100000A 0003 0 0 600 00000000 0 0 0\n\
        eth0 00000000 010200C0 0003 0 0 100 00000000 0 0 0\n\
        eth1 000200C0 00000000 0001 0 0 0 00FFFFFF 0 0 0\n";
    assert_eq!(route_of_v4(table).as_deref(), Some("eth0"));
    let odd = "Iface\n* 00000000 00000000 0200 0 0 0 00000000 0 0 0\nlo 00000000 00000000 0001 0 0 0 00000000 0 0 0\n";
    assert_eq!(route_of_v4(odd), None, "one that refuses, and one to this host");
    assert_eq!(route_of_v4("Iface Destination\n"), None);
    assert_eq!(route_of_v4("nonsense\neth0 00000000\n"), None);
}

#[test]
fn the_default_route_of_ipv6_is_not_the_one_that_drops_all() {
    let zeros = "0".repeat(32);
    let drops = format!("{zeros} 00 {zeros} 00 {zeros} ffffffff 00000001 00000000 00200200 lo");
    let leads = format!("{zeros} 00 {zeros} 00 fe800000000000000000000000000001 00000400 1 0 00000003 eth0");
    assert_eq!(route_of_v6(&format!("{drops}\n{leads}\n")).as_deref(), Some("eth0"));
    assert_eq!(route_of_v6(&drops), None);
}

#[test]
fn addresses_that_name_no_interface_are_left_out() {
    let all = interfaces();
    assert_eq!(addresses(&all, "eth0"), ["192.0.2.7".parse::<IpAddr>().unwrap()]);
    assert_eq!(addresses(&all, "lo").len(), 2);
    assert_eq!(present(&all), "name one of these: eth0 (192.0.2.7), lo (127.0.0.1), v6 (2001:db8::5)");
    assert!(
        owner(&all, "fe80::1".parse().unwrap())
            .unwrap_err()
            .text
            .starts_with("fe80::1 is link-local: name one of these: ")
    );
    assert_eq!(present(&all[3..4]), "none has an address");
}

#[test]
fn a_label_is_an_address_of_its_interface() {
    let all = [("eth0:1", "192.0.2.8"), ("eth0", "2001:db8::5")];
    let all = all.map(|(netdev, address)| (netdev.to_owned(), address.parse().unwrap()));
    for name in ["eth0", "eth0:1"] {
        assert_eq!(of_interface(&all, name), Ok((name.to_owned(), "192.0.2.8".parse().unwrap())));
    }
    assert_eq!(only(&all).map(|(netdev, _)| netdev).as_deref(), Ok("eth0"));
}

#[test]
fn without_a_default_route_it_is_the_one_interface_that_leads_to_other_hosts() {
    let all = interfaces();
    assert_eq!(only(&all[..4]), Ok(("eth0".to_owned(), "192.0.2.7".parse().unwrap())));
    let several = only(&all).unwrap_err().text;
    assert_eq!(
        several,
        "no default route selects a network interface: name one of these: eth0 (192.0.2.7), lo (127.0.0.1), v6 (2001:db8::5)"
    );
    let none = only(&all[..1]).unwrap_err().text;
    assert!(none.starts_with("no network interface leads to other hosts: name one of these: lo (127.0.0.1); "));
    assert_eq!(
        only(&[]).unwrap_err().text,
        "no network interface leads to other hosts: none has an address; tcp-lo connects processes of this host"
    );
}

#[test]
fn what_is_not_there_is_said() {
    let error = locate("tcp-none0", "").unwrap_err().text;
    assert!(error.starts_with("there is no network interface none0: ") && error.contains("lo (127.0.0.1)"), "{error}");
    for address in ["203.0.113.9", "0.0.0.0", "::"] {
        let error = locate("any", &format!("tcp {address}")).unwrap_err().text;
        assert!(error.starts_with(&format!("no network interface has the address {address}: ")), "{error}");
    }
    assert!(locate("any", "tcp lo more").unwrap_err().text.contains("more is one word too many"));
    assert!(locate("any", "sockets lo").unwrap_err().text.contains("must be tcp, not sockets"));
    let lo = locate("tcp-lo", "").unwrap();
    assert_eq!(lo.address, IpAddr::from(Ipv4Addr::LOCALHOST));
    assert_eq!(locate("any", "tcp ::1").map(|place| place.netdev).ok(), Some("lo".into()));
}
