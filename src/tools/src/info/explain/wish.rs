//! What the line of an adapter over RDMA names: whether it is here, and what to write where it is not.

use std::ffi::CString;
use std::net::IpAddr;

use dat_registry::conf::Instance;
use dat_registry::{Entry, Origin};

use super::rdma::{self, Host};
use super::shell::rewrite;
use super::step::Step;
use crate::info::devices::{self, Port};
use crate::info::words;

/// Looks at what an entry names, and at all that RDMA needs.
pub fn explain(host: &Host, entry: &(Origin, Entry)) -> Vec<Step> {
    let line = Line { host, entry, ports: devices::ports(&host.sysfs) };
    match Instance::parse(&words(&entry.1.name), &words(&entry.1.instance_data)) {
        Ok(wanted) => line.explain(&wanted),
        Err(fault) => line.elsewhere(&fault),
    }
}

struct Line<'a> {
    host: &'a Host,
    entry: &'a (Origin, Entry),
    ports: Vec<Port>,
}

impl Line<'_> {
    fn explain(&self, wanted: &Instance) -> Vec<Step> {
        let Instance { word, port } = wanted;
        if let Ok(address) = word.parse::<IpAddr>() {
            let own = self.host.interfaces.iter().find(|(_, own)| *own == address);
            return match own {
                Some((interface, _)) => self.interface(interface, *port),
                None => self.elsewhere(&format!("the line names the address {address}, which no interface here has")),
            };
        }
        if self.ports.iter().any(|port| port.device == *word) {
            return self.device(word, *port);
        }
        let has_address = self.host.names().contains(&word.as_str());
        let has_device = self.ports.iter().any(|port| port.interfaces.contains(word));
        if has_address || has_device {
            return self.interface(word, *port);
        }
        let is_name = !word.contains('/') && word != "." && word != "..";
        if is_name && self.host.sysfs.join("class/net").join(word).exists() {
            let step = Step::wrong(format!("the line names the interface {word}, which has no IP address"));
            return [vec![step.mend(rdma::give_address(word))], self.interface(word, *port)].concat();
        }
        match port {
            // Whoever writes a port means a device.
            Some(1) if self.ports.is_empty() => {
                let step = Step::wrong(format!(
                    "the line names the device {word}, which has to be there; without the hardware, Soft-RoCE makes a device \
                     of this name"
                ));
                vec![step, rdma::soft_roce(self.host, self.host.candidate(), Some(word), true)]
            }
            Some(port) => self.elsewhere(&format!("the line names port {port} of the device {word}, which is not here")),
            None => self.elsewhere(&format!(
                "the line names {word}, and no interface, device or address here is called so (if it is the name of a host, \
                 it has to be that of this one)"
            )),
        }
    }

    /// The line names a device that is here.
    fn device(&self, device: &str, port: Option<u8>) -> Vec<Step> {
        let numbers: Vec<String> =
            self.ports.iter().filter(|port| port.device == device).map(|port| port.number.to_string()).collect();
        let mut steps = Vec::new();
        if let Some(port) = port.filter(|port| !numbers.contains(&port.to_string())) {
            let step = Step::wrong(format!(
                "the line names port {port} of {device}, which has no such port; it has: {}",
                numbers.join(" ")
            ));
            steps.push(step.mends(self.rewritten(&format!("{device} {}", numbers[0]))));
        }
        steps.extend(rdma::explain(self.host, None, true));
        steps
    }

    /// The line names an interface that is here.
    fn interface(&self, interface: &str, port: Option<u8>) -> Vec<Step> {
        let interface = stem(interface);
        let mut steps = Vec::new();
        let own = self.ports.iter().find(|port| port.interfaces.iter().any(|name| name == interface));
        if let (Some(wanted), Some(Port { device, number, .. })) = (port, own)
            && wanted != *number
        {
            let step =
                Step::wrong(format!("the line names port {wanted}, and {interface} is on port {number} of {device}"));
            steps.push(step.mends(self.rewritten(&format!("{interface} 0"))));
        }
        steps.extend(rdma::explain(self.host, Some(interface), true));
        steps
    }

    /// The line names nothing that is here: it has to name something else.
    fn elsewhere(&self, fault: &str) -> Vec<Step> {
        let best = self.ports.iter().filter(|port| port.state == "active").find_map(|port| port.interfaces.first());
        let target = best.map_or(self.host.candidate(), String::as_str);
        let step = Step::wrong(format!("{fault}; there is: {}", self.present()));
        let mut steps = vec![step.mends(self.rewritten(&format!("{target} 0")))];
        steps.extend(rdma::explain(self.host, Some(target), true));
        steps
    }

    /// The command that has the line name something else.
    fn rewritten(&self, instance: &str) -> Option<String> {
        let (origin, entry) = self.entry;
        let instance_data = CString::new(instance).ok()?;
        rewrite(origin, &Entry { instance_data, ..entry.clone() })
    }

    /// The names that a line can have: of devices, each with its ports and interfaces, or else of interfaces.
    fn present(&self) -> String {
        if self.ports.is_empty() {
            return format!("no RDMA device, and the interfaces {}", self.host.names().join(" "));
        }
        let shown = |port: &Port| format!("{} port {} ({})", port.device, port.number, port.interfaces.join(" "));
        self.ports.iter().map(shown).collect::<Vec<_>>().join(", ")
    }
}

/// The name of an interface without that of its alias, such as eth0 of eth0:1.
fn stem(name: &str) -> &str {
    name.split(':').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::rdma::tests::host;
    use super::super::shell::as_root;
    use super::super::shell::tests::{entry, run};
    use super::super::step::State;
    use super::*;

    /// The steps for a line with these instance data, and what the line is after the commands on the first of them.
    fn after(root: &Path, host: &Host, instance: &str) -> (Vec<Step>, String) {
        let file = root.join("dat.conf");
        let line = format!("v u1.2 threadsafe default libdaplverbs.so.1 A.1.0 \"{instance}\" \"\"");
        std::fs::write(&file, format!("{line}\n")).unwrap();
        let steps = explain(host, &entry(&file, 1, &line));
        steps[0].mend.iter().filter(|command| command.contains("sed -i")).for_each(|command| drop(run(command)));
        let text = std::fs::read_to_string(&file).unwrap();
        (steps, text.split('"').nth(1).unwrap().to_owned())
    }

    #[test]
    fn what_is_here_needs_no_other_line() {
        let root = tempfile::tempdir().unwrap();
        let host = host(root.path(), true);
        for instance in ["eth0 0", "eth0", "eth0 1", "rxe0 1", "10.0.0.1"] {
            let (steps, line) = after(root.path(), &host, instance);
            assert!(steps.iter().all(|step| step.state != State::Wrong), "{instance}: {steps:?}");
            assert_eq!(line, instance);
        }
    }

    #[test]
    fn with_a_device_another_name_is_wrong_and_the_names_are_told() {
        let root = tempfile::tempdir().unwrap();
        let host = host(root.path(), true);
        for instance in ["", "ib0 0", "rubbish", "mlx4_0 2", "eth0 x", "eth0 +1", "eth0 1 2", "10.0.0.9"] {
            let (steps, line) = after(root.path(), &host, instance);
            assert_eq!((steps[0].state, line.as_str()), (State::Wrong, "eth0 0"), "{instance}: {steps:?}");
            assert!(steps[0].text.contains("there is: rxe0 port 1 (eth0)"), "{}", steps[0].text);
            assert!(steps[1..].iter().all(|step| step.state != State::Wrong), "{instance}: {steps:?}");
        }
        let (steps, line) = after(root.path(), &host, "rxe0 2");
        assert_eq!((steps[0].state, line.as_str()), (State::Wrong, "rxe0 1"), "{steps:?}");
        let (steps, line) = after(root.path(), &host, "eth0 2");
        assert_eq!((steps[0].state, line.as_str()), (State::Wrong, "eth0 0"), "{steps:?}");
    }

    #[test]
    fn without_a_device_the_one_is_made_that_the_line_names() {
        let root = tempfile::tempdir().unwrap();
        let host = host(root.path(), false);
        let link = |steps: &[Step]| steps.last().unwrap().mend.last().unwrap().clone();
        for (instance, line, command) in [
            ("eth0 0", "eth0 0", "rdma link add rxe0 type rxe netdev eth0"),
            ("10.0.0.1", "10.0.0.1", "rdma link add rxe0 type rxe netdev eth0"),
            ("mlx4_0 1", "mlx4_0 1", "rdma link add mlx4_0 type rxe netdev eth0"),
            ("mlx4_0 2", "eth0 0", "rdma link add rxe0 type rxe netdev eth0"),
            ("ib0 0", "eth0 0", "rdma link add rxe0 type rxe netdev eth0"),
            ("", "eth0 0", "rdma link add rxe0 type rxe netdev eth0"),
        ] {
            let (steps, after) = after(root.path(), &host, instance);
            assert_eq!((after.as_str(), link(&steps)), (line, as_root(command)), "{instance}: {steps:?}");
            assert!(steps.iter().all(|step| step.state == State::Wrong), "{instance}: {steps:?}");
        }
    }

    #[test]
    fn an_interface_without_an_address_needs_one() {
        let root = tempfile::tempdir().unwrap();
        let host = host(root.path(), false);
        std::fs::create_dir_all(host.sysfs.join("class/net/eth7")).unwrap();
        let (steps, line) = after(root.path(), &host, "eth7 0");
        assert_eq!((steps[0].mend[0].as_str(), line.as_str()), (rdma::give_address("eth7").as_str(), "eth7 0"));
    }
}
