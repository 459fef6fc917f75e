//! Whether what the line of an adapter over RDMA names is here. What else lacks, [`rdma`] tells.

use std::net::IpAddr;

use dat_registry::Entry;
use dat_registry::conf::Instance;

use super::rdma::{self, Host};
use super::step::Step;
use super::topic::Topic;
use crate::info::devices::{self, Port};
use crate::info::words;

/// Looks at what an entry names, and at all that RDMA needs.
pub fn explain(host: &Host, entry: &Entry) -> Vec<Step> {
    let ports = devices::ports(&host.sysfs);
    let wanted = match Instance::parse(&words(&entry.name), &words(&entry.instance_data)) {
        Ok(wanted) => wanted,
        Err(fault) => {
            return [vec![Step::wrong(fault).see(Topic::InstanceData)], rdma::explain(host, None, true)].concat();
        }
    };
    let word = stem(&wanted.word);
    let interface = match word.parse::<IpAddr>() {
        Ok(address) => host.interfaces.iter().find(|(_, own)| *own == address).map(|(name, _)| stem(name)),
        Err(_) => Some(word).filter(|name| host.interfaces.iter().any(|(own, _)| stem(own) == *name)),
    };
    let is_meant =
        |port: &&Port| port.device == word || port.interfaces.iter().any(|name| name == interface.unwrap_or(word));
    let mut meant = ports.iter().filter(is_meant).peekable();
    let lacks_device = interface.is_some() && meant.peek().is_none();
    let fits = meant.any(|port| wanted.port.is_none_or(|number| number == port.number));
    let fault = (!lacks_device && !fits).then(|| {
        Step::wrong(format!("the line names {wanted}, and there is: {}", present(&ports))).see(Topic::InstanceData)
    });
    fault.into_iter().chain(rdma::explain(host, interface, true)).collect()
}

/// The devices, each with its ports and their interfaces.
fn present(ports: &[Port]) -> String {
    let shown = |port: &Port| format!("{} port {} ({})", port.device, port.number, port.interfaces.join(" "));
    match ports {
        [] => "no RDMA device".to_owned(),
        some => some.iter().map(shown).collect::<Vec<_>>().join(", "),
    }
}

/// The name of an interface without that of its alias, such as eth0 of eth0:1. An address of IPv6 stays as it is.
fn stem(name: &str) -> &str {
    if name.parse::<IpAddr>().is_ok() { name } else { name.split(':').next().unwrap_or(name) }
}

#[cfg(test)]
mod tests;
