//! RDMA on this host: the ports of its devices, and the memory that may be locked.

use std::io;
use std::net::IpAddr;
use std::path::Path;

use host::net::Interfaces;
use host::topic::Topic;
use host::{limit, net, sysfs};
use rustix::thread::{CapabilitySet, capabilities};

use super::step::Step;
use crate::info::attributes::size;
use crate::info::devices::{self, Port};

/// The properties of this host that matter for RDMA. Tests create others.
pub struct Host {
    ports: io::Result<Vec<Port>>,
    pub interfaces: Interfaces,
    /// Maximum bytes of locked memory; `None` for no limit.
    locked: Option<u64>,
}

/// Bytes of lockable memory that suffice for small programs; a lower limit gets a note.
const ENOUGH: u64 = 64 << 20;

impl Host {
    pub fn this() -> Self {
        let unlimited = capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::IPC_LOCK));
        let locked = if unlimited { None } else { limit::locked_memory().ok().flatten() };
        Host { ports: devices::ports(Path::new(sysfs::ROOT)), interfaces: net::interfaces(), locked }
    }

    pub fn explain(&self) -> Vec<Step> {
        match &self.ports {
            Err(error) => vec![Step::note(format!("cannot list the RDMA devices: {error}")).see(Topic::InterfaceList)],
            Ok(ports) if ports.is_empty() => {
                vec![Step::note("this host has no RDMA device").see(Topic::NoRdmaDevice)]
            }
            Ok(ports) => ports.iter().map(|port| self.port(port, false)).chain([self.locked()]).collect(),
        }
    }

    pub fn port_of(&self, address: IpAddr) -> Option<Step> {
        let ports = self.ports.as_deref().unwrap_or_default();
        devices::with_address(ports, &self.interfaces.list, address).map(|port| self.port(port, true))
    }

    fn port(&self, port: &Port, wanted: bool) -> Step {
        let Port { device, number, state, link, interfaces } = port;
        let name = format!("{device} port {number} ({link})");
        let Some(interface) = interfaces.first() else {
            return Step::note(format!("{name}: {state}, without a network interface, so no adapter can use it"));
        };
        let own: Vec<String> = net::addresses(&self.interfaces.list, interface).iter().map(IpAddr::to_string).collect();
        if state != "active" {
            let text = format!("{name}, interface {interface}: the port is {state}");
            return Step::wrong_if(wanted, text).see(Topic::InactivePort);
        }
        if own.is_empty() {
            let reason = Topic::NoIpAddress.reason("it has no IP address, which connections need");
            let why = self.interfaces.explain(reason);
            return Step::wrong_if(wanted, format!("{name}, interface {interface}: {why}")).see(why.topic);
        }
        Step::ok(format!("{name}: active, interface {}, {}", interfaces.join(", "), own.join(", ")))
    }

    /// Returns a step about the limit of locked memory. Memory that is registered with an RDMA device counts towards
    /// it.
    fn locked(&self) -> Step {
        match self.locked {
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
}

#[cfg(test)]
mod tests;
