use super::*;

#[test]
fn ports_are_read_and_found_by_address() {
    let root = tempfile::tempdir().unwrap();
    let port = root.path().join("class/infiniband/rxe0/ports/1");
    fs::create_dir_all(port.join("gid_attrs/ndevs")).unwrap();
    fs::write(port.join("gid_attrs/ndevs/0"), "eth0\n").unwrap();
    fs::write(port.join("state"), "4: ACTIVE\n").unwrap();
    fs::write(port.join("link_layer"), "Ethernet\n").unwrap();
    let ports = ports(root.path()).unwrap();
    let wanted = Port {
        device: "rxe0".to_owned(),
        number: 1,
        state: "active".to_owned(),
        link: "Ethernet".to_owned(),
        interfaces: vec!["eth0".to_owned()],
    };
    assert_eq!(ports, [wanted]);
    let address: IpAddr = "10.0.0.1".parse().unwrap();
    let interfaces = [("lo".to_owned(), "127.0.0.1".parse().unwrap()), ("eth0:2".to_owned(), address)];
    assert_eq!(with_address(&ports, &interfaces, address), Some(&ports[0]));
    assert_eq!(with_address(&ports, &interfaces, interfaces[0].1), None);
    assert_eq!(net::addresses(&interfaces, "eth0"), [address]);
}

#[test]
fn a_host_without_devices_has_no_port() {
    let root = tempfile::tempdir().unwrap();
    assert!(ports(root.path()).is_err(), "no sysfs");
    fs::create_dir(root.path().join("class")).unwrap();
    assert_eq!(ports(root.path()).unwrap(), []);
}
