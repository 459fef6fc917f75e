//! What RDMA between hosts needs: a device with a network interface, the kernel's doors to it, and memory that may be
//! locked.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use host::{limit, net, sysfs};
use rustix::fs::{Access, access};

use super::shell::{as_root, has_apt};
use super::step::Step;
use crate::info::attributes::size;
use crate::info::devices::{self, Port};
use crate::shell::quoted;

/// The parts of a host that matter; others than its own in tests.
pub struct Host {
    /// Root of sysfs.
    pub sysfs: PathBuf,
    /// The directory of device files.
    pub dev: PathBuf,
    /// The directory of the running kernel's modules.
    pub modules: PathBuf,
    /// Names and addresses of the network interfaces.
    pub interfaces: Vec<(String, IpAddr)>,
    /// Bytes of memory that may be locked; `None` for no limit.
    pub locked: Option<u64>,
    /// Whether packages are installed by apt, with the names that Debian gives them.
    pub apt: bool,
}

impl Host {
    /// This host, and this process on it.
    pub fn this() -> Self {
        let release = rustix::system::uname().release().to_string_lossy().into_owned();
        let limited = !may_lock_all(&fs::read_to_string("/proc/self/status").unwrap_or_default());
        Host {
            sysfs: sysfs::ROOT.into(),
            dev: "/dev".into(),
            modules: Path::new("/lib/modules").join(release),
            interfaces: net::interfaces(),
            locked: if limited { limit::locked_memory().ok().flatten() } else { None },
            apt: has_apt(),
        }
    }

    /// Whether a module is loaded or a part of the kernel.
    fn has_loaded(&self, module: &str) -> bool {
        self.sysfs.join("module").join(module).exists() || self.lists("modules.builtin", module)
    }

    /// Whether the kernel has a module at all.
    fn knows(&self, module: &str) -> bool {
        self.has_loaded(module) || self.lists("modules.dep", module)
    }

    /// Whether it can be told which modules the kernel has. A container has no lists of them.
    fn lists_any(&self) -> bool {
        ["modules.dep", "modules.builtin"].iter().any(|file| self.modules.join(file).exists())
    }

    fn lists(&self, file: &str, module: &str) -> bool {
        let list = fs::read_to_string(self.modules.join(file)).unwrap_or_default();
        let names = |line: &str| line.split(['/', ':']).any(|word| word.split('.').next() == Some(module));
        list.lines().any(|line| names(line.split(':').next().unwrap_or_default()))
    }

    /// The network interfaces that have an address, each once.
    pub fn names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for (name, _) in &self.interfaces {
            let name = name.split(':').next().unwrap_or(name);
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    /// The interface that a Soft-RoCE device would be made for: the first one with an address, other than the loopback.
    pub fn candidate(&self) -> &str {
        let usable = |(_, address): &&(String, IpAddr)| !address.is_loopback();
        self.interfaces.iter().find(usable).map_or("eth0", |(name, _)| name.split(':').next().unwrap_or(name))
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
    let mut steps = Vec::new();
    let has_device = |netdev| ports.iter().any(|port| port.interfaces.iter().any(|interface| interface == netdev));
    if ports.is_empty() || netdev.is_some_and(|netdev| !has_device(netdev)) {
        steps.push(soft_roce(host, netdev.unwrap_or(host.candidate()), None, wanted));
    }
    for port in &ports {
        steps.push(port_step(host, port, wanted));
    }
    if !ports.is_empty() {
        steps.extend(doors(host, &ports, wanted));
        steps.push(locked(host.locked));
    }
    steps
}

/// The port of an adapter that is open.
///
/// # Parameters
/// * `address` - that of the adapter.
pub fn own_port(host: &Host, address: IpAddr) -> Option<Step> {
    let ports = devices::ports(&host.sysfs);
    devices::with_address(&ports, &host.interfaces, address).map(|port| port_step(host, port, true))
}

/// How to get a device where there is none.
///
/// # Parameters
/// * `device` - the name that it has to have; otherwise the first one that is free.
pub fn soft_roce(host: &Host, netdev: &str, device: Option<&str>, wanted: bool) -> Step {
    let ports = &devices::ports(&host.sysfs);
    let free = |name: &String| ports.iter().all(|port| port.device != *name);
    let name = device.map(str::to_owned).or_else(|| (0..).map(|number| format!("rxe{number}")).find(free));
    let modules = as_root("modprobe -a rdma_rxe rdma_ucm");
    let link =
        as_root(format!("rdma link add {} type rxe netdev {}", quoted(name.unwrap_or_default()), quoted(netdev)));
    let lack = if ports.is_empty() {
        "this host has no RDMA device".to_owned()
    } else {
        format!("{netdev} has no RDMA device")
    };
    let step = |text: &str| Step::wrong_if(wanted, format!("{lack}{text}"));
    if !host.knows("rdma_rxe") && !host.lists_any() {
        return step(&format!(
            ", and whether the kernel has the module rdma_rxe for Soft-RoCE, which makes one of any network interface, cannot \
             be told from here: there is no list in {}, as in a container",
            host.modules.display()
        ))
        .mend(format!("{modules}    # on the host"))
        .mend(format!("{link}    # on the host"));
    }
    if !host.knows("rdma_rxe") {
        let step = |source: &str| {
            step(&format!(
                ", and its kernel has no module rdma_rxe (none in {}) for Soft-RoCE, which makes one of any network \
                 interface; {source} has it",
                host.modules.display()
            ))
        };
        if !host.apt {
            return step("a kernel that was built with CONFIG_RDMA_RXE");
        }
        let kernel = if cfg!(target_arch = "aarch64") { "linux-image-arm64" } else { "linux-image-amd64" };
        return step("Debian's kernel")
            .mend(format!("{} && {}", as_root(format!("apt-get install {kernel}")), as_root("reboot")))
            .mend(modules)
            .mend(link);
    }
    let loaded = ["rdma_rxe", "rdma_ucm"].iter().all(|module| host.has_loaded(module));
    let text = if loaded { "" } else { ", and Soft-RoCE, which makes one of any network interface, is not loaded" };
    let step = step(text);
    let step = if loaded { step } else { step.mend(modules) };
    step.mend(link)
}

/// A port: its state, and an interface with an address.
fn port_step(host: &Host, port: &Port, wanted: bool) -> Step {
    let Port { device, number, state, link, interfaces } = port;
    let name = format!("{device} port {number} ({link})");
    let Some(interface) = interfaces.first() else {
        return Step::note(format!("{name}: {state}, without a network interface, so no adapter can be on it"));
    };
    let own = devices::addresses(&host.interfaces, interface);
    if state != "active" {
        return Step::wrong_if(wanted, format!("{name}, interface {interface}: the port is {state}"))
            .mend(as_root(format!("ip link set {} up", quoted(interface))));
    }
    if own.is_empty() {
        return Step::wrong_if(
            wanted,
            format!("{name}, interface {interface}: it has no IP address, which connections need"),
        )
        .mend(give_address(interface));
    }
    let own: Vec<String> = own.iter().map(ToString::to_string).collect();
    Step::ok(format!("{name}: active, interface {}, {}", interfaces.join(", "), own.join(", ")))
}

/// The command that gives an interface an address.
pub fn give_address(interface: &str) -> String {
    as_root(format!("ip address add ADDRESS/24 dev {}", quoted(interface)))
}

/// The device files: that of the connection manager, and that of each device.
fn doors(host: &Host, ports: &[Port], wanted: bool) -> Vec<Step> {
    let mut steps = vec![door(&host.dev.join("infiniband/rdma_cm"), "rdma_ucm", wanted)];
    let mut seen = Vec::new();
    for Port { device, .. } in ports {
        if seen.contains(&device) {
            continue;
        }
        seen.push(device);
        let name = fs::read_dir(host.sysfs.join("class/infiniband_verbs"))
            .into_iter()
            .flatten()
            .flatten()
            .find(|entry| fs::read_to_string(entry.path().join("ibdev")).is_ok_and(|name| name.trim() == device));
        let file = name.map_or("infiniband/uverbs0".into(), |entry| Path::new("infiniband").join(entry.file_name()));
        steps.push(door(&host.dev.join(file), "ib_uverbs", wanted));
    }
    steps
}

/// A device file that programs open for reading and writing.
fn door(path: &Path, module: &str, wanted: bool) -> Step {
    let shown = path.display();
    if !path.exists() {
        return Step::wrong_if(wanted, format!("{shown} does not exist: the module {module} makes it"))
            .mend(as_root(format!("modprobe {module}")));
    }
    match access(path, Access::READ_OK | Access::WRITE_OK) {
        Ok(()) => Step::ok(format!("{shown} can be opened")),
        Err(error) => {
            Step::wrong_if(wanted, format!("{shown} may not be opened by you: {}", std::io::Error::from(error)))
                .mend(as_root(format!("chmod 666 {}", quoted(path))))
        }
    }
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
        .mend(format!(
            "echo '* - memlock unlimited' | {}    # then log in again",
            as_root("tee /etc/security/limits.d/libdat.conf")
        )),
    }
}

#[cfg(test)]
pub mod tests {
    use super::super::step::State;
    use super::*;

    /// A host with Soft-RoCE on eth0 below a directory, or without.
    pub fn host(root: &Path, device: bool) -> Host {
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("modules/modules.dep", "kernel/drivers/infiniband/sw/rxe/rdma_rxe.ko.xz: kernel/net/udp_tunnel.ko.xz\n");
        if device {
            write("sys/class/infiniband/rxe0/ports/1/state", "4: ACTIVE\n");
            write("sys/class/infiniband/rxe0/ports/1/link_layer", "Ethernet\n");
            write("sys/class/infiniband/rxe0/ports/1/gid_attrs/ndevs/0", "eth0\n");
            write("sys/class/infiniband_verbs/uverbs3/ibdev", "rxe0\n");
            write("dev/infiniband/uverbs3", "");
            write("dev/infiniband/rdma_cm", "");
        }
        Host {
            sysfs: root.join("sys"),
            dev: root.join("dev"),
            modules: root.join("modules"),
            interfaces: vec![
                ("lo".to_owned(), "127.0.0.1".parse().unwrap()),
                ("eth0".to_owned(), "10.0.0.1".parse().unwrap()),
            ],
            locked: Some(8 << 20),
            apt: true,
        }
    }

    #[test]
    fn without_a_device_soft_roce_is_the_way() {
        let root = tempfile::tempdir().unwrap();
        let steps = explain(&host(root.path(), false), Some("eth0"), false);
        assert_eq!(steps.len(), 1);
        assert_eq!(steps[0].state, State::Note);
        assert!(steps[0].text.contains("is not loaded"), "{}", steps[0].text);
        assert_eq!(
            steps[0].mend,
            [as_root("modprobe -a rdma_rxe rdma_ucm"), as_root("rdma link add rxe0 type rxe netdev eth0")]
        );
        assert_eq!(explain(&host(root.path(), false), Some("eth0"), true)[0].state, State::Wrong);
    }

    #[test]
    fn a_kernel_without_soft_roce_is_named() {
        let root = tempfile::tempdir().unwrap();
        let mut host = host(root.path(), false);
        fs::write(root.path().join("modules/modules.dep"), "kernel/udp_tunnel.ko: kernel/rdma_rxe.ko\n").unwrap();
        let steps = explain(&host, Some("eth0"), false);
        assert!(steps[0].text.contains("no module rdma_rxe"), "{}", steps[0].text);
        assert!(steps[0].mend[0].contains("apt-get install linux-image-"), "{:?}", steps[0].mend);
        host.apt = false;
        let steps = explain(&host, Some("eth0"), false);
        assert!(steps[0].text.contains("CONFIG_RDMA_RXE"), "{}", steps[0].text);
        assert!(steps[0].mend.is_empty(), "{:?}", steps[0].mend);
    }

    #[test]
    fn without_lists_of_modules_nothing_is_said_of_the_kernel() {
        let root = tempfile::tempdir().unwrap();
        let host = host(root.path(), false);
        fs::remove_dir_all(root.path().join("modules")).unwrap();
        let steps = explain(&host, Some("eth0"), false);
        assert!(steps[0].text.contains("cannot be told from here"), "{}", steps[0].text);
        let commands = ["modprobe -a rdma_rxe rdma_ucm", "rdma link add rxe0 type rxe netdev eth0"];
        assert_eq!(steps[0].mend, commands.map(|command| format!("{}    # on the host", as_root(command))));
        // What is loaded can be seen without them.
        fs::create_dir_all(root.path().join("sys/module/rdma_rxe")).unwrap();
        assert!(!explain(&host, Some("eth0"), false)[0].text.contains("cannot be told"));
    }

    #[test]
    fn a_device_is_shown_with_its_doors_and_limits() {
        let root = tempfile::tempdir().unwrap();
        let mut host = host(root.path(), true);
        let steps = explain(&host, Some("eth0"), true);
        let states: Vec<State> = steps.iter().map(|step| step.state).collect();
        assert_eq!(states, [State::Ok, State::Ok, State::Ok, State::Note], "{steps:?}");
        assert_eq!(steps[0].text, "rxe0 port 1 (Ethernet): active, interface eth0, 10.0.0.1");
        assert!(steps[2].text.contains("uverbs3"));
        fs::remove_file(root.path().join("dev/infiniband/rdma_cm")).unwrap();
        fs::write(root.path().join("sys/class/infiniband/rxe0/ports/1/state"), "1: DOWN\n").unwrap();
        host.locked = None;
        let steps = explain(&host, Some("eth0"), true);
        assert_eq!(steps[0].mend, [as_root("ip link set eth0 up")]);
        assert_eq!(steps[1].mend, [as_root("modprobe rdma_ucm")]);
        assert_eq!(steps[3].state, State::Ok);
    }

    #[test]
    fn an_interface_beside_that_of_a_device_gets_one_of_its_own() {
        let root = tempfile::tempdir().unwrap();
        let host = host(root.path(), true);
        let steps = explain(&host, Some("eth1"), true);
        assert!(steps[0].text.starts_with("eth1 has no RDMA device"), "{}", steps[0].text);
        assert_eq!(steps[0].mend.last().unwrap(), &as_root("rdma link add rxe1 type rxe netdev eth1"));
        let steps = explain(&host, Some("eth1;x"), true);
        assert_eq!(steps[0].mend.last().unwrap(), &as_root("rdma link add rxe1 type rxe netdev 'eth1;x'"));
        assert_eq!(own_port(&host, host.interfaces[1].1).unwrap().state, State::Ok);
        assert_eq!(own_port(&host, host.interfaces[0].1), None);
    }

    #[test]
    fn the_capability_lifts_the_limit() {
        assert!(may_lock_all("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(!may_lock_all("CapEff:\t0000000000000000\n"));
        assert!(!may_lock_all(""));
    }
}
