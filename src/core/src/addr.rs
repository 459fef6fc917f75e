//! Network addresses in the form that the platform's socket calls use.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};

const FAMILY_V4: u16 = 2;
const FAMILY_V6: u16 = 10;

/// A socket address together with its native bytes, whose place in memory is stable
/// for as long as the value is not moved.
#[derive(Clone, Debug, PartialEq, Eq)]
#[repr(align(8))]
pub struct Address {
    native: [u8; 28],
    socket: SocketAddr,
}

impl Address {
    /// The native form of `socket`.
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

    /// Reads the native form; `None` for a family other than IPv4 and IPv6 or too few bytes.
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

    /// Bytes that the native form of an address of this family takes; `None` if unknown.
    pub fn native_len(family: u16) -> Option<usize> {
        match family {
            FAMILY_V4 => Some(16),
            FAMILY_V6 => Some(28),
            _ => None,
        }
    }

    /// The loopback address of IPv4, without a port.
    pub fn loopback() -> Self {
        Address::new(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)))
    }

    /// The native bytes.
    pub fn native(&self) -> &[u8; 28] {
        &self.native
    }

    /// The address without its port.
    pub fn ip(&self) -> IpAddr {
        self.socket.ip()
    }

    /// Whether a single peer can have this address; multicast and broadcast addresses belong to none.
    pub fn is_host(&self) -> bool {
        let ip = self.ip();
        !ip.is_multicast() && !matches!(ip, IpAddr::V4(v4) if v4.is_broadcast())
    }

    /// Whether the address belongs to this host.
    pub fn is_local(&self) -> bool {
        let ip = self.ip();
        // A socket can be bound to any other address only if this host has it.
        ip.is_loopback() || (self.is_host() && !ip.is_unspecified() && UdpSocket::bind((ip, 0)).is_ok())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(ip: &str) -> Address {
        Address::new(SocketAddr::new(ip.parse().unwrap(), 0))
    }

    #[test]
    fn groups_and_everybody_are_no_hosts() {
        for host in ["10.1.2.3", "127.0.0.1", "0.0.0.0", "::1", "2001:db8::1"] {
            assert!(address(host).is_host(), "{host}");
        }
        for other in ["224.0.0.1", "239.255.0.1", "255.255.255.255", "ff02::1"] {
            assert!(!address(other).is_host() && !address(other).is_local(), "{other}");
        }
    }

    #[test]
    fn loopback_is_local_and_what_is_reserved_for_documents_is_not() {
        assert!(address("127.0.0.1").is_local() && address("::1").is_local());
        assert!(!address("203.0.113.9").is_local() && !address("0.0.0.0").is_local());
    }

    #[test]
    fn the_native_form_is_read_back() {
        for text in ["127.0.0.1:0", "10.1.2.3:65535", "[::1]:7", "[fe80::1%3]:9"] {
            let address = Address::new(text.parse().unwrap());
            assert_eq!(Address::from_native(address.native()), Some(address));
        }
        assert_eq!(Address::from_native(&[1, 0, 0, 0]), None);
        assert_eq!(Address::from_native(&[2]), None);
    }
}
