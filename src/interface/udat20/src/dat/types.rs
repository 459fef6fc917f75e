//! Basic types

use core::ffi::c_int;

use crate::dat_platform_specific::*;

pub use dat_udat::dat::types::*;

c_members! {
    DAT_COMPLETION_FLAGS;
    DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG = 0x20, "Only in the kernel-level interface. No call accepts it.";
}

c_members! {
    DAT_HANDLE_TYPE;
    DAT_HANDLE_TYPE_CSP = 11, "Common service point.";
    DAT_HANDLE_TYPE_EXTENSION_BASE = 12, "First kind that extensions define.";
}

c_members! {
    DAT_CONNECT_FLAGS;
    DAT_CONNECT_MULTIPATH_REQUIRED_FLAG = 2, "Several paths; otherwise the connection fails.";
}

/// Several paths if available.
pub const DAT_CONNECT_MULTIPATH_REQUESTED_FLAG: DAT_CONNECT_FLAGS = DAT_CONNECT_MULTIPATH_FLAG;

c_types! {
    DAT_CSP_HANDLE = DAT_HANDLE, "Common service point.";
    DAT_SEG_LENGTH = DAT_UINT32, "Length of a segment, of a message or of an RDMA operation in bytes.";
    DAT_EXTENDED_OP = c_int, "Number of an extended operation, see dat_extension_op.";
}

/// Bit in the number of extended operations that open an object. These take no handle.
pub const DAT_OPEN_EXTENSION_BASE: DAT_EXTENDED_OP = 0x1000;

/// Bit in the number of extended operations that close such an object.
pub const DAT_CLOSE_EXTENSION_BASE: DAT_EXTENDED_OP = 0x2000;
