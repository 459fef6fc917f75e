//! Types that depend on the platform

use core::ffi::c_int;

pub use dat_udat::dat_platform_specific::*;

/// File descriptor.
pub type DAT_FD = c_int;

c_struct! {
    /// Communicator of an endpoint or a common service point, with the values of socket(2).
    struct dat_comm as DAT_COMM;
    domain: c_int, "Address family: DAT_AF_INET or DAT_AF_INET6.";
    r#type: c_int, "Type of socket: SOCK_STREAM.";
    protocol: c_int, "Protocol: 0 or IPPROTO_TCP.";
}
