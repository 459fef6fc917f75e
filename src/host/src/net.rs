//! Network interfaces and their addresses.
//!
//! The addresses come from netlink. Sandboxes can refuse such sockets (systemd's `RestrictAddressFamilies`). Then IPv4
//! addresses come from an ioctl, and IPv6 addresses from /proc.

use std::ffi::{CStr, OsString, c_int};
use std::fs;
use std::io;
use std::mem::offset_of;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::{ptr, slice};

use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};

use crate::diagnostics;
use crate::topic::{Reason, Topic};

/// Root of procfs.
pub const PROC: &str = "/proc";

/// The network directory of a thread. /proc/self/net is unavailable after the main thread has exited.
const OF_THREAD: &str = "thread-self/net";

/// Returns the text of a table of this network namespace. An error contains the path.
///
/// # Parameters
/// * `proc` - [`PROC`], or a tree like it.
/// * `table` - the name of the table, such as `route`.
pub fn table(proc: &Path, table: &str) -> io::Result<Vec<u8>> {
    let path = proc.join(OF_THREAD).join(table);
    fs::read(&path).map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", path.display())))
}

/// Like [`table`], but returns an empty table if the kernel lacks it, which means that IPv6 is disabled.
pub fn table_v6(proc: &Path, table: &str) -> io::Result<Vec<u8>> {
    match self::table(proc, table) {
        Err(error) if error.kind() == io::ErrorKind::NotFound && proc.join(OF_THREAD).is_dir() => Ok(Vec::new()),
        read => read,
    }
}

/// Returns the names of all network interfaces in this network namespace; sysfs may show another namespace. Fails if
/// the table is unreadable.
///
/// # Parameters
/// * `proc` - [`PROC`], or a tree like it.
pub fn names(proc: &Path) -> io::Result<Vec<OsString>> {
    let table = table(proc, "dev")?;
    // Heading lines contain no colon.
    let names = table.split(|&byte| byte == b'\n').filter_map(|line| {
        let end = line.iter().position(|&byte| byte == b':')?;
        let name = line[..end].trim_ascii();
        (!name.is_empty()).then(|| OsString::from_vec(name.to_vec()))
    });
    Ok(names.collect())
}

/// Returns whether `error` means that no route leads to the peer, or that the peer does not reply.
pub fn is_unreachable(error: &io::Error) -> bool {
    use libc::{EADDRNOTAVAIL, EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH, ENODEV, ETIMEDOUT};
    let code = error.raw_os_error();
    matches!(code, Some(EADDRNOTAVAIL | EHOSTDOWN | EHOSTUNREACH | ENETDOWN | ENETUNREACH | ENODEV | ETIMEDOUT))
}

/// Logs why a service point cannot listen at `at`.
pub fn log_listen_failure(at: SocketAddr, error: &io::Error) {
    match error.kind() {
        io::ErrorKind::AddrInUse => {
            log::debug!(target: diagnostics::CM, "service point: cannot listen: {at} is in use");
        }
        io::ErrorKind::PermissionDenied => {
            log::warn!("service point: cannot listen at {at}: {error}: {}", why_forbidden(at.port(), first_port()));
        }
        _ => log::warn!("service point: cannot listen at {at}: {error}"),
    }
}

/// Returns the first port that needs no privilege, or the default 1024 if the setting is unreadable.
fn first_port() -> u16 {
    let setting = fs::read_to_string("/proc/sys/net/ipv4/ip_unprivileged_port_start").ok();
    setting.and_then(|text| text.trim().parse().ok()).unwrap_or(1024)
}

fn why_forbidden(port: u16, first: u16) -> String {
    if (1..first).contains(&port) {
        return format!("ports below {first} need the capability CAP_NET_BIND_SERVICE");
    }
    "a policy forbids it, or the process has changed its user since dat_ia_open".to_owned()
}

/// A name and an IP address for each address of the network interfaces. The name may be an IPv4 address label.
pub type Addresses = Vec<(String, IpAddr)>;

/// The addresses of the network interfaces, as far as this process can read them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Interfaces {
    /// The addresses that were read.
    pub list: Addresses,
    /// Why `list` may lack addresses; `None` if it is complete.
    pub failure: Option<Reason>,
}

impl Interfaces {
    /// Returns why an address was not found: `reason`, or if `list` may lack addresses, the failure.
    pub fn explain(&self, reason: Reason) -> Reason {
        self.failure.clone().unwrap_or(reason)
    }
}

/// Returns the addresses of the network interfaces.
pub fn interfaces() -> Interfaces {
    match from_netlink() {
        Ok(list) => Interfaces { list, failure: None },
        Err(netlink) => combine(&netlink, from_ioctl(), from_proc(Path::new(PROC))),
    }
}

/// Combines the addresses of both families, after netlink has failed. If the IPv4 addresses are unknown, the list is
/// empty: otherwise, an adapter would silently use IPv6.
fn combine(netlink: &io::Error, v4: io::Result<Addresses>, v6: io::Result<Addresses>) -> Interfaces {
    let failure = |error: &io::Error, source: &str| {
        let text = format!("cannot list the IP addresses of this host: netlink: {netlink}, {source}{error}");
        Some(Topic::InterfaceList.error(error, text))
    };
    match (v4, v6) {
        (Err(error), _) => Interfaces { list: Vec::new(), failure: failure(&error, "SIOCGIFCONF: ") },
        (Ok(list), Err(error)) => Interfaces { list, failure: failure(&error, "") },
        (Ok(v4), Ok(v6)) => Interfaces { list: [v4, v6].concat(), failure: None },
    }
}

fn from_netlink() -> io::Result<Addresses> {
    let mut list = ptr::null_mut();
    // SAFETY: `list` is writable.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Err(io::Error::last_os_error());
    }
    let mut found = Vec::new();
    let mut next = list;
    // SAFETY: the list is valid until freeifaddrs.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        // SAFETY: NULL, or valid until freeifaddrs.
        let Some(address) = (unsafe { entry.ifa_addr.as_ref() }) else { continue };
        let len = match i32::from(address.sa_family) {
            libc::AF_INET => size_of::<libc::sockaddr_in>(),
            libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
            _ => continue,
        };
        // SAFETY: an address of this family has this length, and is valid until freeifaddrs.
        let bytes = unsafe { slice::from_raw_parts(entry.ifa_addr.cast::<u8>(), len) };
        let Some(ip) = ip_of(bytes) else { continue };
        // SAFETY: a C string until freeifaddrs.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned();
        found.push((name, ip));
    }
    // SAFETY: getifaddrs returned the list, which is freed only here.
    unsafe { libc::freeifaddrs(list) };
    Ok(found)
}

/// Returns the IP address in the bytes of a socket address, or `None` for another family.
fn ip_of(address: &[u8]) -> Option<IpAddr> {
    match i32::from(u16::from_ne_bytes(*address.first_chunk()?)) {
        libc::AF_INET => {
            let v4: [u8; 4] = *address[offset_of!(libc::sockaddr_in, sin_addr)..].first_chunk()?;
            Some(v4.into())
        }
        libc::AF_INET6 => {
            let v6: [u8; 16] = *address[offset_of!(libc::sockaddr_in6, sin6_addr)..].first_chunk()?;
            Some(v6.into())
        }
        _ => None,
    }
}

/// The kernel's `struct ifconf`: bytes of a buffer for entries, and its address.
#[repr(C)]
struct IfConf {
    len: c_int,
    entries: *mut u8,
}

const SIOCGIFCONF: libc::Ioctl = 0x8912;

/// Returns the IPv4 addresses of the network interfaces.
fn from_ioctl() -> io::Result<Addresses> {
    const ENTRY: usize = size_of::<libc::ifreq>();
    const ADDRESS: usize = offset_of!(libc::ifreq, ifr_ifru);
    let socket = |family| socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC, None);
    // A socket of any family accepts this request, so another family serves if IPv4 sockets are refused.
    let families = [AddressFamily::INET6, AddressFamily::UNIX];
    let socket =
        families.into_iter().fold(socket(AddressFamily::INET), |opened, other| opened.or_else(|_| socket(other)))?;
    let mut entries = Vec::new();
    loop {
        entries.resize((2 * entries.len()).max(64 * ENTRY), 0_u8);
        let len = c_int::try_from(entries.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
        let mut request = IfConf { len, entries: entries.as_mut_ptr() };
        // SAFETY: the kernel expects this structure, which describes a writable buffer.
        if unsafe { libc::ioctl(socket.as_raw_fd(), SIOCGIFCONF, &raw mut request) } != 0 {
            return Err(io::Error::last_os_error());
        }
        let filled = usize::try_from(request.len).unwrap_or(0);
        // The kernel omits entries that do not fit, so free space shows that all entries fitted.
        if filled + ENTRY <= entries.len() {
            entries.truncate(filled);
            break;
        }
    }
    let found = entries.chunks_exact(ENTRY).filter_map(|entry| {
        let (name, address) = entry.split_at(ADDRESS);
        Some((CStr::from_bytes_until_nul(name).ok()?.to_string_lossy().into_owned(), ip_of(address)?))
    });
    Ok(found.collect())
}

/// Returns the IPv6 addresses of the network interfaces. `proc` is [`PROC`], or a tree like it.
fn from_proc(proc: &Path) -> io::Result<Addresses> {
    let table = table_v6(proc, "if_inet6")?;
    let found = String::from_utf8_lossy(&table)
        .lines()
        .filter_map(|line| {
            let mut words = line.split_ascii_whitespace();
            let address = u128::from_str_radix(words.next()?, 16).ok()?;
            // Index, length of the prefix, scope and flags precede the name.
            Some((words.nth(4)?.to_owned(), IpAddr::V6(address.into())))
        })
        .collect();
    Ok(found)
}

/// Returns whether a network interface has this name. Fails if the table of the interfaces is unreadable.
pub fn exists(netdev: &str) -> io::Result<bool> {
    Ok(names(Path::new(PROC))?.iter().any(|name| name == netdev))
}

/// Returns the interface of a name, which may be an IPv4 address label `NETDEV:...`.
pub fn netdev_of(name: &str) -> &str {
    name.split_once(':').map_or(name, |(netdev, _)| netdev)
}

/// Returns whether connections can use an address: neither an unspecified address nor a link-local IPv6 address, which
/// would require an interface.
pub fn is_usable(address: &IpAddr) -> bool {
    !address.is_unspecified() && !matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

/// Returns the usable addresses of an interface or label. IPv4 addresses come first; in each family, addresses with
/// exactly this name precede addresses with a label of the interface.
pub fn addresses(interfaces: &[(String, IpAddr)], netdev: &str) -> Vec<IpAddr> {
    let has_name = |name: &str| name == netdev || netdev_of(name) == netdev;
    let mut found: Vec<_> = interfaces.iter().filter(|(name, own)| has_name(name) && is_usable(own)).collect();
    found.sort_by_key(|(name, own)| (own.is_ipv6(), name != netdev));
    found.into_iter().map(|(_, own)| *own).collect()
}

#[cfg(test)]
mod tests;
