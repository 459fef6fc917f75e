//! Basic types

use core::ffi::c_char;

use crate::dat_platform_specific::*;
use crate::names::c_enum;

/// Size of the arrays that contain names, including the terminating NUL.
pub const DAT_NAME_MAX_LENGTH: usize = 256;

/// Name of an interface adapter: a string of fewer than DAT_NAME_MAX_LENGTH characters.
pub type DAT_NAME_PTR = *mut c_char;

/// A named attribute: two strings.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_NAMED_ATTR {
    /// Name.
    pub name: *const c_char,
    /// Value.
    pub value: *const c_char,
}

/// Truth value.
pub type DAT_BOOLEAN = c_enum;
pub const DAT_FALSE: DAT_BOOLEAN = 0;
pub const DAT_TRUE: DAT_BOOLEAN = 1;

/// A word of the program, which the library returns unchanged.
#[derive(Clone, Copy)]
#[repr(C)]
pub union DAT_CONTEXT {
    /// The word as a pointer.
    pub as_ptr: DAT_PVOID,
    /// The word as a number of 64 bits.
    pub as_64: DAT_UINT64,
    /// The word as the longest number.
    pub as_index: DAT_UVERYLONG,
}

/// Word of the program, returned in the completion of a data transfer.
pub type DAT_DTO_COOKIE = DAT_CONTEXT;

/// Word of the program, returned in the completion of a bind.
pub type DAT_RMR_COOKIE = DAT_CONTEXT;

/// How a data transfer completes. As an attribute of an endpoint: which completions notify.
pub type DAT_COMPLETION_FLAGS = c_enum;
/// The completion notifies: it wakes a waiter, or triggers the notification object.
pub const DAT_COMPLETION_DEFAULT_FLAG: DAT_COMPLETION_FLAGS = 0x00;
/// No event if the operation succeeds.
pub const DAT_COMPLETION_SUPPRESS_FLAG: DAT_COMPLETION_FLAGS = 0x01;
/// The receive of this send notifies, if the peer set this flag in recv_completion_flags.
pub const DAT_COMPLETION_SOLICITED_WAIT_FLAG: DAT_COMPLETION_FLAGS = 0x02;
/// A successful completion is queued, but wakes no waiter and triggers no notification object.
pub const DAT_COMPLETION_UNSIGNALLED_FLAG: DAT_COMPLETION_FLAGS = 0x04;
/// Start only after all earlier RDMA reads of the endpoint are complete.
pub const DAT_COMPLETION_BARRIER_FENCE_FLAG: DAT_COMPLETION_FLAGS = 0x08;
/// Only an attribute of an endpoint: every completion notifies; waiters may have thresholds.
pub const DAT_COMPLETION_EVD_THRESHOLD_FLAG: DAT_COMPLETION_FLAGS = 0x10;

/// Time to wait in microseconds, counted from the call.
pub type DAT_TIMEOUT = DAT_UINT32;
/// Waits without a limit.
pub const DAT_TIMEOUT_INFINITE: DAT_TIMEOUT = 0xFFFFFFFF;

/// Any object of the interface. A valid handle points to a word that points to the DAT_PROVIDER of the object.
pub type DAT_HANDLE = DAT_PVOID;
/// Connection request.
pub type DAT_CR_HANDLE = DAT_HANDLE;
/// Endpoint: one end of a connection.
pub type DAT_EP_HANDLE = DAT_HANDLE;
/// Event dispatcher: a queue of events.
pub type DAT_EVD_HANDLE = DAT_HANDLE;
/// Open instance of an interface adapter.
pub type DAT_IA_HANDLE = DAT_HANDLE;
/// Local memory region.
pub type DAT_LMR_HANDLE = DAT_HANDLE;
/// Public service point.
pub type DAT_PSP_HANDLE = DAT_HANDLE;
/// Protection zone.
pub type DAT_PZ_HANDLE = DAT_HANDLE;
/// Remote memory region.
pub type DAT_RMR_HANDLE = DAT_HANDLE;
/// Reserved service point.
pub type DAT_RSP_HANDLE = DAT_HANDLE;
/// Shared receive queue.
pub type DAT_SRQ_HANDLE = DAT_HANDLE;

/// No object.
pub const DAT_HANDLE_NULL: DAT_HANDLE = core::ptr::null_mut();

/// Kind of an object, see dat_get_handle_type.
pub type DAT_HANDLE_TYPE = c_enum;
pub const DAT_HANDLE_TYPE_CR: DAT_HANDLE_TYPE = 0;
pub const DAT_HANDLE_TYPE_EP: DAT_HANDLE_TYPE = 1;
pub const DAT_HANDLE_TYPE_EVD: DAT_HANDLE_TYPE = 2;
pub const DAT_HANDLE_TYPE_IA: DAT_HANDLE_TYPE = 3;
pub const DAT_HANDLE_TYPE_LMR: DAT_HANDLE_TYPE = 4;
pub const DAT_HANDLE_TYPE_PSP: DAT_HANDLE_TYPE = 5;
pub const DAT_HANDLE_TYPE_PZ: DAT_HANDLE_TYPE = 6;
pub const DAT_HANDLE_TYPE_RMR: DAT_HANDLE_TYPE = 7;
pub const DAT_HANDLE_TYPE_RSP: DAT_HANDLE_TYPE = 8;
/// Consumer notification object.
pub const DAT_HANDLE_TYPE_CNO: DAT_HANDLE_TYPE = 9;
pub const DAT_HANDLE_TYPE_SRQ: DAT_HANDLE_TYPE = 10;

/// Length in bytes.
pub type DAT_VLEN = DAT_UINT64;
/// Virtual address as a number.
pub type DAT_VADDR = DAT_UINT64;
/// Pointer to the address of an interface adapter.
pub type DAT_IA_ADDRESS_PTR = *mut DAT_SOCK_ADDR;
/// Connection qualifier: the number at which a service point listens.
pub type DAT_CONN_QUAL = DAT_UINT64;
/// Port qualifier: the number of one end of a connection.
pub type DAT_PORT_QUAL = DAT_UINT64;

/// Quality of service of a connection; bits in DAT_PROVIDER_ATTR.
pub type DAT_QOS = c_enum;
pub const DAT_QOS_BEST_EFFORT: DAT_QOS = 0x00;
pub const DAT_QOS_HIGH_THROUGHPUT: DAT_QOS = 0x01;
pub const DAT_QOS_LOW_LATENCY: DAT_QOS = 0x02;
pub const DAT_QOS_ECONOMY: DAT_QOS = 0x04;
pub const DAT_QOS_PREMIUM: DAT_QOS = 0x08;

/// Options of dat_ep_connect.
pub type DAT_CONNECT_FLAGS = c_enum;
/// The connection uses one path.
pub const DAT_CONNECT_DEFAULT_FLAG: DAT_CONNECT_FLAGS = 0;
/// The connection may use several paths.
pub const DAT_CONNECT_MULTIPATH_FLAG: DAT_CONNECT_FLAGS = 1;

/// How dat_ia_close and dat_ep_disconnect end an instance or a connection.
pub type DAT_CLOSE_FLAGS = c_enum;
/// Ends immediately; outstanding work fails.
pub const DAT_CLOSE_ABRUPT_FLAG: DAT_CLOSE_FLAGS = 0;
/// Ends after the posted requests have completed. dat_ia_close fails if objects are left.
pub const DAT_CLOSE_GRACEFUL_FLAG: DAT_CLOSE_FLAGS = 1;
/// Default of dat_ia_close and dat_ep_disconnect.
pub const DAT_CLOSE_DEFAULT: DAT_CLOSE_FLAGS = DAT_CLOSE_ABRUPT_FLAG;
