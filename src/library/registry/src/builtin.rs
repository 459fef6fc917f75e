//! The entries that need no configuration.
//!
//! `shm` always exists: it connects processes of one host and needs no hardware. Each network interface of an RDMA
//! device gives `verbs-<interface>`. `tcp` is on the interface of the default route, and each network interface gives
//! `tcp-<interface>`. The devices are read from sysfs, and the interfaces from the kernel's table of this network namespace,
//! so nothing has to be loaded to list them. A transport has a provider library for each major version of the interface,
//! `libdapl<transport>.so.<major>`.
//!
//! A host has many network interfaces, so of their names only `tcp` is listed, and that only where its library is
//! installed. It is the last one: a program that opens the first name of the list gets what needs nothing.

#![forbid(unsafe_code)]

use std::ffi::{CString, OsString};
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use host::{net, sysfs};

use crate::entry::{Api, Entry, Interface, NAME_MAX, ProviderVersion, Version};
use crate::loader::beside;

/// What the built-in entries follow from.
#[derive(Clone, Copy, Debug)]
pub struct Sources<'a> {
    /// Root of sysfs.
    pub sysfs: &'a Path,
    /// Root of the file system of processes.
    pub proc: &'a Path,
    /// The file of libdat, beside which its providers are; `None` if it is unknown.
    pub own: Option<&'a Path>,
}

/// A built-in entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// The entry.
    pub entry: Entry,
    /// Whether programs find it in the list of all; others can only be opened.
    pub listed: bool,
}

/// The built-in entries for a version: `shm`, then the network interfaces of the RDMA devices, device by device, then `tcp`,
/// then the others.
///
/// Devices that cannot be read are left out: a host without RDMA has no such folder.
pub fn entries(version: Version, sources: Sources<'_>) -> Vec<BuiltIn> {
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
    let shm = iter::once(("shm", b"shm".to_vec(), Vec::new()));
    let verbs = rdma_interfaces(sources.sysfs).into_iter().map(|interface| {
        let interface = interface.as_bytes();
        // The instance data have the form of the OFED providers: interface and port.
        ("verbs", [b"verbs-", interface].concat(), [interface, b" 0"].concat())
    });
    let tcp = ("tcp", b"tcp".to_vec(), b"tcp".to_vec());
    let others = net::names(sources.proc).into_iter().map(|interface| {
        let interface = interface.as_bytes();
        ("tcp", [b"tcp-", interface].concat(), [b"tcp ", interface].concat())
    });
    let certain = shm.chain(verbs).filter_map(entry).map(|entry| BuiltIn { entry, listed: true });
    let tcp = entry(tcp).map(|entry| BuiltIn { listed: is_installed(&entry, sources.own), entry });
    let others = others.filter_map(entry).map(|entry| BuiltIn { entry, listed: false });
    certain.chain(tcp).chain(others).collect()
}

/// Whether the library of an entry lies beside libdat.
fn is_installed(entry: &Entry, own: Option<&Path>) -> bool {
    own.is_some_and(|own| matches!(beside(&entry.library, own.to_owned()), Ok(Some(_))))
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
