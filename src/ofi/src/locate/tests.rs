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
    assert_eq!(first(&all).as_deref(), Some("eth0"));
    assert_eq!(first(&all[..1]).as_deref(), Some("lo"));
    assert_eq!(present(&all), "eth0 192.0.2.7, lo 127.0.0.1, v6 2001:db8::5");
}

#[test]
fn what_is_not_there_is_said() {
    let error = locate("tcp-none0", "").unwrap_err();
    assert!(error.contains("none0") && error.contains("lo 127.0.0.1"), "{error}");
    assert!(locate("any", "tcp 203.0.113.9").unwrap_err().contains("203.0.113.9"));
    assert!(locate("any", "tcp lo more").unwrap_err().contains("more"));
    let lo = locate("tcp-lo", "").unwrap();
    assert_eq!((lo.provider.as_str(), lo.address), ("tcp", Ipv4Addr::LOCALHOST.into()));
    assert_eq!(
        locate("any", "sockets ::1").map(|place| (place.provider, place.netdev)).ok(),
        Some(("sockets".into(), "lo".into()))
    );
}
