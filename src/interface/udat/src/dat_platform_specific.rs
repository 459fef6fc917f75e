//! Types that depend on the platform
//!
//! Here: Linux, LP64.

use core::ffi::{c_int, c_ulonglong, c_void};

use libc::{AF_INET, AF_INET6, sockaddr, sockaddr_in6};

c_types! {
    DAT_UINT32 = u32, "Unsigned integer of 32 bits.";
    DAT_UINT64 = u64, "Unsigned integer of 64 bits.";
    DAT_UVERYLONG = c_ulonglong, "The longest unsigned integer of the platform.";
    DAT_PVOID = *mut c_void, "Pointer to data of any type.";
    DAT_COUNT = c_int, "A count; -1 is \"infinite\", -2 is \"unknown\".";
    DAT_PADDR = DAT_UINT64, "Physical address.";
    DAT_SOCK_ADDR = sockaddr, "Address of an interface adapter: the socket address of the system.";
    DAT_SOCK_ADDR6 = sockaddr_in6, "IPv6 form of DAT_SOCK_ADDR.";
}

/// Alignment in bytes that is best for buffers on every provider. Advice only.
pub const DAT_OPTIMAL_ALIGNMENT: DAT_COUNT = 256;

/// Family of IPv4 addresses.
pub const DAT_AF_INET: c_int = AF_INET;

/// Family of IPv6 addresses.
pub const DAT_AF_INET6: c_int = AF_INET6;
