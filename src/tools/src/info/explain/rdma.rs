//! What RDMA between hosts needs: a device with a network interface, the device files, and memory that may be locked.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use host::{limit, net, sysfs};
use rustix::fs::{Access, access};
use rustix::io::Errno;

use super::step::Step;
use super::topic::Topic;
use crate::info::attributes::size;
use crate::info::devices::{self, Port};

/// The parts of a host that matter; others than its own in tests.
pub struct Host {
    /// Root of sysfs.
    pub sysfs: PathBuf,
    /// The directory of device files.
    pub dev: PathBuf,
    /// Names and addresses of the network interfaces.
    pub interfaces: Vec<(String, IpAddr)>,
    /// Bytes of memory that may be locked; `None` for no limit.
    pub locked: Option<u64>,
}

impl Host {
    /// Whether it has an RDMA device.
    pub fn has_device(&self) -> bool {
        !devices::ports(&self.sysfs).is_empty()
    }

    /// This host, and this process on it.
    pub fn this() -> Self {
        let limited = !may_lock_all(&fs::read_to_string("/proc/self/status").unwrap_or_default());
        Host {
            sysfs: sysfs::ROOT.into(),
            dev: "/dev".into(),
            interfaces: net::interfaces(),
            locked: if limited { limit::locked_memory().ok().flatten() } else { None },
        }
    }
}

/// Whether the process may lock any amount: it has CAP_IPC_LOCK.
fn may_lock_all(status: &str) -> bool {
    const CAP_IPC_LOCK: u32 = 14;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = line.and_then(|digits| u64::from_str_radix(digits.trim(), 16).ok());
    set.is_some_and(|set| set >> CAP_IPC_LOCK & 1 == 1)
}

/// Looks at all of it.
///
/// # Parameters
/// * `netdev` - the network interface that somebody asked for.
/// * `wanted` - whether somebody asked for an adapter of RDMA; otherwise what is missing is no fault.
pub fn explain(host: &Host, netdev: Option<&str>, wanted: bool) -> Vec<Step> {
    let ports = devices::ports(&host.sysfs);
    let lacks = |text: String| Step::wrong_if(wanted, text).see(Topic::NoRdmaDevice);
    if ports.is_empty() {
        return vec![lacks("this host has no RDMA device".to_owned())];
    }
    let has_device =
        |netdev: &str| ports.iter().any(|port| port.interfaces.iter().any(|interface| interface == netdev));
    let without =
        netdev.filter(|netdev| !has_device(netdev)).map(|netdev| lacks(format!("{netdev} has no RDMA device")));
    let ends = ports.iter().map(|port| port_step(host, port, wanted));
    let files = device_files(host, &ports, wanted);
    without.into_iter().chain(ends).chain(files).chain([locked(host.locked)]).collect()
}

/// The port of an adapter that is open.
///
/// # Parameters
/// * `address` - that of the adapter.
pub fn own_port(host: &Host, address: IpAddr) -> Option<Step> {
    let ports = devices::ports(&host.sysfs);
    devices::with_address(&ports, &host.interfaces, address).map(|port| port_step(host, port, true))
}

/// A port: its state, and an interface with an address.
fn port_step(host: &Host, port: &Port, wanted: bool) -> Step {
    let Port { device, number, state, link, interfaces } = port;
    let name = format!("{device} port {number} ({link})");
    let Some(interface) = interfaces.first() else {
        return Step::note(format!("{name}: {state}, without a network interface, so no adapter can be on it"));
    };
    let own: Vec<String> = devices::addresses(&host.interfaces, interface).iter().map(ToString::to_string).collect();
    if state != "active" {
        return Step::wrong_if(wanted, format!("{name}, interface {interface}: the port is {state}"))
            .see(Topic::InactivePort);
    }
    if own.is_empty() {
        let text = format!("{name}, interface {interface}: it has no IP address, which connections need");
        return Step::wrong_if(wanted, text).see(Topic::NoIpAddress);
    }
    Step::ok(format!("{name}: active, interface {}, {}", interfaces.join(", "), own.join(", ")))
}

/// The device files: that of the connection manager, and that of each device.
fn device_files(host: &Host, ports: &[Port], wanted: bool) -> Vec<Step> {
    let mut devices: Vec<&str> = ports.iter().map(|port| port.device.as_str()).collect();
    devices.dedup();
    let file_of = |device: &str| {
        let mut entries = fs::read_dir(host.sysfs.join("class/infiniband_verbs")).into_iter().flatten().flatten();
        let is_of = |path: PathBuf| fs::read_to_string(path.join("ibdev")).is_ok_and(|name| name.trim() == device);
        entries.find(|entry| is_of(entry.path())).map_or("uverbs0".into(), |entry| entry.file_name())
    };
    let files = ["rdma_cm".into()].into_iter().chain(devices.into_iter().map(file_of));
    files.map(|file| device_file(&host.dev.join("infiniband").join(file), wanted)).collect()
}

/// A device file, which programs open for reading and writing.
fn device_file(path: &Path, wanted: bool) -> Step {
    let shown = path.display();
    let text = match access(path, Access::READ_OK | Access::WRITE_OK) {
        Ok(()) => return Step::ok(format!("{shown} can be opened")),
        Err(Errno::NOENT) => format!("{shown} does not exist"),
        Err(error) => format!("you may not open {shown}: {}", std::io::Error::from(error)),
    };
    Step::wrong_if(wanted, text).see(Topic::DeviceFiles)
}

/// The least limit with which programs of some size run.
const ENOUGH: u64 = 64 << 20;

/// Memory that may be locked, which registered memory is.
fn locked(limit: Option<u64>) -> Step {
    match limit {
        None => Step::ok("any amount of memory can be registered (ulimit -l)"),
        Some(bytes) if bytes >= ENOUGH => {
            Step::ok(format!("{} of memory can be registered (ulimit -l {})", size(bytes), bytes >> 10))
        }
        Some(bytes) => Step::note(format!(
            "only {} of memory can be registered (ulimit -l {}): larger registrations fail with \
             DAT_INSUFFICIENT_RESOURCES",
            size(bytes),
            bytes >> 10
        ))
        .see(Topic::LockedMemory),
    }
}

#[cfg(test)]
mod tests;
