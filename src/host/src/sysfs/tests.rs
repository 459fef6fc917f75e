use super::*;

fn put(root: &Path, path: &str, text: &str) {
    put_in(root, "infiniband", path, text);
}

fn put_in(root: &Path, class: &str, path: &str, text: &str) {
    let path = root.join("class").join(class).join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Creates a tree: rxe9 has an interface, its VLAN and a bond; mlx4_0 is InfiniBand; mlx5_0 has no interface.
fn tree() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (slot, name) in [(0, "v0\n"), (1, "v0\n"), (2, "\n"), (10, "bond0\n"), (9, "v0.7\n")] {
        put(root.path(), &format!("rxe9/ports/1/gid_attrs/ndevs/{slot}"), name);
    }
    put(root.path(), "rxe9/ports/2/gid_attrs/ndevs/0", "v1\n");
    put(root.path(), "rxe10/ports/1/gid_attrs/ndevs/0", "v2");
    put(root.path(), "mlx4_0/device/net/ib10/mtu", "1");
    put(root.path(), "mlx4_0/device/net/ib9/mtu", "1");
    put(root.path(), "mlx4_0/ports/1/state", "4");
    put(root.path(), "mlx5_0/ports/1/state", "4");
    root
}

#[test]
fn sorts_devices_by_number() {
    assert_eq!(devices(tree().path()).unwrap(), ["mlx4_0", "mlx5_0", "rxe9", "rxe10"]);
}

#[test]
fn a_missing_sysfs_is_not_a_host_without_devices() {
    let root = tempfile::tempdir().unwrap();
    let error = devices(root.path()).unwrap_err();
    let path = root.path().join("class/infiniband");
    assert_eq!(error.to_string(), format!("{}: No such file or directory (os error 2)", path.display()));
    fs::create_dir(root.path().join("class")).unwrap();
    assert_eq!(devices(root.path()).unwrap(), [""; 0]);
    fs::write(path, "").unwrap();
    assert_eq!(devices(root.path()).unwrap_err().kind(), io::ErrorKind::NotADirectory);
}

#[test]
fn lists_interfaces_of_ports_once() {
    let root = tree();
    let of = |device: &str, port| interfaces(root.path(), device.as_ref(), port);
    assert_eq!(of("rxe9", None), ["v0", "v0.7", "bond0", "v1"]);
    assert_eq!(of("rxe9", Some(1)), ["v0", "v0.7", "bond0"]);
    assert_eq!(of("rxe9", Some(2)), ["v1"]);
    assert_eq!(of("rxe9", Some(3)), [""; 0]);
    assert_eq!(of("rxe10", None), ["v2"]);
}

#[test]
fn reads_a_gid_table_up_to_a_long_gap() {
    let root = tempfile::tempdir().unwrap();
    let ndevs = "rxe0/ports/1/gid_attrs/ndevs";
    let name = |slot: usize, name: &str| put(root.path(), &format!("{ndevs}/{slot}"), name);
    for slot in 1..3 * MAX_GAP {
        fs::create_dir_all(root.path().join("class/infiniband").join(ndevs).join(slot.to_string())).unwrap();
    }
    name(0, "v0");
    let beyond = |last: usize| {
        fs::remove_dir(root.path().join("class/infiniband").join(ndevs).join(last.to_string())).unwrap();
        name(last, "v1");
        interfaces(root.path(), "rxe0".as_ref(), None)
    };
    assert_eq!(beyond(MAX_GAP + 1), ["v0"]);
    assert_eq!(beyond(MAX_GAP), ["v0", "v1"]);
}

#[test]
fn lists_interfaces_of_infiniband_device() {
    let root = tree();
    let of = |device: &str, port| interfaces(root.path(), device.as_ref(), port);
    assert_eq!(of("mlx4_0", None), ["ib9", "ib10"]);
    assert_eq!(of("mlx4_0", Some(2)), ["ib9", "ib10"]);
    assert_eq!(of("mlx5_0", None), [""; 0]);
}

/// Reads a tree of Linux 6.1, in which the slots of an iWARP port cannot be read.
#[test]
fn iwarp_ports_have_the_interfaces_with_their_hardware_address() {
    let root = tree();
    put(root.path(), "siw0/node_type", "4: RNIC\n");
    put(root.path(), "siw0/ports/1/gids/0", "ba9f:5adb:6f85:0000:0000:0000:0000:0000\n");
    fs::create_dir_all(root.path().join("class/infiniband/siw0/ports/1/gid_attrs/ndevs/0")).unwrap();
    // The GID of RoCE is no hardware address.
    put(root.path(), "rxe11/node_type", "1: CA\n");
    put(root.path(), "rxe11/ports/1/gids/0", "ba9f:5adb:6f85:0000:0000:0000:0000:0000\n");
    for (name, address) in [
        ("v0", "ba:9f:5a:db:6f:85\n"),
        ("v0.5", "ba:9f:5a:db:6f:85\n"),
        ("v1", "ca:8e:b2:3b:d5:ef\n"),
        ("tun0", "\n"),
        ("ib0", "ba:9f:5a:db:6f:85:00:00:00:00:00:00:00:00:00:00:00:00:00:00\n"),
    ] {
        put_in(root.path(), "net", &format!("{name}/address"), address);
    }
    let of = |device: &str, port| interfaces(root.path(), device.as_ref(), port);
    assert_eq!(of("siw0", None), ["v0", "v0.5"]);
    assert_eq!(of("siw0", Some(1)), ["v0", "v0.5"]);
    assert_eq!(of("siw0", Some(2)), [""; 0]);
    assert_eq!(of("rxe11", None), [""; 0]);
}

#[test]
fn the_interface_of_an_iwarp_device_comes_before_others_with_its_address() {
    let root = tree();
    put(root.path(), "cxgb4_0/node_type", "4: RNIC\n");
    for (port, gid) in
        [("1", "0007:4312:0001:0000:0000:0000:0000:0000"), ("2", "0007:4312:0002:0000:0000:0000:0000:0000")]
    {
        put(root.path(), &format!("cxgb4_0/ports/{port}/gids/0"), gid);
    }
    for (name, address) in [("eth1", "00:07:43:12:00:01"), ("eth2", "00:07:43:12:00:02"), ("br0", "00:07:43:12:00:01")]
    {
        put_in(root.path(), "net", &format!("{name}/address"), address);
    }
    for name in ["eth1", "eth2"] {
        put(root.path(), &format!("cxgb4_0/device/net/{name}/mtu"), "1");
    }
    let of = |port| interfaces(root.path(), "cxgb4_0".as_ref(), port);
    assert_eq!(of(Some(1)), ["eth1", "br0"]);
    assert_eq!(of(Some(2)), ["eth2"]);
    assert_eq!(of(None), ["eth1", "br0", "eth2"]);
}

/// Linux 6.6 lists the interface of an iWARP port as for RoCE, and rdma_cm finds the device only for that interface.
#[test]
fn slots_of_an_iwarp_port_count_where_they_can_be_read() {
    let root = tree();
    put(root.path(), "siw1/node_type", "4: RNIC\n");
    put(root.path(), "siw1/ports/1/gids/0", "ba9f:5adb:6f85:0000:0000:0000:0000:0000\n");
    put(root.path(), "siw1/ports/1/gid_attrs/ndevs/0", "v7\n");
    put_in(root.path(), "net", "v8/address", "ba:9f:5a:db:6f:85\n");
    assert_eq!(interfaces(root.path(), "siw1".as_ref(), None), ["v7"]);
}

#[test]
fn rejects_invalid_device_names() {
    let root = tree();
    for text in ["", ".", "..", "../infiniband/rxe9", "rxe9/", "/", "none"] {
        assert_eq!(interfaces(root.path(), text.as_ref(), None), [""; 0], "{text}");
    }
}

#[test]
fn finds_counters_in_all_directories() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "mlx4_0/ports/2/counters/port_rcv_errors", "7\n");
    put(root.path(), "mlx4_0/ports/2/hw_counters/rq_num_oos", "8\n");
    put(root.path(), "mlx4_0/diag_counters/rq_num_rae", "18446744073709551615\n");
    put(root.path(), "mlx4_0/hw_counters/rq_num_rire", "many\n");
    let of = |device: &str, port, name| counter(root.path(), device.as_ref(), port, name);
    assert_eq!(of("mlx4_0", 2, "port_rcv_errors"), Some(7));
    assert_eq!(of("mlx4_0", 1, "port_rcv_errors"), None);
    assert_eq!(of("mlx4_0", 2, "rq_num_oos"), Some(8));
    assert_eq!(of("mlx4_0", 1, "rq_num_rae"), Some(u64::MAX));
    assert_eq!(of("mlx4_0", 1, "rq_num_rire"), None);
    assert_eq!(of("../mlx4_0", 2, "port_rcv_errors"), None);
}
