//! The entries that need no configuration.
//!
//! `shm` is always there: it joins processes of one host and needs no hardware. Each network
//! interface of an RDMA device gives `verbs-<interface>`. The devices are read from sysfs, so
//! nothing has to be loaded to list them.

#![forbid(unsafe_code)]

use std::ffi::CString;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use crate::entry::{Api, Entry, Interface, NAME_MAX, ProviderVersion};

/// Where the kernel shows its devices.
pub const SYSFS: &str = "/sys";

/// The built-in entries for an API version: `shm`, then the network interfaces of the RDMA devices
/// found under `sysfs`, device by device in alphabetical order.
///
/// What cannot be read is left out: a host without RDMA has no such folder.
pub fn entries(major: u32, minor: u32, sysfs: &Path) -> Vec<Entry> {
    let entry = |name: &[u8], library: &str, instance_data: &[u8]| {
        Some(Entry {
            name: CString::new(name).ok().filter(|_| name.len() <= NAME_MAX)?,
            api: Api { interface: Interface::User, major, minor },
            thread_safe: true,
            default: true,
            library: CString::new(library).ok()?,
            provider_version: ProviderVersion { id: c"libdat".to_owned(), major, minor },
            instance_data: CString::new(instance_data).ok()?,
            platform_data: CString::default(),
        })
    };
    let mut list = Vec::new();
    list.extend(entry(b"shm", "libdaplshm.so.1", b""));
    for interface in rdma_interfaces(sysfs) {
        // The instance data are those of the OFED providers: interface and port.
        list.extend(entry(
            &[b"verbs-", interface.as_slice()].concat(),
            "libdaplverbs.so.1",
            &[interface.as_slice(), b" 0"].concat(),
        ));
    }
    list
}

/// Network interfaces of the RDMA devices, each once.
fn rdma_interfaces(sysfs: &Path) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = Vec::new();
    for device in sorted(&sysfs.join("class/infiniband")) {
        let mut here = interfaces_of_gids(&device);
        if here.is_empty() {
            here = sorted(&device.join("device/net"))
                .iter()
                .filter_map(|path| Some(path.file_name()?.as_bytes().to_vec()))
                .collect();
        }
        for interface in here {
            if !all.contains(&interface) {
                all.push(interface);
            }
        }
    }
    all
}

/// The interfaces behind the GIDs of a device's ports (RoCE, iWARP). A slot without an interface
/// cannot be read; several slots share one.
fn interfaces_of_gids(device: &Path) -> Vec<Vec<u8>> {
    let mut found: Vec<Vec<u8>> = Vec::new();
    for port in sorted(&device.join("ports")) {
        for slot in sorted(&port.join("gid_attrs/ndevs")) {
            let Ok(text) = fs::read(&slot) else { continue };
            let name = text.trim_ascii().to_vec();
            if !name.is_empty() && !found.contains(&name) {
                found.push(name);
            }
        }
    }
    found
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let Ok(items) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let mut names: Vec<_> = items.flatten().map(|item| item.file_name()).collect();
    // Digits at the end count as a number: slot 10 comes after slot 9.
    names.sort_by_cached_key(|name| {
        let name = name.clone().into_vec();
        let digits = name.iter().rev().take_while(|b| b.is_ascii_digit()).count();
        let (stem, number) = name.split_at(name.len() - digits);
        let value = number.iter().fold(0u64, |n, d| n.wrapping_mul(10).wrapping_add(u64::from(d - b'0')));
        (stem.to_vec(), value, name)
    });
    names.iter().map(|name| folder.join(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn names(root: &Path) -> Vec<String> {
        entries(1, 2, root).iter().map(|entry| entry.name.to_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn shm_is_there_without_any_device() {
        let root = tempfile::tempdir().unwrap();
        let list = entries(1, 2, root.path());
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
        let list = entries(1, 2, root.path());
        assert_eq!(names(root.path()), ["shm", "verbs-v0", "verbs-v0.7"]);
        assert_eq!(list[1].instance_data.as_c_str(), c"v0 0");
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
