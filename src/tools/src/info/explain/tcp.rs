//! What an adapter over TCP needs: a network interface with an address. The provider's message names what is missing.

use std::path::Path;

use host::net;

use super::step::Step;
use super::topic::Topic;

/// Parts of the provider's messages, what to do, and where it is described.
const ADVICE: [(&str, &str, Topic); 6] = [
    (
        "there is no network interface",
        "this host has no such network interface: name one that exists",
        Topic::InstanceData,
    ),
    (
        "has no IP address that peers reach",
        "the network interface has no IP address, which connections need: give it one",
        Topic::NoIpAddress,
    ),
    (
        "no network interface has the address",
        "this host does not have the address: name one of its addresses",
        Topic::InstanceData,
    ),
    ("is link-local", "a link-local address will not do: name another one", Topic::InstanceData),
    (
        "no network interface leads to other hosts",
        "no network interface leads to other hosts: give one an IP address, or use tcp-lo, which connects only processes of this host",
        Topic::NoIpAddress,
    ),
    (
        "no default route tells",
        "there are several network interfaces and no default route: name one, as in tcp-eth0",
        Topic::InstanceData,
    ),
];

/// What a host lacks for an adapter that does not open, and what to do; `None` if it is something else.
///
/// # Parameters
/// * `messages` - what the provider said.
/// * `matters` - whether what is missing is wrong.
pub fn explain(messages: &[String], matters: bool) -> Option<Step> {
    let said = |text: &str| messages.iter().any(|line| line.contains(text));
    let (_, text, topic) = ADVICE.iter().find(|(part, ..)| said(part))?;
    Some(Step::wrong_if(matters, *text).see(*topic))
}

/// A network interface without a built-in entry, which each has: it is not there. `None` if it is, so that the entry is
/// switched off.
pub fn missing(netdev: &str) -> Option<Step> {
    let all: Vec<String> =
        net::names(Path::new(net::PROC)).into_iter().map(|name| name.to_string_lossy().into_owned()).collect();
    let text = format!("there is no network interface {netdev}; there are: {}", all.join(" "));
    (!all.iter().any(|name| name == netdev)).then(|| Step::wrong(text).see(Topic::InstanceData))
}

#[cfg(test)]
mod tests;
