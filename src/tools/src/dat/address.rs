//! Addresses in the form that calls take and give.

use std::io;
use std::mem::size_of;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

use dat_udat12::{DAT_IA_ADDRESS_PTR, DAT_SOCK_ADDR};
use socket2::{SockAddr, SockAddrStorage};

/// The address of a host for a call. Its port means nothing to the calls, which take a qualifier beside it.
pub fn native(ip: IpAddr) -> SockAddr {
    SocketAddr::new(ip, 0).into()
}

/// The pointer that a call takes; calls do not write there.
pub fn pointer(address: &SockAddr) -> DAT_IA_ADDRESS_PTR {
    address.as_ptr().cast::<DAT_SOCK_ADDR>().cast_mut()
}

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
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_they_were_written() {
        for ip in ["127.0.0.1", "192.0.2.7", "::1", "2001:db8::9"] {
            let ip: IpAddr = ip.parse().unwrap();
            let native = native(ip);
            // SAFETY: the pointer is that of a whole address.
            assert_eq!(unsafe { read(pointer(&native)) }, Some(SocketAddr::new(ip, 0)));
        }
        // SAFETY: null is allowed.
        assert_eq!(unsafe { read(std::ptr::null()) }, None);
    }

    #[test]
    fn a_host_is_a_name_or_an_address() {
        let v4: IpAddr = "192.0.2.7".parse().unwrap();
        assert_eq!(resolve("192.0.2.7", None).unwrap(), [v4]);
        assert_eq!(resolve("[::1]", Some(v4)).unwrap(), ["::1".parse::<IpAddr>().unwrap()]);
        assert!(resolve("localhost", Some(v4)).unwrap()[0].is_loopback());
        assert!(resolve("host.invalid", None).is_err());
    }
}
