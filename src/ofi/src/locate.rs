//! Finds libfabric's provider and the address that the words of a configuration mean.

#![forbid(unsafe_code)]

use std::fs;
use std::net::{IpAddr, Ipv4Addr};

use host::net;

/// The provider of a name without words.
const TCP: &str = "tcp";

/// The place of an adapter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// libfabric's provider.
    pub provider: String,
    /// The network interface.
    pub netdev: String,
    /// Its address.
    pub address: IpAddr,
}

/// Finds the adapter that `instance` describes: "PROVIDER", "PROVIDER NETDEV", or "PROVIDER ADDRESS". If `instance` is
/// empty, it is what the entry's name says: `tcp`, or `tcp-NETDEV`. Without an interface it is that of the default route.
///
/// # Errors
/// One line that says what was looked for and what exists.
pub fn locate(name: &str, instance: &str) -> Result<Place, String> {
    let mut words = instance.split_whitespace();
    let (provider, netdev) = match words.next() {
        Some(provider) => (provider, words.next()),
        None => (TCP, name.strip_prefix("tcp-").filter(|netdev| !netdev.is_empty())),
    };
    if let Some(word) = words.next() {
        return Err(format!("instance data \"{instance}\": {word} is one word too many; it is PROVIDER [NETDEV]"));
    }
    let interfaces = net::interfaces();
    let place = |netdev: &str, address| Place { provider: provider.to_owned(), netdev: netdev.to_owned(), address };
    if let Some(address) = netdev.and_then(|netdev| netdev.parse::<IpAddr>().ok()) {
        let owner = interfaces.iter().find(|(_, own)| *own == address).map(|(netdev, _)| netdev.as_str());
        return match owner {
            Some(netdev) => Ok(place(netdev, address)),
            None => Err(format!("no interface has the address {address}; there is {}", present(&interfaces))),
        };
    }
    let wanted = match netdev {
        Some(netdev) => netdev.to_owned(),
        None => default_route().or_else(|| first(&interfaces)).ok_or("no network interface has an address")?,
    };
    match addresses(&interfaces, &wanted).first() {
        Some(address) => Ok(place(&wanted, *address)),
        None => Err(format!("no interface {wanted} with an address; there is {}", present(&interfaces))),
    }
}

/// The interface of the default route: the one of IPv4 with the lowest metric, or else that of IPv6.
fn default_route() -> Option<String> {
    let v4 = fs::read_to_string("/proc/net/route").unwrap_or_default();
    let v6 = || fs::read_to_string("/proc/net/ipv6_route").unwrap_or_default();
    route_of_v4(&v4).or_else(|| route_of_v6(&v6()))
}

/// The interface of the default route in a table as the kernel shows that of IPv4.
fn route_of_v4(table: &str) -> Option<String> {
    let routes = table.lines().skip(1).filter_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let [netdev, "00000000", ..] = words[..] else { return None };
        (words.get(7) == Some(&"00000000")).then_some((words.get(6)?.parse::<u64>().ok()?, netdev.to_owned()))
    });
    routes.min().map(|(_, netdev)| netdev)
}

/// The interface of the default route in a table as the kernel shows that of IPv6.
fn route_of_v6(table: &str) -> Option<String> {
    let routes = table.lines().filter_map(|line| {
        let words: Vec<_> = line.split_whitespace().collect();
        let (netdev, metric) = (*words.get(9)?, u64::from_str_radix(words.get(5)?, 16).ok()?);
        let default =
            words.first().is_some_and(|to| to.bytes().all(|digit| digit == b'0')) && words.get(1) == Some(&"00");
        (default && netdev != "lo").then_some((metric, netdev.to_owned()))
    });
    routes.min().map(|(_, netdev)| netdev)
}

/// The first interface that leads anywhere, or else the one that leads to this host.
fn first(interfaces: &[(String, IpAddr)]) -> Option<String> {
    let with_address = |netdev: &str| !addresses(interfaces, netdev).is_empty();
    let mut usable = interfaces.iter().filter(|(netdev, _)| with_address(netdev));
    let outside = usable.clone().find(|(_, address)| !address.is_loopback());
    outside.or_else(|| usable.next()).map(|(netdev, _)| netdev.clone())
}

/// Addresses of an interface, IPv4 first. Link-local addresses are left out, because nothing can be reached from them without
/// naming the interface.
fn addresses(interfaces: &[(String, IpAddr)], netdev: &str) -> Vec<IpAddr> {
    let usable = |address: &IpAddr| match address {
        IpAddr::V6(v6) => !v6.is_unicast_link_local(),
        IpAddr::V4(v4) => *v4 != Ipv4Addr::UNSPECIFIED,
    };
    let mut found: Vec<_> =
        interfaces.iter().filter(|(name, address)| name == netdev && usable(address)).map(|(_, own)| *own).collect();
    found.sort_by_key(IpAddr::is_ipv6);
    found
}

/// The interfaces and their first addresses.
fn present(interfaces: &[(String, IpAddr)]) -> String {
    let mut names: Vec<_> = interfaces.iter().map(|(netdev, _)| netdev).collect();
    names.dedup();
    let shown = names.into_iter().filter_map(|netdev| {
        let addresses = addresses(interfaces, netdev);
        addresses.first().map(|address| format!("{netdev} {address}"))
    });
    let mut shown: Vec<_> = shown.collect();
    shown.sort();
    shown.dedup();
    if shown.is_empty() { "no interface with an address".to_owned() } else { shown.join(", ") }
}

#[cfg(test)]
mod tests;
