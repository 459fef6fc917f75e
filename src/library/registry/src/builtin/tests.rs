use std::fs;

use super::*;

const VERSION: Version = Version { major: 1, minor: 2 };

fn put(root: &Path, path: &str, text: &str) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

/// Returns the built-in entries of a host whose files, including libdat, are below `root`.
fn all(root: &Path) -> Vec<BuiltIn> {
    let own = root.join("libdat.so.1");
    entries(VERSION, root, &root.join("proc"), Some(&own), &mut |_| {})
}

/// Returns the entries that are listed on request.
fn listed(root: &Path) -> Vec<Entry> {
    all(root).into_iter().filter(|one| one.listed != Listed::Never).map(|one| one.entry).collect()
}

fn names(root: &Path) -> Vec<String> {
    listed(root).iter().map(|entry| entry.name.to_str().unwrap().to_owned()).collect()
}

#[test]
fn lists_shm_without_devices() {
    let root = tempfile::tempdir().unwrap();
    let list = listed(root.path());
    assert_eq!(list.len(), 1);
    assert_eq!(list[0].name.as_c_str(), c"shm");
    assert!(list[0].thread_safe && list[0].default);
    assert_eq!((list[0].api.major, list[0].api.minor), (1, 2));
}

#[test]
fn lists_interfaces_of_ports_once() {
    let root = tempfile::tempdir().unwrap();
    let port = "class/infiniband/rxe0/ports/1/gid_attrs/ndevs";
    for slot in 0..3 {
        put(root.path(), &format!("{port}/{slot}"), "v0\n");
    }
    put(root.path(), &format!("{port}/3"), "\n");
    put(root.path(), &format!("{port}/10"), "v0.7\n");
    let list = listed(root.path());
    assert_eq!(names(root.path()), ["shm", "verbs-v0", "verbs-v0.7"]);
    assert_eq!(list[1].instance_data.as_c_str(), c"v0 0");
    assert_eq!(list[0].library.as_c_str(), c"libdaplshm.so.1");
    assert_eq!(list[1].library.as_c_str(), c"libdaplverbs.so.1");
}

#[test]
fn lists_interfaces_of_infiniband_device() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "class/infiniband/mlx4_0/device/net/ib1/mtu", "1");
    put(root.path(), "class/infiniband/mlx4_0/device/net/ib0/mtu", "1");
    put(root.path(), "class/infiniband/mlx4_0/ports/1/state", "4");
    assert_eq!(names(root.path()), ["shm", "verbs-ib0", "verbs-ib1"]);
}

#[test]
fn sorts_devices_by_number() {
    let root = tempfile::tempdir().unwrap();
    for n in [10, 9] {
        let path = format!("class/infiniband/rxe{n}/ports/1/gid_attrs/ndevs/0");
        put(root.path(), &path, &format!("eth{n}"));
    }
    assert_eq!(names(root.path()), ["shm", "verbs-eth9", "verbs-eth10"]);
}

#[test]
fn omits_device_without_interface() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "class/infiniband/mlx5_0/ports/1/state", "4");
    assert_eq!(names(root.path()), ["shm"]);
}

#[test]
fn lists_tcp_if_its_library_is_installed() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "eth0");
    put(root.path(), "proc/thread-self/net/dev", "Inter-|   Receive\n face |bytes\n    lo: 1 2\n  eth0:3 4\n");
    assert_eq!(names(root.path()), ["shm", "verbs-eth0"]);
    put(root.path(), "libdapltcp.so.2", "");
    assert_eq!(names(root.path()), ["shm", "verbs-eth0"], "it is for another version");
    put(root.path(), "libdapltcp.so.1", "");
    assert_eq!(names(root.path()), ["shm", "verbs-eth0", "tcp"]);
    let conditions: Vec<_> = all(root.path()).iter().map(|one| one.listed).collect();
    use Listed::{ByDefault, Never, OnRequest};
    assert_eq!(conditions, [OnRequest, ByDefault, OnRequest, Never, Never]);
}

#[test]
fn has_unlisted_tcp_entry_per_interface() {
    let root = tempfile::tempdir().unwrap();
    put(root.path(), "proc/thread-self/net/dev", "Inter-|   Receive\n face |bytes\n    lo: 1 2\n  eth0:3 4\n");
    let all = all(root.path());
    let shown = all.iter().map(|BuiltIn { entry, listed }| {
        (entry.name.to_str().unwrap(), entry.instance_data.to_str().unwrap(), *listed)
    });
    let shown: Vec<_> = shown.collect();
    assert_eq!(
        shown,
        [
            ("shm", "", Listed::OnRequest),
            ("tcp", "tcp", Listed::Never),
            ("tcp-lo", "tcp lo", Listed::Never),
            ("tcp-eth0", "tcp eth0", Listed::Never)
        ]
    );
    assert_eq!(all[3].entry.library.as_c_str(), c"libdapltcp.so.1");
}
