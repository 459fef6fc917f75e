//! Types that depend on the platform
//!
//! Here: Linux, LP64.

use core::ffi::{c_int, c_ulonglong, c_void};

use libc::{AF_INET, AF_INET6, sockaddr, sockaddr_in6};

/// Unsigned integer of 32 bits.
pub type DAT_UINT32 = u32;
/// Unsigned integer of 64 bits.
pub type DAT_UINT64 = u64;
/// The longest unsigned integer of the platform.
pub type DAT_UVERYLONG = c_ulonglong;
/// Pointer to data of any type.
pub type DAT_PVOID = *mut c_void;
/// A count; -1 is "infinite", -2 is "unknown".
pub type DAT_COUNT = c_int;
/// Physical address.
pub type DAT_PADDR = DAT_UINT64;
/// Address of an interface adapter: the socket address of the system.
pub type DAT_SOCK_ADDR = sockaddr;
/// IPv6 form of DAT_SOCK_ADDR.
pub type DAT_SOCK_ADDR6 = sockaddr_in6;

/// Alignment in bytes that is best for buffers on every provider. Advice only.
pub const DAT_OPTIMAL_ALIGNMENT: DAT_COUNT = 256;

/// Family of IPv4 addresses.
pub const DAT_AF_INET: c_int = AF_INET;
/// Family of IPv6 addresses.
pub const DAT_AF_INET6: c_int = AF_INET6;
