use super::super::step::Finding;
use super::*;

/// A host with Soft-RoCE on eth0 below a directory, or without.
fn host(root: &Path, device: bool) -> Host {
    let write = |path: &str, text: &str| {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    if device {
        write("sys/class/infiniband/rxe0/ports/1/state", "4: ACTIVE\n");
        write("sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet\n");
        write("sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "eth0\n");
        write("sys/class/infiniband_verbs/uverbs3/ibdev", "rxe0\n");
        write("dev/infiniband/uverbs3", "");
        write("dev/infiniband/rdma_cm", "");
    }
    Host {
        sysfs: root.join("sys"),
        dev: root.join("dev"),
        interfaces: vec![
            ("lo".to_owned(), "127.0.0.1".parse().unwrap()),
            ("eth0".to_owned(), "10.0.0.1".parse().unwrap()),
        ],
        locked: Some(8 << 20),
    }
}

#[test]
fn a_lack_is_wrong_if_somebody_asked_for_rdma() {
    let root = tempfile::tempdir().unwrap();
    let steps = explain(&host(root.path(), false), Some("eth0"), false);
    assert_eq!(steps, [Step::note("this host has no RDMA device").see(Topic::NoRdmaDevice)]);
    assert_eq!(explain(&host(root.path(), false), Some("eth0"), true)[0].state, Finding::Wrong);
}

#[test]
fn a_device_is_shown_with_its_files_and_limits() {
    let root = tempfile::tempdir().unwrap();
    let mut host = host(root.path(), true);
    let steps = explain(&host, Some("eth0"), true);
    let states: Vec<Finding> = steps.iter().map(|step| step.state).collect();
    assert_eq!(states, [Finding::Ok, Finding::Ok, Finding::Ok, Finding::Note], "{steps:?}");
    assert_eq!(steps[0].text, "rxe0 port 1 (Ethernet): active, interface eth0, 10.0.0.1");
    assert!(steps[2].text.contains("uverbs3"));
    fs::remove_file(root.path().join("dev/infiniband/rdma_cm")).unwrap();
    fs::write(root.path().join("sys/class/infiniband/rxe0/ports/1/state"), "1: DOWN\n").unwrap();
    host.locked = None;
    let steps = explain(&host, Some("eth0"), true);
    assert_eq!(steps[0].see, Some(Topic::InactivePort.place()));
    assert_eq!(steps[1].see, Some(Topic::DeviceFiles.place()));
    assert_eq!(steps[3].state, Finding::Ok);
}

#[test]
fn an_interface_beside_that_of_a_device_has_none() {
    let root = tempfile::tempdir().unwrap();
    let host = host(root.path(), true);
    assert_eq!(explain(&host, Some("eth1"), true)[0].text, "eth1 has no RDMA device");
    assert_eq!(own_port(&host, host.interfaces[1].1).unwrap().state, Finding::Ok);
    assert_eq!(own_port(&host, host.interfaces[0].1), None);
}

#[test]
fn the_capability_lifts_the_limit() {
    assert!(may_lock_all("Name:\tx\nCapEff:\t000001ffffffffff\n"));
    assert!(!may_lock_all("CapEff:\t0000000000000000\n"));
    assert!(!may_lock_all(""));
}
