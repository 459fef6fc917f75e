//! The RDMA devices of the host, as sysfs shows them.

use std::fs;
use std::io;
use std::net::IpAddr;
use std::path::Path;

use host::{net, sysfs};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    pub device: String,
    /// Number of the port on its device, from 1.
    pub number: u8,
    /// The kernel's name of the state, in lower case, such as active, down, init or armed.
    pub state: String,
    /// `Ethernet` or `InfiniBand`.
    pub link: String,
    pub interfaces: Vec<String>,
}

/// Returns the ports of all devices. Fails if the list of the devices is unreadable.
pub fn ports(sysfs: &Path) -> io::Result<Vec<Port>> {
    let mut found = Vec::new();
    for device in sysfs::devices(sysfs)? {
        let Some(name) = device.to_str() else { continue };
        let directory = sysfs.join("class/infiniband").join(name).join("ports");
        let mut numbers: Vec<u8> = fs::read_dir(&directory)
            .into_iter()
            .flatten()
            .flatten()
            .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
            .collect();
        numbers.sort_unstable();
        for number in numbers {
            let read =
                |file: &str| fs::read_to_string(directory.join(number.to_string()).join(file)).unwrap_or_default();
            // The kernel writes the number of a state before its name.
            let state = read("state").rsplit(' ').next().unwrap_or_default().trim().to_lowercase();
            let interfaces = sysfs::interfaces(sysfs, &device, Some(number));
            found.push(Port {
                device: name.to_owned(),
                number,
                state,
                link: read("link_layer").trim().to_owned(),
                interfaces: interfaces.into_iter().filter_map(|name| name.into_string().ok()).collect(),
            });
        }
    }
    Ok(found)
}

/// Returns the port whose network interface has an address. `interfaces` lists names of interfaces with their
/// addresses.
pub fn with_address<'a>(ports: &'a [Port], interfaces: &[(String, IpAddr)], address: IpAddr) -> Option<&'a Port> {
    let (name, _) = interfaces.iter().find(|(_, own)| *own == address)?;
    let name = net::netdev_of(name);
    ports.iter().find(|port| port.interfaces.iter().any(|interface| interface == name))
}

#[cfg(test)]
mod tests;
