//! Resolves the instance data of a configuration to an address.

#![forbid(unsafe_code)]

use std::io;
use std::net::IpAddr;
use std::path::Path;

use host::net::{self, addresses, is_usable, netdev_of};
use host::topic::{Reason, Topic};

/// The first word of instance data.
const TCP: &str = "tcp";

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// Name of the network interface.
    pub netdev: String,
    pub address: IpAddr,
}

/// Finds the adapter that `instance` describes: "tcp", "tcp NETDEV", or "tcp ADDRESS". If it is empty, `tcp-NETDEV` as
/// `name` selects the interface. If neither names an interface or address, takes the default route's interface, or
/// else the only interface to other hosts. Most errors contain the existing interfaces.
pub fn locate(name: &str, instance: &str) -> Result<Place, Reason> {
    let unreadable = |fault: &str| Topic::InstanceData.reason(format!("instance data \"{instance}\": {fault}"));
    let mut words = instance.split_whitespace();
    let wanted = match words.next() {
        Some(TCP) => words.next(),
        Some(word) => return Err(unreadable(&format!("its first word must be {TCP}, not {word}"))),
        None => name.strip_prefix("tcp-").filter(|netdev| !netdev.is_empty()),
    };
    if let Some(word) = words.next() {
        return Err(unreadable(&format!("{word} is one word too many; it is tcp [NETDEV or ADDRESS]")));
    }
    let interfaces = net::interfaces();
    let found = match wanted {
        Some(wanted) => match wanted.parse() {
            Ok(address) => owner(&interfaces.list, address),
            Err(_) => of_interface(&interfaces.list, wanted),
        },
        None => match default_route(Path::new(net::PROC)) {
            Ok(Some(netdev)) => of_interface(&interfaces.list, &netdev),
            Ok(None) => only(&interfaces.list),
            Err(error) => only(&interfaces.list)
                .map_err(|_| Topic::ProcFileSystem.error(&error, format!("cannot read the default route: {error}"))),
        },
    };
    let (netdev, address) = found.map_err(|why| interfaces.explain(why))?;
    Ok(Place { netdev, address })
}

/// Returns the interface that has `address`, and the address. Fails if no interface has it, or it is not usable.
fn owner(interfaces: &[(String, IpAddr)], address: IpAddr) -> Result<(String, IpAddr), Reason> {
    let owner = interfaces.iter().find(|(_, own)| *own == address && is_usable(own));
    owner.cloned().ok_or_else(|| {
        let present = present(interfaces);
        Topic::InstanceData.reason(match address {
            IpAddr::V6(v6) if v6.is_unicast_link_local() => format!("{address} is link-local: {present}"),
            _ => format!("no network interface has the address {address}: {present}"),
        })
    })
}

fn of_interface(interfaces: &[(String, IpAddr)], netdev: &str) -> Result<(String, IpAddr), Reason> {
    let address = addresses(interfaces, netdev).first().copied();
    address.map(|address| (netdev.to_owned(), address)).ok_or_else(|| {
        let present = present(interfaces);
        match net::exists(netdev) {
            Ok(true) => Topic::NoIpAddress
                .reason(format!("network interface {netdev} has no IP address that peers reach: {present}")),
            Ok(false) => Topic::InstanceData.reason(format!("there is no network interface {netdev}: {present}")),
            Err(error) => Topic::ProcFileSystem
                .error(&error, format!("cannot check whether there is a network interface {netdev}: {error}")),
        }
    })
}

/// Returns the only interface to other hosts, with its address. Fails unless exactly one interface is not loopback.
fn only(interfaces: &[(String, IpAddr)]) -> Result<(String, IpAddr), Reason> {
    let mut all = usable(interfaces);
    all.retain(|(_, own)| !own.iter().any(IpAddr::is_loopback));
    let present = present(interfaces);
    match &*all {
        [(netdev, own)] => Ok(((*netdev).to_owned(), own[0])),
        [] => Err(Topic::NoIpAddress.reason(format!(
            "no network interface leads to other hosts: {present}; tcp-lo connects processes of this host"
        ))),
        _ => Err(Topic::InstanceData.reason(format!("no default route selects a network interface: {present}"))),
    }
}

/// Returns the interface of the default route: IPv4 with the lowest metric, otherwise IPv6. `None` without a default
/// route. Fails if a table that could contain it is unreadable. `proc` is the root of procfs.
fn default_route(proc: &Path) -> io::Result<Option<String>> {
    let v4 = net::table(proc, "route")?;
    if let Some(netdev) = route_of_v4(&String::from_utf8_lossy(&v4)) {
        return Ok(Some(netdev));
    }
    let v6 = net::table_v6(proc, "ipv6_route")?;
    Ok(route_of_v6(&String::from_utf8_lossy(&v6)))
}

fn route_of_v4(table: &str) -> Option<String> {
    let routes = table.lines().skip(1).filter_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [netdev, "00000000", _, _, _, _, metric, "00000000", ..] = words[..] else { return None };
        // Reject routes have no interface, and loopback leads to no other host.
        let leads = netdev != "*" && netdev != "lo";
        leads.then_some((metric.parse::<u64>().ok()?, netdev.to_owned()))
    });
    routes.min().map(|(_, netdev)| netdev)
}

fn route_of_v6(table: &str) -> Option<String> {
    let routes = table.lines().filter_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [to, "00", _, _, _, metric, _, _, _, netdev, ..] = words[..] else { return None };
        let is_default = to.bytes().all(|digit| digit == b'0');
        (is_default && netdev != "lo").then_some((u64::from_str_radix(metric, 16).ok()?, netdev.to_owned()))
    });
    routes.min().map(|(_, netdev)| netdev)
}

/// Returns the interfaces with usable addresses, sorted.
fn usable(interfaces: &[(String, IpAddr)]) -> Vec<(&str, Vec<IpAddr>)> {
    let mut names: Vec<_> = interfaces.iter().map(|(name, _)| netdev_of(name)).collect();
    names.sort_unstable();
    names.dedup();
    let all = names.into_iter().map(|netdev| (netdev, addresses(interfaces, netdev)));
    all.filter(|(_, own)| !own.is_empty()).collect()
}

/// Describes the interfaces and their first addresses, for the end of a message.
fn present(interfaces: &[(String, IpAddr)]) -> String {
    let shown: Vec<_> = usable(interfaces).iter().map(|(netdev, own)| format!("{netdev} ({})", own[0])).collect();
    match *shown {
        [] => "none has an address".to_owned(),
        _ => format!("name one of these: {}", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests;
