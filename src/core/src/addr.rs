//! Network addresses in the platform's socket format.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use crate::error::{AddressFault, Error, Result};

const FAMILY_V4: u16 = 2;
const FAMILY_V6: u16 = 10;
const STREAM: i32 = 1;
const TCP: i32 = 6;

/// A socket address and its bytes in the platform's format. Queries return a pointer to these bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub struct Address {
    native: [u8; 28],
    socket: SocketAddr,
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.socket.fmt(f)
    }
}

impl Address {
    /// Returns the address `socket` with its native format.
    pub fn new(socket: SocketAddr) -> Self {
        let mut native = [0; 28];
        match socket {
            SocketAddr::V4(v4) => {
                native[..2].copy_from_slice(&FAMILY_V4.to_ne_bytes());
                native[2..4].copy_from_slice(&v4.port().to_be_bytes());
                native[4..8].copy_from_slice(&v4.ip().octets());
            }
            SocketAddr::V6(v6) => {
                native[..2].copy_from_slice(&FAMILY_V6.to_ne_bytes());
                native[2..4].copy_from_slice(&v6.port().to_be_bytes());
                native[4..8].copy_from_slice(&v6.flowinfo().to_ne_bytes());
                native[8..24].copy_from_slice(&v6.ip().octets());
                native[24..28].copy_from_slice(&v6.scope_id().to_ne_bytes());
            }
        }
        Address { native, socket }
    }

    /// Reads the native format. Returns `None` if the family is neither IPv4 nor IPv6, or if bytes are missing.
    pub fn from_native(bytes: &[u8]) -> Option<Self> {
        let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
        let port = u16::from_be_bytes(bytes.get(2..4)?.try_into().ok()?);
        let socket = match family {
            FAMILY_V4 => {
                let ip: [u8; 4] = bytes.get(4..8)?.try_into().ok()?;
                SocketAddr::from((ip, port))
            }
            FAMILY_V6 => {
                let ip: [u8; 16] = bytes.get(8..24)?.try_into().ok()?;
                let scope = u32::from_ne_bytes(bytes.get(24..28)?.try_into().ok()?);
                let flow = u32::from_ne_bytes(bytes.get(4..8)?.try_into().ok()?);
                std::net::SocketAddrV6::new(ip.into(), port, flow, scope).into()
            }
            _ => return None,
        };
        Some(Address::new(socket))
    }

    /// Returns the native length in bytes, or `None` for an unknown family.
    pub fn native_len(family: u16) -> Option<usize> {
        match family {
            FAMILY_V4 => Some(16),
            FAMILY_V6 => Some(28),
            _ => None,
        }
    }

    /// Returns 127.0.0.1, without a port.
    pub fn loopback() -> Self {
        Address::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }

    /// Returns the native bytes.
    pub fn native(&self) -> &[u8; 28] {
        &self.native
    }

    /// Returns the address without the port.
    pub fn ip(&self) -> IpAddr {
        self.socket.ip()
    }

    /// Returns the port; 0 if the address has none.
    pub fn port(&self) -> u16 {
        self.socket.port()
    }

    pub(crate) fn with_port(&self, port: u16) -> Self {
        let mut socket = self.socket;
        socket.set_port(port);
        Address::new(socket)
    }

    /// Returns the address that `named` means on the adapter with the address `self`. The wildcard address means the
    /// adapter's own address. With `all`, the adapter has all addresses of the host, and the wildcard address of the
    /// other family means the loopback address of that family.
    ///
    /// # Errors
    /// [`AddressFault::Unreachable`] if the adapter does not have the address `named`.
    pub(crate) fn named_by(&self, named: &Address, all: bool) -> Result<Address> {
        let ip = match named.ip() {
            any if any.is_unspecified() && any.is_ipv4() == self.ip().is_ipv4() => self.ip(),
            any if any.is_unspecified() && all && any.is_ipv4() => Ipv4Addr::LOCALHOST.into(),
            any if any.is_unspecified() && all => Ipv6Addr::LOCALHOST.into(),
            ip if ip == self.ip() || (all && named.is_local()) => return Ok(named.clone()),
            _ => return Err(Error::InvalidAddress(AddressFault::Unreachable)),
        };
        Ok(Address::new(SocketAddr::new(ip, named.port())))
    }

    /// Returns whether the address is neither multicast nor broadcast.
    pub fn is_host(&self) -> bool {
        let ip = self.ip();
        !ip.is_multicast() && !matches!(ip, IpAddr::V4(v4) if v4.is_broadcast())
    }

    /// Returns whether the address belongs to this host. Returns `false` also if no socket can be created for the
    /// check.
    pub fn is_local(&self) -> bool {
        let ip = self.ip();
        // A bind succeeds only for an address of this host.
        ip.is_loopback() || (self.is_host() && !ip.is_unspecified() && UdpSocket::bind((ip, 0)).is_ok())
    }
}

/// Returns the port for a qualifier: the same number if it fits, else the port that the C provider over rdma_cm uses.
pub fn port_of(qualifier: u64) -> u16 {
    match u16::try_from(qualifier) {
        Ok(port) => port,
        // The sum is at most 65534, so the cast keeps it.
        Err(_) => (33534 + qualifier % 32001) as u16,
    }
}

/// A kind of socket, with the values of socket(2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
#[allow(missing_docs)]
pub struct Comm {
    pub domain: i32,
    pub kind: i32,
    /// The protocol, or 0 for the default.
    pub protocol: i32,
}

impl Comm {
    /// Checks whether this kind is supported: streams over IPv4 or IPv6.
    ///
    /// # Errors
    /// [`Error::CommNotSupported`].
    pub fn check(self) -> Result<()> {
        let family = self.domain == FAMILY_V4.into() || self.domain == FAMILY_V6.into();
        if family && self.kind == STREAM && matches!(self.protocol, 0 | TCP) {
            Ok(())
        } else {
            Err(Error::CommNotSupported)
        }
    }

    /// Returns whether all fields are 0, in which case the kind means streams over IPv4.
    pub fn is_unset(self) -> bool {
        self == Comm::default()
    }

    /// Checks that `address` has the family of this kind, which is IPv4 if all fields are 0.
    ///
    /// # Errors
    /// [`AddressFault::Malformed`] if it has another family.
    pub fn check_address(self, address: &Address) -> Result<()> {
        let family = if self.is_unset() { FAMILY_V4.into() } else { self.domain };
        let of_family = match address.ip() {
            IpAddr::V4(_) => family == FAMILY_V4.into(),
            IpAddr::V6(_) => family == FAMILY_V6.into(),
        };
        if of_family { Ok(()) } else { Err(Error::InvalidAddress(AddressFault::Malformed)) }
    }
}

#[cfg(test)]
mod tests;
