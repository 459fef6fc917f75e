//! The entries that need no configuration.
//!
//! `shm` always exists: it connects processes of one host and needs no hardware. Each network interface of an RDMA
//! device gives `verbs-<interface>`. The devices are read from sysfs, so nothing has to be loaded to list them. A transport
//! has a provider library for each major version of the interface, `libdapl<transport>.so.<major>`.

#![forbid(unsafe_code)]

use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use host::sysfs;

use crate::entry::{Api, Entry, Interface, NAME_MAX, ProviderVersion, Version};

/// A transport with adapters that need no configuration.
struct Transport {
    /// The part of the name of its libraries that is its own.
    name: &'static str,
    /// Its adapters by the devices under a folder such as /sys.
    adapters: fn(&Path) -> Vec<Adapter>,
}

/// What the entries of a transport differ in.
struct Adapter {
    name: Vec<u8>,
    instance_data: Vec<u8>,
}

const TRANSPORTS: [Transport; 2] =
    [Transport { name: "shm", adapters: of_shm }, Transport { name: "verbs", adapters: of_verbs }];

/// The built-in entries for a version, transport by transport: `shm`, then the network interfaces of the RDMA devices found
/// under `sysfs`, device by device.
///
/// Devices that cannot be read are left out: a host without RDMA has no such folder.
pub fn entries(version: Version, sysfs: &Path) -> Vec<Entry> {
    let Version { major, minor } = version;
    let of_transport = |transport: &Transport| {
        let library = CString::new(format!("libdapl{}.so.{major}", transport.name)).ok();
        let entry = |Adapter { name, instance_data }: Adapter| {
            Some(Entry {
                name: CString::new(name).ok().filter(|name| name.count_bytes() <= NAME_MAX)?,
                api: Api { interface: Interface::User, major, minor },
                thread_safe: true,
                default: true,
                library: library.clone()?,
                provider_version: ProviderVersion { id: c"libdat".to_owned(), major, minor },
                instance_data: CString::new(instance_data).ok()?,
                platform_data: CString::default(),
            })
        };
        (transport.adapters)(sysfs).into_iter().filter_map(entry).collect::<Vec<_>>()
    };
    TRANSPORTS.iter().flat_map(of_transport).collect()
}

/// The one adapter of shm.
fn of_shm(_: &Path) -> Vec<Adapter> {
    vec![Adapter { name: b"shm".to_vec(), instance_data: Vec::new() }]
}

/// The adapters of verbs.
fn of_verbs(sysfs: &Path) -> Vec<Adapter> {
    let adapter = |interface: OsString| {
        let interface = interface.as_bytes();
        // The instance data have the form of the OFED providers: interface and port.
        Adapter { name: [b"verbs-", interface].concat(), instance_data: [interface, b" 0"].concat() }
    };
    rdma_interfaces(sysfs).into_iter().map(adapter).collect()
}

/// Network interfaces of the RDMA devices, each of them once.
fn rdma_interfaces(sysfs: &Path) -> Vec<OsString> {
    let mut all: Vec<OsString> = Vec::new();
    for device in sysfs::devices(sysfs) {
        for interface in sysfs::interfaces(sysfs, &device, None) {
            if !all.contains(&interface) {
                all.push(interface);
            }
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const VERSION: Version = Version { major: 1, minor: 2 };

    fn put(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn names(root: &Path) -> Vec<String> {
        entries(VERSION, root).iter().map(|entry| entry.name.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn shm_is_there_without_any_device() {
        let root = tempfile::tempdir().unwrap();
        let list = entries(VERSION, root.path());
        assert_eq!(list.len(), 1);
        assert_eq!(list[0].name.as_c_str(), c"shm");
        assert!(list[0].thread_safe && list[0].default);
        assert_eq!((list[0].api.major, list[0].api.minor), (1, 2));
    }

    #[test]
    fn interfaces_of_ports_are_listed_once() {
        let root = tempfile::tempdir().unwrap();
        let port = "class/infiniband/rxe0/ports/1/gid_attrs/ndevs";
        for slot in 0..3 {
            put(root.path(), &format!("{port}/{slot}"), "v0\n");
        }
        put(root.path(), &format!("{port}/3"), "\n");
        put(root.path(), &format!("{port}/10"), "v0.7\n");
        let list = entries(VERSION, root.path());
        assert_eq!(names(root.path()), ["shm", "verbs-v0", "verbs-v0.7"]);
        assert_eq!(list[1].instance_data.as_c_str(), c"v0 0");
        assert_eq!(list[0].library.as_c_str(), c"libdaplshm.so.1");
        assert_eq!(list[1].library.as_c_str(), c"libdaplverbs.so.1");
    }

    #[test]
    fn infiniband_shows_its_interfaces_beside_the_device() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "class/infiniband/mlx4_0/device/net/ib1/mtu", "1");
        put(root.path(), "class/infiniband/mlx4_0/device/net/ib0/mtu", "1");
        put(root.path(), "class/infiniband/mlx4_0/ports/1/state", "4");
        assert_eq!(names(root.path()), ["shm", "verbs-ib0", "verbs-ib1"]);
    }

    #[test]
    fn devices_come_in_order_of_their_numbers() {
        let root = tempfile::tempdir().unwrap();
        for n in [10, 9] {
            let path = format!("class/infiniband/rxe{n}/ports/1/gid_attrs/ndevs/0");
            put(root.path(), &path, &format!("eth{n}"));
        }
        assert_eq!(names(root.path()), ["shm", "verbs-eth9", "verbs-eth10"]);
    }

    #[test]
    fn a_device_without_an_interface_is_left_out() {
        let root = tempfile::tempdir().unwrap();
        put(root.path(), "class/infiniband/mlx5_0/ports/1/state", "4");
        assert_eq!(names(root.path()), ["shm"]);
    }
}
