use super::*;

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join("class/infiniband").join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// rxe9 has an interface, its VLAN and a bond. mlx4_0 is InfiniBand. mlx5_0 has no interface.
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
    assert_eq!(devices(tree().path()), ["mlx4_0", "mlx5_0", "rxe9", "rxe10"]);
    assert_eq!(devices(Path::new("/no/such/tree")), [""; 0]);
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
fn lists_interfaces_of_infiniband_device() {
    let root = tree();
    let of = |device: &str, port| interfaces(root.path(), device.as_ref(), port);
    assert_eq!(of("mlx4_0", None), ["ib9", "ib10"]);
    assert_eq!(of("mlx4_0", Some(2)), ["ib9", "ib10"]);
    assert_eq!(of("mlx5_0", None), [""; 0]);
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
