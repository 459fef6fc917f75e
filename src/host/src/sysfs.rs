//! RDMA devices, their network interfaces and their counters, as the kernel lists them below /sys. Nothing has to
//! be loaded to read them.
//!
//! Entries that cannot be read are left out: a host without RDMA has no such folder.

#![forbid(unsafe_code)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::Path;

/// The folder in which the kernel shows its devices.
pub const ROOT: &str = "/sys";

/// The RDMA devices below `sysfs`, in the order of their names and numbers.
pub fn devices(sysfs: &Path) -> Vec<OsString> {
    sorted(&sysfs.join("class/infiniband"))
}

/// The network interfaces of a device, each once.
///
/// RoCE and iWARP devices have them behind the GIDs of a port, in the order of the slots, so that the interface for
/// which the device was made comes first. InfiniBand shows those of all ports together, beside the device.
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
    for port in ports {
        let slots = root.join("ports").join(port).join("gid_attrs/ndevs");
        for slot in sorted(&slots) {
            // A slot without an interface cannot be read; several slots share one.
            let Ok(text) = fs::read(slots.join(slot)) else { continue };
            let name = OsString::from_vec(text.trim_ascii().to_vec());
            if !name.is_empty() && !found.contains(&name) {
                found.push(name);
            }
        }
    }
    if found.is_empty() {
        found = sorted(&root.join("device/net"));
    }
    found
}

/// A counter of a device, wherever the kernel has it: those of InfiniBand's ports, the device's own of a port, or those
/// of the whole device, in the folders of today's kernels and of old ones.
///
/// # Parameters
/// * `sysfs`, `device` - as for [`interfaces`].
/// * `port` - counted from 1.
/// * `name` - the name of the file.
pub fn counter(sysfs: &Path, device: &OsStr, port: u8, name: &str) -> Option<u64> {
    let root = sysfs.join("class/infiniband").join(Some(device).filter(|device| is_name(device))?);
    let folders = [format!("ports/{port}/counters"), format!("ports/{port}/hw_counters")];
    let folders = folders.iter().map(String::as_str).chain(["hw_counters", "diag_counters"]);
    folders
        .map(|folder| root.join(folder).join(name))
        .find_map(|file| fs::read_to_string(file).ok()?.trim().parse().ok())
}

/// Whether `text` can be the name of an entry in a folder.
fn is_name(text: &OsStr) -> bool {
    !text.is_empty() && !text.as_bytes().contains(&b'/') && !text.as_bytes().starts_with(b".")
}

/// The entries of a folder. Digits at the end of a name count as a number: slot 10 comes after
/// slot 9.
fn sorted(folder: &Path) -> Vec<OsString> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    names.sort_by_cached_key(|name| {
        let bytes = name.as_bytes();
        let digits = bytes.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
        let (stem, number) = bytes.split_at(bytes.len() - digits);
        let value = number.iter().fold(0u64, |n, d| n.wrapping_mul(10).wrapping_add(u64::from(d - b'0')));
        (stem.to_vec(), value, name.clone())
    });
    names
}

#[cfg(test)]
mod tests;
