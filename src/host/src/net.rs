//! Network interfaces and their addresses.

use std::ffi::{CStr, OsString};
use std::fs;
use std::net::IpAddr;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::ptr;

/// Root of procfs.
pub const PROC: &str = "/proc";

/// Returns the names of all network interfaces in this network namespace; sysfs may show another namespace. Returns
/// none if the table is unreadable.
///
/// # Parameters
/// * `proc` - [`PROC`], or a tree like it.
pub fn names(proc: &Path) -> Vec<OsString> {
    // /proc/self/net is unavailable after the main thread has exited.
    let table = fs::read(proc.join("thread-self/net/dev")).unwrap_or_default();
    // Heading lines contain no colon.
    let names = table.split(|&byte| byte == b'\n').filter_map(|line| {
        let end = line.iter().position(|&byte| byte == b':')?;
        let name = line[..end].trim_ascii();
        (!name.is_empty()).then(|| OsString::from_vec(name.to_vec()))
    });
    names.collect()
}

/// Returns a name and IP address for each address of the network interfaces; none if the system fails.
pub fn interfaces() -> Vec<(String, IpAddr)> {
    let mut list = ptr::null_mut();
    // SAFETY: `list` is writable.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut next = list;
    // SAFETY: the list is valid until freeifaddrs.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        // SAFETY: NULL, or valid until freeifaddrs.
        let Some(address) = (unsafe { entry.ifa_addr.as_ref() }) else { continue };
        let ip = match i32::from(address.sa_family) {
            libc::AF_INET => {
                // SAFETY: an address of this family has this type.
                let v4 = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in>() };
                IpAddr::from(v4.sin_addr.s_addr.to_ne_bytes())
            }
            libc::AF_INET6 => {
                // SAFETY: an address of this family has this type.
                let v6 = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in6>() };
                IpAddr::from(v6.sin6_addr.s6_addr)
            }
            _ => continue,
        };
        // SAFETY: a C string until freeifaddrs.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned();
        found.push((name, ip));
    }
    // SAFETY: getifaddrs returned the list, which is freed only here.
    unsafe { libc::freeifaddrs(list) };
    found
}

/// Returns the interface of a name, which may be an IPv4 address label `NETDEV:...`.
pub fn netdev_of(name: &str) -> &str {
    name.split_once(':').map_or(name, |(netdev, _)| netdev)
}

/// Returns whether connections can use an address. Link-local addresses would require an interface.
pub fn is_usable(address: &IpAddr) -> bool {
    !address.is_unspecified() && !matches!(address, IpAddr::V6(v6) if v6.is_unicast_link_local())
}

/// Returns the usable addresses of an interface or label. IPv4 precedes IPv6, and own addresses precede labels.
pub fn addresses(interfaces: &[(String, IpAddr)], netdev: &str) -> Vec<IpAddr> {
    let has_name = |name: &str| name == netdev || netdev_of(name) == netdev;
    let mut found: Vec<_> = interfaces.iter().filter(|(name, own)| has_name(name) && is_usable(own)).collect();
    found.sort_by_key(|(name, own)| (own.is_ipv6(), name != netdev));
    found.into_iter().map(|(_, own)| *own).collect()
}

#[cfg(test)]
mod tests;
