//! Addresses in the form that calls take and give.

use std::io;
use std::mem::size_of;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use dat_udat12::DAT_SOCK_ADDR;
use socket2::{SockAddr, SockAddrStorage};

/// The address that a call gave; none if it is of a family other than those of IP.
///
/// # Safety
/// `address` is null or points to an address of the length that its family has.
pub unsafe fn read(address: *const DAT_SOCK_ADDR) -> Option<SocketAddr> {
    if address.is_null() {
        return None;
    }
    // SAFETY: any address begins with its family.
    let length = match i32::from(unsafe { (*address).sa_family }) {
        libc::AF_INET => size_of::<libc::sockaddr_in>(),
        libc::AF_INET6 => size_of::<libc::sockaddr_in6>(),
        _ => return None,
    };
    let mut storage = SockAddrStorage::zeroed();
    // SAFETY: the address has this length, as the caller promises, and the storage has room for any.
    unsafe { std::ptr::copy_nonoverlapping(address.cast::<u8>(), (&raw mut storage).cast::<u8>(), length) };
    // SAFETY: the storage holds an address of this length.
    unsafe { SockAddr::new(storage, length as libc::socklen_t) }.as_socket()
}

/// The addresses of a host, given as a name or an address, beginning with those of the family of `like`.
///
/// # Errors
/// As the resolver says, or the name has no address.
pub fn resolve(host: &str, like: Option<IpAddr>) -> io::Result<Vec<IpAddr>> {
    // Brackets are the form of an IPv6 address where a port may follow it.
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host);
    let mut found = Vec::new();
    for address in (bare, 0).to_socket_addrs()? {
        if !found.contains(&address.ip()) {
            found.push(address.ip());
        }
    }
    if found.is_empty() {
        return Err(io::Error::new(io::ErrorKind::NotFound, "it has no address"));
    }
    found.sort_by_key(|ip| like.is_some_and(|like| like.is_ipv4() != ip.is_ipv4()));
    Ok(found)
}

#[cfg(test)]
mod tests;
