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
mod tests;
