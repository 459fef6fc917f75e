//! The TCP connections of a process that does not respond, from /proc.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

/// The addresses of a connection in this process, then of its peer.
pub type Connection = (SocketAddr, SocketAddr);

/// Returns the connections of a process. Returns none if this user may not read the descriptors of the process.
pub fn connections(pid: i32) -> Vec<Connection> {
    let entries = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = entries.filter_map(|entry| fs::read_link(entry.path()).ok());
    let inodes: BTreeSet<u64> = links.filter_map(|link| inode(&link.to_string_lossy())).collect();
    if inodes.is_empty() {
        return Vec::new();
    }
    let tables =
        ["tcp", "tcp6"].map(|table| fs::read_to_string(format!("/proc/{pid}/net/{table}")).unwrap_or_default());
    let lines = tables.iter().flat_map(|table| table.lines().filter_map(connection));
    lines.filter(|(_, inode)| inodes.contains(inode)).map(|(connection, _)| connection).collect()
}

/// Returns the inode of a socket from the link of its descriptor.
fn inode(link: &str) -> Option<u64> {
    link.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// Returns the connection and the inode in a line of /proc/net/tcp or tcp6.
fn connection(line: &str) -> Option<(Connection, u64)> {
    let mut words = line.split_ascii_whitespace();
    let (local, peer) = (words.nth(1)?, words.next()?);
    // Skip the fields before the inode: state, queues, timer, retransmissions, user and timeout.
    let inode = words.nth(6)?.parse().ok()?;
    Some(((address(local)?, address(peer)?), inode))
}

/// Parses an address in /proc/net/tcp or tcp6: words of 32 bits in the byte order of the host, then the port.
fn address(text: &str) -> Option<SocketAddr> {
    let (ip, port) = text.split_once(':')?;
    let word = |at: usize| u32::from_str_radix(ip.get(8 * at..8 * at + 8)?, 16).ok();
    let ip = match ip.len() {
        8 => IpAddr::V4(Ipv4Addr::from(word(0)?.to_ne_bytes())),
        32 => {
            let mut bytes = [0; 16];
            for (at, bytes) in bytes.chunks_exact_mut(4).enumerate() {
                bytes.copy_from_slice(&word(at)?.to_ne_bytes());
            }
            IpAddr::V6(Ipv6Addr::from(bytes))
        }
        _ => return None,
    };
    Some(SocketAddr::new(ip, u16::from_str_radix(port, 16).ok()?))
}

#[cfg(test)]
mod tests;
