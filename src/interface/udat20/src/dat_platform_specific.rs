//! Types that depend on the platform

use core::ffi::c_int;

pub use dat_udat::dat_platform_specific::*;

/// File descriptor.
pub type DAT_FD = c_int;

/// Communicator of an endpoint or a common service point, with the values of socket(2).
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_COMM {
    /// Address family: DAT_AF_INET or DAT_AF_INET6.
    pub domain: c_int,
    /// Type of socket: SOCK_STREAM.
    pub r#type: c_int,
    /// Protocol: 0 or IPPROTO_TCP.
    pub protocol: c_int,
}
