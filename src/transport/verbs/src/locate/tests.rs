use super::*;

const V4: [u8; 4] = [10, 1, 0, 1];
const ALIAS: [u8; 4] = [10, 1, 0, 9];
const VLAN: [u8; 4] = [10, 7, 0, 1];

/// Creates rxe0, on v0, its VLAN v0.7 and bond0, and mlx4_0 (InfiniBand), with one interface per port.
fn sysfs() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = root.path().join("class/infiniband").join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    for (slot, name) in [(0, "v0\n"), (1, "v0\n"), (2, "\n"), (10, "bond0\n"), (9, "v0.7\n")] {
        put(&format!("rxe0/ports/1/gid_attrs/ndevs/{slot}"), name);
    }
    put("mlx4_0/device/net/ib0/mtu", "1");
    put("mlx4_0/device/net/ib1/mtu", "1");
    root
}

fn present_interfaces() -> Vec<(String, IpAddr)> {
    let list: [(&str, IpAddr); 8] = [
        ("v0", "fe80::1".parse().unwrap()),
        ("v0", "2001:db8::1".parse().unwrap()),
        ("v0:x", ALIAS.into()),
        ("v0", V4.into()),
        ("v0.7", VLAN.into()),
        ("ib0", [10, 2, 0, 1].into()),
        ("ib1", [10, 2, 0, 2].into()),
        ("v6", "fe80::2".parse().unwrap()),
    ];
    list.into_iter().map(|(name, address)| (name.to_owned(), address)).collect()
}

fn wanted(instance: &str) -> Instance {
    Instance::parse("", instance).unwrap()
}

fn found(instance: &str) -> Vec<String> {
    let root = sysfs();
    let all = candidates(&wanted(instance), root.path(), &present_interfaces());
    all.into_iter().map(|candidate| candidate.0.to_string()).collect()
}

/// Rust's parser of numbers would accept the sign. dat-info rejects such a line too.
#[test]
fn a_port_with_a_sign_is_refused() {
    let told = locate("rail", "mlx4_0 +1").unwrap_err().text;
    assert!(told.starts_with("instance data \"mlx4_0 +1\": \"+1\" is not the number of a port; "), "{told}");
}

#[test]
fn an_address_stands_for_itself() {
    assert_eq!(found("10.1.2.3"), ["10.1.2.3"]);
    assert_eq!(found("2001:db8::7 0"), ["2001:db8::7"]);
}

#[test]
fn an_interface_stands_for_its_addresses() {
    assert_eq!(found("v0 0"), ["10.1.0.1", "10.1.0.9", "2001:db8::1"]);
    assert_eq!(found("v0:x 0"), ["10.1.0.9"]);
    assert_eq!(found("v0.7"), ["10.7.0.1"]);
    assert!(found("v6 0").is_empty());
}

#[test]
fn a_device_stands_for_the_interfaces_of_its_port() {
    assert_eq!(found("rxe0 1"), ["10.1.0.1", "10.1.0.9", "10.7.0.1", "2001:db8::1"]);
    assert_eq!(found("rxe0 0"), found("rxe0 1"));
    assert!(found("rxe0 2").is_empty());
    assert_eq!(found("mlx4_0 2"), ["10.2.0.1", "10.2.0.2"]);
    assert!(found("../net 1").is_empty() && found(". 1").is_empty());
}

/// An address must bind to the requested device and port.
#[test]
fn another_device_or_port_than_the_one_asked_for_is_passed_over() {
    let root = sysfs();
    let bind = |address: IpAddr| match address.to_string().as_str() {
        "10.2.0.1" => Ok(("mlx4_0".to_owned(), 1)),
        "10.2.0.2" => Ok(("mlx4_0".to_owned(), 2)),
        "10.1.0.1" => Ok(("siw0".to_owned(), 1)),
        _ => Err(Topic::NoRdmaDevice.reason("none")),
    };
    let choose = |instance: &str| {
        let wanted = wanted(instance);
        choose(&wanted, &candidates(&wanted, root.path(), &present_interfaces()), bind)
    };
    assert_eq!(choose("mlx4_0 1").unwrap().address, IpAddr::from([10, 2, 0, 1]));
    assert_eq!(choose("mlx4_0 2").unwrap().address, IpAddr::from([10, 2, 0, 2]));
    assert_eq!(choose("ib1 0").unwrap().port, 2);
    let told = choose("ib1 1").unwrap_err().text;
    assert!(told.contains("\"ib1\" port 1") && told.contains("10.2.0.2 belongs to mlx4_0 port 2"), "{told}");
    assert_eq!(choose("v0 0").unwrap().name, "siw0");
    let told = choose("rxe0 1").unwrap_err().text;
    assert!(told.contains("10.1.0.1 belongs to siw0 port 1"), "{told}");
    assert!(nowhere(&wanted("nothing 1"), None).text.contains("\"nothing\" port 1: no interface"));
}

#[test]
fn what_is_there_is_told() {
    let root = sysfs();
    let devices = ["rxe0".to_owned(), "mlx5_0".to_owned()];
    assert_eq!(
        present(root.path(), &devices, &present_interfaces()),
        "rxe0 (v0 10.1.0.1, v0.7 10.7.0.1, bond0 without an address), mlx5_0 (no interface)"
    );
    assert_eq!(present(root.path(), &[], &[]), "mlx4_0, rxe0, for which libibverbs has no driver in this process");
    let nothing = tempfile::tempdir().unwrap();
    assert!(present(nothing.path(), &[], &[]).starts_with("no readable list of RDMA devices: "));
    fs::create_dir(nothing.path().join("class")).unwrap();
    assert_eq!(present(nothing.path(), &[], &[]), "no RDMA device");
}
