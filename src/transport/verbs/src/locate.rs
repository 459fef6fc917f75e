//! Resolves the instance data of a configuration entry to device, port and address.
//!
//! Names are resolved to addresses. An rdma_cm identifier bound to an address reveals the address's device and port,
//! which must be the requested ones. An interface may belong to several devices, and InfiniBand interfaces are listed
//! per device, not per port.

#![forbid(unsafe_code)]

use std::fs;
use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::path::Path;
use std::time::Duration;

use dat_registry::conf::Instance;
use host::net::{self, addresses};
use host::topic::{Reason, Topic};
use host::{limit, memory, sysfs};
use rdma_sys::rdma_port_space::RDMA_PS_TCP;

use crate::sys::cm::{CmId, EventChannel};
use crate::sys::device;
use crate::sys::freeing::Freeing;
use crate::sys::repeat;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    pub name: String,
    /// Port number, from 1.
    pub port: u8,
    /// Local address of connections.
    pub address: IpAddr,
}

/// An address that instance data may mean, and the device if one was named.
type Candidate = (IpAddr, Option<String>);

type Interfaces = [(String, IpAddr)];

/// Finds the adapter that `instance` describes: "NETDEV PORT", "DEVICE PORT", an IP address or the name of this host.
/// If `instance` is empty, `name` must be `verbs-NETDEV`. An error contains the requested name and the existing
/// devices.
pub fn locate(name: &str, instance: &str) -> Result<Place, Reason> {
    let sysfs = Path::new(sysfs::ROOT);
    let devices = match device::names() {
        // Without RDMA modules, the kernel has no devices.
        Err(error) if error.raw_os_error() == Some(libc::ENOSYS) => Vec::new(),
        Err(error) => return Err(Topic::DeviceFiles.error(&error, format!("cannot list the RDMA devices: {error}"))),
        Ok(devices) => devices,
    };
    let interfaces = net::interfaces();
    let search = || {
        let wanted = Instance::parse(name, instance).map_err(|text| Topic::InstanceData.reason(text))?;
        if devices.is_empty() {
            // Skips the resolver, which may take long to fail.
            let none = sysfs::devices(sysfs).is_ok_and(|devices| devices.is_empty());
            let topic = if none { Topic::NoRdmaDevice } else { Topic::DeviceFiles };
            return Err(topic.reason(format!("searched for {wanted}")));
        }
        let mut found = candidates(&wanted, sysfs, &interfaces.list);
        let mut unresolved = None;
        // A name with a port is a device, so it is not resolved as a host.
        if found.is_empty() && wanted.port.is_none() {
            // If memory is exhausted, glibc's resolver fails or ends the process.
            memory::probe(RESOLVER).map_err(|_| Topic::DoesNotOpen.reason(""))?;
            match (&*wanted.word, 0).to_socket_addrs() {
                Ok(addresses) => found = in_order(addresses.map(|address| (address.ip(), None)).collect()),
                Err(error) => unresolved = Some(error),
            }
        }
        if found.is_empty() {
            return Err(interfaces.explain(nowhere(&wanted, unresolved)));
        }
        choose(&wanted, &found, bind)
    };
    search().map_err(|why| {
        let present = present(sysfs, &devices, &interfaces.list);
        why.topic.reason(format!("{why}; there is {present}"))
    })
}

/// Returns why there is no candidate for an adapter. `unresolved` is the resolver's error, if the resolver was called.
fn nowhere(wanted: &Instance, unresolved: Option<io::Error>) -> Reason {
    let text = format!("searched for {wanted}: no interface, device or host with an IP address has this name");
    match net::exists(&wanted.word) {
        Ok(true) => Topic::NoIpAddress.reason(text),
        Ok(false) => Topic::InstanceData.reason(unresolved.map_or(text.clone(), |error| format!("{text} ({error})"))),
        Err(error) => Topic::ProcFileSystem.error(&error, format!("{text}; cannot list the interfaces: {error}")),
    }
}

/// Bytes of memory that glibc's resolver needs.
pub const RESOLVER: usize = 256 << 10;

/// Returns the addresses that the word may mean, best first, without resolving host names.
fn candidates(wanted: &Instance, sysfs: &Path, interfaces: &Interfaces) -> Vec<Candidate> {
    let Instance { word, port } = wanted;
    if let Ok(address) = word.parse::<IpAddr>() {
        return vec![(address, None)];
    }
    let own = addresses(interfaces, word).into_iter().map(|address| (address, None));
    let of_device = netdevs_of(sysfs, word, *port)
        .into_iter()
        .flat_map(|netdev| addresses(interfaces, &netdev))
        .map(|address| (address, Some(word.clone())));
    // A port other than 0 means a device, even if an interface has the same name.
    in_order(if port.is_some() { of_device.chain(own).collect() } else { own.chain(of_device).collect() })
}

/// Sorts candidates, IPv4 first, and removes duplicates.
fn in_order(mut found: Vec<Candidate>) -> Vec<Candidate> {
    found.sort_by_key(|(address, _)| address.is_ipv6());
    found.dedup();
    found
}

fn choose(
    wanted: &Instance,
    candidates: &[Candidate],
    bind: impl Fn(IpAddr) -> Result<(String, u8), Reason>,
) -> Result<Place, Reason> {
    let (mut topic, mut reasons) = (Topic::InstanceData, Vec::new());
    for (address, device) in candidates {
        let address = *address;
        match bind(address) {
            Ok((found, port))
                if device.as_ref().is_none_or(|device| *device == found)
                    && wanted.port.is_none_or(|wanted| wanted == port) =>
            {
                return Ok(Place { name: found, port, address });
            }
            Ok((found, port)) => reasons.push(format!("{address} belongs to {found} port {port}")),
            Err(reason) => {
                topic = reason.topic;
                reasons.push(format!("{address}: {reason}"));
            }
        }
    }
    Err(topic.reason(format!("searched for {wanted}: {}", reasons.join(", "))))
}

/// Returns the network interfaces of a device's port, or with `None` of all its ports. Skips names that are not UTF-8.
fn netdevs_of(sysfs: &Path, device: &str, port: Option<u8>) -> Vec<String> {
    let found = sysfs::interfaces(sysfs, device.as_ref(), port);
    found.into_iter().filter_map(|name| name.into_string().ok()).collect()
}

fn present(sysfs: &Path, devices: &[String], interfaces: &Interfaces) -> String {
    if devices.is_empty() {
        return match sysfs::devices(sysfs).as_deref() {
            Err(error) => format!("no readable list of RDMA devices: {error}"),
            Ok([]) => "no RDMA device".to_owned(),
            // libibverbs loads drivers only once per process, so a driver that is missing now stays missing.
            Ok(some) => {
                let names: Vec<_> = some.iter().map(|name| name.to_string_lossy()).collect();
                format!("{}, for which libibverbs has no driver in this process", names.join(", "))
            }
        };
    }
    let shown = |device: &String| {
        let netdevs: Vec<String> = netdevs_of(sysfs, device, None)
            .into_iter()
            .map(|netdev| match addresses(interfaces, &netdev).first() {
                Some(address) => format!("{netdev} {address}"),
                None => format!("{netdev} without an address"),
            })
            .collect();
        match netdevs.as_slice() {
            [] => format!("{device} (no interface)"),
            some => format!("{device} ({})", some.join(", ")),
        }
    };
    devices.iter().map(shown).collect::<Vec<_>>().join(", ")
}

/// Returns whether the interface with this address belongs to an RDMA device. Does not bind an identifier, because
/// librdmacm would keep the device open. Returns `false` if this process cannot list the devices or addresses.
pub fn has_device(address: IpAddr) -> bool {
    let sysfs = Path::new(sysfs::ROOT);
    let interfaces = net::interfaces().list;
    let of_interface = |interface: &String| {
        let mut devices = sysfs::devices(sysfs).unwrap_or_default().into_iter();
        devices.any(|device| sysfs::interfaces(sysfs, &device, None).iter().any(|name| *name == **interface))
    };
    interfaces.iter().any(|(interface, ip)| *ip == address && of_interface(interface))
}

/// Returns the first device file that this process may not open.
fn forbidden() -> Option<String> {
    let mut files = vec!["/dev/infiniband/rdma_cm".to_owned()];
    for entry in fs::read_dir("/dev/infiniband").into_iter().flatten().flatten() {
        let file = entry.path().to_string_lossy().into_owned();
        if file.starts_with("/dev/infiniband/uverbs") {
            files.push(file);
        }
    }
    files.sort();
    files.into_iter().find(|file| {
        let opened = fs::OpenOptions::new().read(true).write(true).open(file);
        opened.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
    })
}

fn bind(address: IpAddr) -> Result<(String, u8), Reason> {
    let find = || {
        let channel = EventChannel::new(&Freeing::new()?).map_err(|error| match limit::lacks_descriptors(&error) {
            true => error,
            false => io::Error::other(format!("no connection manager ({error}): is the module rdma_ucm loaded?")),
        })?;
        let id = CmId::bound(RDMA_PS_TCP, &channel, 0, SocketAddr::new(address, 0))?;
        id.device().ok_or_else(|| io::Error::from_raw_os_error(libc::ENODEV))
    };
    // librdmacm reports even temporary failures to open the device as a missing device. So the bind is repeated if /sys
    // shows a device with this address.
    let none = |error: &io::Error| matches!(error.raw_os_error(), Some(libc::ENODEV | libc::EADDRNOTAVAIL));
    let pauses = [0, 1, 10, 50].map(Duration::from_millis);
    repeat(pauses, |error| none(error) && has_device(address), find).map_err(|error| {
        let no_manager = error.kind() == io::ErrorKind::Other;
        match forbidden().filter(|_| no_manager || none(&error)) {
            Some(file) => Topic::DeviceFiles.reason(format!("no permission for {file}")),
            None if no_manager => Topic::DeviceFiles.reason(error.to_string()),
            None if none(&error) => Topic::NoRdmaDevice.reason("no RDMA device has this address"),
            None => Topic::DoesNotOpen.error(&error, error.to_string()),
        }
    })
}

#[cfg(test)]
mod tests;
