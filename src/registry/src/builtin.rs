//! The entries that need no configuration.
//!
//! `shm` always exists: it connects processes of one host and needs no hardware. Each network interface of an RDMA
//! device gives `verbs-<interface>`. The devices are read from sysfs, so nothing has to be loaded to list them. A transport
//! has a provider library for each major version of the interface, `libdapl<transport>.so.<major>`.

#![forbid(unsafe_code)]

use std::ffi::{CString, OsString};
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use host::sysfs;

use crate::entry::{Api, Entry, Interface, NAME_MAX, ProviderVersion, Version};

/// The built-in entries for a version: `shm`, then the network interfaces of the RDMA devices found under `sysfs`, device by
/// device.
///
/// Devices that cannot be read are left out: a host without RDMA has no such folder.
pub fn entries(version: Version, sysfs: &Path) -> Vec<Entry> {
    let Version { major, minor } = version;
    let entry = |(transport, name, instance_data): (&str, Vec<u8>, Vec<u8>)| {
        Some(Entry {
            name: CString::new(name).ok().filter(|name| name.count_bytes() <= NAME_MAX)?,
            api: Api { interface: Interface::User, major, minor },
            thread_safe: true,
            default: true,
            library: CString::new(format!("libdapl{transport}.so.{major}")).ok()?,
            provider_version: ProviderVersion { id: c"libdat".to_owned(), major, minor },
            instance_data: CString::new(instance_data).ok()?,
            platform_data: CString::default(),
        })
    };
    let verbs = rdma_interfaces(sysfs).into_iter().map(|interface| {
        let interface = interface.as_bytes();
        // The instance data have the form of the OFED providers: interface and port.
        ("verbs", [b"verbs-", interface].concat(), [interface, b" 0"].concat())
    });
    iter::once(("shm", b"shm".to_vec(), Vec::new())).chain(verbs).filter_map(entry).collect()
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
