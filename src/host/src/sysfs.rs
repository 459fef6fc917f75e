//! RDMA devices, their network interfaces and their counters, from /sys. Skips unreadable entries of a device.

#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// Root of sysfs.
pub const ROOT: &str = "/sys";

const ETHERNET_ADDRESS_DIGITS: usize = 12;

/// Number of consecutive empty entries after which the rest of a GID table is not read. The kernel fills the first
/// empty entry, and reading a whole table takes long: Soft-RoCE has 1,024 entries.
const MAX_GAP: usize = 128;

/// Returns the RDMA devices, sorted by name and number. Fails with the path in the error if the list is unreadable.
pub fn devices(sysfs: &Path) -> io::Result<Vec<OsString>> {
    let directory = sysfs.join("class/infiniband");
    match list(&directory) {
        // Without RDMA modules, the kernel has no such class.
        Err(error) if error.kind() == io::ErrorKind::NotFound && sysfs.join("class").is_dir() => Ok(Vec::new()),
        Err(error) => Err(io::Error::new(error.kind(), format!("{}: {error}", directory.display()))),
        devices => devices,
    }
}

/// Returns the network interfaces of a device, without duplicates, mapped as by the kernel's rdma_cm.
///
/// - RoCE, and iWARP since Linux 6.6: the interfaces come from the GID tables of the ports, the device's own interface
///   first.
/// - iWARP on older kernels: the only GID of a port is an Ethernet address, which the device's interface, its VLANs and
///   a bridge over it have.
/// - InfiniBand: the interfaces of all ports.
///
/// # Parameters
/// * `sysfs` - [`ROOT`], or a tree like it.
/// * `device` - one of [`devices`], or any text from a user.
/// * `port` - counted from 1; `None` for all ports.
pub fn interfaces(sysfs: &Path, device: &OsStr, port: Option<u8>) -> Vec<OsString> {
    let mut found: Vec<OsString> = Vec::new();
    if !is_name(device) {
        return found;
    }
    let root = sysfs.join("class/infiniband").join(device);
    let ports = match port {
        Some(port) => vec![port.to_string().into()],
        None => sorted(&root.join("ports")),
    };
    let beside = sorted(&root.join("device/net"));
    let is_iwarp = is_iwarp(&root);
    for port in ports {
        let port = root.join("ports").join(port);
        let slots = port.join("gid_attrs/ndevs");
        let before = found.len();
        let mut gap = 0;
        for slot in sorted(&slots) {
            if gap == MAX_GAP {
                break;
            }
            gap += 1;
            // Entries without an interface cannot be read.
            let Ok(text) = fs::read(slots.join(slot)) else { continue };
            gap = 0;
            let name = OsString::from_vec(text.trim_ascii().to_vec());
            if !name.is_empty() && !found.contains(&name) {
                found.push(name);
            }
        }
        if is_iwarp && found.len() == before {
            let mut same = with_hardware_address(sysfs, &port);
            same.sort_by_key(|name| !beside.contains(name));
            same.retain(|name| !found.contains(name));
            found.extend(same);
        }
    }
    if found.is_empty() { beside } else { found }
}

fn is_iwarp(device: &Path) -> bool {
    fs::read_to_string(device.join("node_type")).is_ok_and(|text| text.starts_with("4:"))
}

/// Returns the network interfaces whose hardware address is the GID of the iWARP port in this directory.
fn with_hardware_address(sysfs: &Path, port: &Path) -> Vec<OsString> {
    let hex = |text: String| text.chars().filter(char::is_ascii_hexdigit).collect::<String>();
    let Ok(gid) = fs::read_to_string(port.join("gids/0")).map(hex) else { return Vec::new() };
    let folder = sysfs.join("class/net");
    let has_address = |name: &OsString| {
        let address = fs::read_to_string(folder.join(name).join("address")).map(hex).unwrap_or_default();
        address.len() == ETHERNET_ADDRESS_DIGITS && gid.starts_with(&address)
    };
    sorted(&folder).into_iter().filter(has_address).collect()
}

/// Returns a counter of a port or of the whole device, from the directories of present and old kernels, or `None`.
/// `name` is the counter's file; the other parameters mean the same as for [`interfaces`].
pub fn counter(sysfs: &Path, device: &OsStr, port: u8, name: &str) -> Option<u64> {
    let root = sysfs.join("class/infiniband").join(Some(device).filter(|device| is_name(device))?);
    let directories = [format!("ports/{port}/counters"), format!("ports/{port}/hw_counters")];
    let directories = directories.iter().map(String::as_str).chain(["hw_counters", "diag_counters"]);
    directories
        .map(|directory| root.join(directory).join(name))
        .find_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok())
}

/// Returns whether `text` can name a visible directory entry.
fn is_name(text: &OsStr) -> bool {
    !text.is_empty() && !text.as_bytes().contains(&b'/') && !text.as_bytes().starts_with(b".")
}

/// Like [`list`], but returns no entry of an unreadable directory.
fn sorted(directory: &Path) -> Vec<OsString> {
    list(directory).unwrap_or_default()
}

/// Returns the entries of a directory, sorted by name. Final digits of a name are compared as a number.
fn list(directory: &Path) -> io::Result<Vec<OsString>> {
    let entries = fs::read_dir(directory)?.map(|entry| Ok(entry?.file_name()));
    let mut names = entries.collect::<io::Result<Vec<OsString>>>()?;
    names.sort_by_cached_key(|name| {
        let bytes = name.as_bytes();
        let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (stem, number) = bytes.split_at(bytes.len() - digits);
        let value = number.iter().fold(0u64, |n, d| n.wrapping_mul(10).wrapping_add(u64::from(d - b'0')));
        (stem.to_vec(), value, name.clone())
    });
    Ok(names)
}

#[cfg(test)]
mod tests;
