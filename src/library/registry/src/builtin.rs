//! The entries that need no configuration:
//!
//! * `shm`, which connects processes of one host.
//! * `verbs-<interface>` for each network interface of an RDMA device.
//! * `tcp` for the interface of the default route.
//! * `tcp-<interface>` for each network interface.
//!
//! Programs open the first name of the list that works, or compare the networks of all names. So by default, the list
//! has only those built-in names that belong to an RDMA device. `shm` works on every host but connects no two, and TCP
//! would silently replace the network that the program has without uDAPL.
//!
//! Devices are read from sysfs, and interfaces from /proc, so nothing has to be loaded. Each major version of uDAPL has
//! its own name of a provider library: `libdapl<transport>.so.<major>`.

#![forbid(unsafe_code)]

use std::ffi::{CString, OsString};
use std::io;
use std::iter;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use host::{net, sysfs};

use crate::entry::{Api, Entry, Interface, NAME_MAX, Version};
use crate::loader::beside;

/// The condition under which the list of providers contains a built-in entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listed {
    /// No entry of a file is for the version, or the user requests the built-in entries.
    ByDefault,
    /// The user requests the built-in entries.
    OnRequest,
    /// Never, because a host can have many of these entries, or their library is not installed.
    Never,
}

/// A built-in entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltIn {
    /// The entry.
    pub entry: Entry,
    /// The condition under which it is listed.
    pub listed: Listed,
}

/// Returns the built-in entries for a version, in the order of the list above. RDMA interfaces are in the order of
/// their devices. `sysfs` and `proc` are the roots of these file systems. The provider libraries are next to `own`, the
/// file of libdat, if known. If a list of interfaces cannot be read, calls `unread` with the error; the entries of
/// these interfaces are missing.
pub fn entries(
    version: Version,
    sysfs: &Path,
    proc: &Path,
    own: Option<&Path>,
    unread: &mut dyn FnMut(&io::Error),
) -> Vec<BuiltIn> {
    let Version { major, minor } = version;
    let entry = |(transport, name, instance_data): (&str, Vec<u8>, Vec<u8>)| {
        Some(Entry {
            name: CString::new(name).ok().filter(|name| name.count_bytes() <= NAME_MAX)?,
            api: Api { interface: Interface::User, major, minor },
            thread_safe: true,
            default: true,
            library: CString::new(format!("libdapl{transport}.so.{major}")).ok()?,
            instance_data: CString::new(instance_data).ok()?,
        })
    };
    let shm = iter::once(("shm", b"shm".to_vec(), Vec::new()));
    let mut known = |read: io::Result<Vec<OsString>>| read.inspect_err(&mut *unread).unwrap_or_default();
    let (interfaces, netdevs) = (known(rdma_interfaces(sysfs)), known(net::names(proc)));
    let verbs = interfaces.into_iter().map(|interface| {
        let interface = interface.as_bytes();
        // The format of the OFED providers: interface and port.
        ("verbs", [b"verbs-", interface].concat(), [interface, b" 0"].concat())
    });
    let tcp = ("tcp", b"tcp".to_vec(), b"tcp".to_vec());
    let others = netdevs.into_iter().map(|interface| {
        let interface = interface.as_bytes();
        ("tcp", [b"tcp-", interface].concat(), [b"tcp ", interface].concat())
    });
    let all = |listed: Listed| move |entry: Entry| BuiltIn { entry, listed };
    let is_installed =
        |entry: &Entry| own.is_some_and(|own| matches!(beside(&entry.library, own.to_owned()), Ok(Some(_))));
    let shm = shm.filter_map(entry).map(all(Listed::OnRequest));
    let verbs = verbs.filter_map(entry).map(all(Listed::ByDefault));
    let tcp = entry(tcp)
        .map(|entry| BuiltIn { listed: if is_installed(&entry) { Listed::OnRequest } else { Listed::Never }, entry });
    shm.chain(verbs).chain(tcp).chain(others.filter_map(entry).map(all(Listed::Never))).collect()
}

/// Returns the network interfaces of the RDMA devices, without duplicates.
fn rdma_interfaces(sysfs: &Path) -> io::Result<Vec<OsString>> {
    let mut all: Vec<OsString> = Vec::new();
    for device in sysfs::devices(sysfs)? {
        for interface in sysfs::interfaces(sysfs, &device, None) {
            if !all.contains(&interface) {
                all.push(interface);
            }
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests;
