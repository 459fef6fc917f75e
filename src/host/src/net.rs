//! Network interfaces and their addresses.

use std::ffi::{CStr, OsString};
use std::fs;
use std::net::IpAddr;
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::ptr;

/// The file system in which the kernel shows processes, and the network as they see it.
pub const PROC: &str = "/proc";

/// Names of the network interfaces that this process sees, whether they have addresses or not. Sysfs may show those of another
/// network namespace. Empty if the table cannot be read.
///
/// # Parameters
/// * `proc` - [`PROC`], or a tree like it.
pub fn names(proc: &Path) -> Vec<OsString> {
    // What the process itself has is not seen once its first thread has left.
    let table = fs::read(proc.join("thread-self/net/dev")).unwrap_or_default();
    // Two lines of headings have no colon; no name has one.
    let names = table.split(|&byte| byte == b'\n').filter_map(|line| {
        let end = line.iter().position(|&byte| byte == b':')?;
        let name = line[..end].trim_ascii();
        (!name.is_empty()).then(|| OsString::from_vec(name.to_vec()))
    });
    names.collect()
}

/// Names and IP addresses of the network interfaces, one pair for each address, in the order of the system. Empty if
/// the system does not say.
pub fn interfaces() -> Vec<(String, IpAddr)> {
    let mut list = ptr::null_mut();
    // SAFETY: the place is writable.
    if unsafe { libc::getifaddrs(&raw mut list) } != 0 {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut next = list;
    // SAFETY: entries of the list are valid until it is freed below; names are C strings;
    // an address is as long as its family says.
    while let Some(entry) = unsafe { next.as_ref() } {
        next = entry.ifa_next;
        // SAFETY: as above.
        let Some(address) = (unsafe { entry.ifa_addr.as_ref() }) else { continue };
        let ip = match i32::from(address.sa_family) {
            libc::AF_INET => {
                // SAFETY: as above.
                let v4 = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in>() };
                IpAddr::from(v4.sin_addr.s_addr.to_ne_bytes())
            }
            libc::AF_INET6 => {
                // SAFETY: as above.
                let v6 = unsafe { &*entry.ifa_addr.cast::<libc::sockaddr_in6>() };
                IpAddr::from(v6.sin6_addr.s6_addr)
            }
            _ => continue,
        };
        // SAFETY: as above.
        let name = unsafe { CStr::from_ptr(entry.ifa_name) }.to_string_lossy().into_owned();
        found.push((name, ip));
    }
    // SAFETY: the list comes from getifaddrs and is freed once.
    unsafe { libc::freeifaddrs(list) };
    found
}

#[cfg(test)]
mod tests;
