//! What an adapter over libfabric needs: libfabric with the provider that the line names, and a network interface with an
//! address. What libfabric has, only the provider's message says: to load it here would run the code of all its providers.

use std::net::IpAddr;
use std::path::Path;

use host::net;

use super::rdma::Host;
use super::step::Step;
use super::topic::Topic;
use crate::info::devices;

/// The words of a configuration, as the provider reads them.
#[derive(Debug, PartialEq, Eq)]
struct Wanted<'a> {
    provider: &'a str,
    /// A network interface, or an address; that of the default route if there is none.
    place: Option<&'a str>,
}

fn wanted<'a>(name: &'a str, instance: &'a str) -> Wanted<'a> {
    let mut words = instance.split_whitespace();
    match words.next() {
        Some(provider) => Wanted { provider, place: words.next() },
        None => Wanted { provider: "tcp", place: name.strip_prefix("tcp-").filter(|netdev| !netdev.is_empty()) },
    }
}

/// Looks at what an adapter lacks that does not open.
///
/// # Parameters
/// * `name`, `instance` - those of its entry.
/// * `messages` - what the provider said.
/// * `matters` - whether what is missing is wrong.
pub fn explain(host: &Host, name: &str, instance: &str, messages: &[String], matters: bool) -> Vec<Step> {
    let Wanted { provider, place } = wanted(name, instance);
    let said = |text: &str| messages.iter().any(|line| line.contains(text));
    let library = if said("libfabric.so.1 cannot be loaded") {
        let text = "libfabric, which moves its data, cannot be loaded: Debian has it in the package libfabric1";
        Some(Step::wrong_if(matters, text).see(Topic::ProviderLibrary))
    } else if said("libfabric is older than") {
        Some(Step::wrong_if(matters, "libfabric, which moves its data, is too old").see(Topic::ProviderLibrary))
    } else if said("no endpoint with connections") {
        let text = format!(
            "libfabric has no provider {provider} with connections at this address: fi_info, in Debian's package \
             libfabric-bin, lists those that it has"
        );
        Some(Step::wrong_if(matters, text).see(Topic::InstanceData))
    } else {
        None
    };
    library.into_iter().chain([interface(host, place, matters)]).collect()
}

/// The network interface and its address.
///
/// # Parameters
/// * `place` - an interface or an address; any if there is none.
pub fn interface(host: &Host, place: Option<&str>, matters: bool) -> Step {
    let usable = |address: &IpAddr| !matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local());
    let all: Vec<&(String, IpAddr)> = host.interfaces.iter().filter(|(_, address)| usable(address)).collect();
    let lacks = |text: String, topic| Step::wrong_if(matters, text).see(topic);
    let Some(place) = place else {
        return match all.is_empty() {
            true => lacks("no network interface has an IP address".to_owned(), Topic::NoIpAddress),
            false => Step::ok("network interfaces of this host have IP addresses"),
        };
    };
    if let Ok(address) = place.parse::<IpAddr>() {
        return match all.iter().find(|(_, own)| *own == address) {
            Some((netdev, _)) => Step::ok(format!("network interface {netdev} has the address {address}")),
            None => lacks(format!("no network interface has the address {address}"), Topic::InstanceData),
        };
    }
    let own = devices::addresses(&host.interfaces, place);
    let names = || net::names(Path::new(net::PROC)).into_iter().map(|name| name.to_string_lossy().into_owned());
    match own.first() {
        Some(address) => Step::ok(format!("network interface {place} has the address {address}")),
        None if names().any(|name| name == place) => {
            lacks(format!("network interface {place} has no IP address, which connections need"), Topic::NoIpAddress)
        }
        None => {
            let there_are: Vec<String> = names().collect();
            lacks(
                format!("there is no network interface {place}; there are: {}", there_are.join(" ")),
                Topic::InstanceData,
            )
        }
    }
}

#[cfg(test)]
mod tests;
