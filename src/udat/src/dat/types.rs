//! Basic types

use core::ffi::c_char;

use crate::c_enum;
use crate::dat_platform_specific::*;

/// Size of the arrays that hold names, including the terminating NUL.
pub const DAT_NAME_MAX_LENGTH: usize = 256;

/// Name of an interface adapter: a string of less than DAT_NAME_MAX_LENGTH characters.
pub type DAT_NAME_PTR = *mut c_char;

/// A named attribute: two strings.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_named_attr {
    /// Name.
    pub name: *const c_char,
    /// Value.
    pub value: *const c_char,
}

/// A named attribute: two strings.
pub type DAT_NAMED_ATTR = dat_named_attr;

c_enum! {
    /// Truth value.
    pub enum dat_boolean as DAT_BOOLEAN {
        /// False.
        DAT_FALSE = 0,
        /// True.
        DAT_TRUE = 1,
    }
}

/// A word of the consumer, returned bit for bit.
#[derive(Clone, Copy)]
#[repr(C)]
pub union dat_context {
    /// The word as a pointer.
    pub as_ptr: DAT_PVOID,
    /// The word as a number of 64 bits.
    pub as_64: DAT_UINT64,
    /// The word as the longest number.
    pub as_index: DAT_UVERYLONG,
}

/// A word of the consumer, returned bit for bit.
pub type DAT_CONTEXT = dat_context;

/// Word of the consumer that is returned in the completion of a data transfer.
pub type DAT_DTO_COOKIE = DAT_CONTEXT;

/// Word of the consumer that is returned in the completion of a bind.
pub type DAT_RMR_COOKIE = DAT_CONTEXT;

c_enum! {
    /// Way in which a data transfer completes; also the configuration of the streams of an
    /// endpoint.
    pub enum dat_completion_flags as DAT_COMPLETION_FLAGS {
        /// An event that notifies.
        DAT_COMPLETION_DEFAULT_FLAG = 0x00,
        /// No event if the operation succeeds.
        DAT_COMPLETION_SUPPRESS_FLAG = 0x01,
        /// The receive at the remote side notifies, if its stream waits for solicited messages.
        DAT_COMPLETION_SOLICITED_WAIT_FLAG = 0x02,
        /// An event that does not notify.
        DAT_COMPLETION_UNSIGNALLED_FLAG = 0x04,
        /// Start only after all earlier RDMA reads of the endpoint are complete.
        DAT_COMPLETION_BARRIER_FENCE_FLAG = 0x08,
        /// Attribute of an endpoint: every event notifies, waiters wake by threshold.
        DAT_COMPLETION_EVD_THRESHOLD_FLAG = 0x10,
    }
}

/// Time to wait in microseconds, counted from the call.
pub type DAT_TIMEOUT = DAT_UINT32;

/// Wait without a limit.
pub const DAT_TIMEOUT_INFINITE: DAT_TIMEOUT = 0xFFFFFFFF;

/// Any object of the interface. The first word behind a valid handle points to the DAT_PROVIDER
/// that serves the object.
pub type DAT_HANDLE = DAT_PVOID;

/// Connection request.
pub type DAT_CR_HANDLE = DAT_HANDLE;

/// Endpoint: one end of a connection.
pub type DAT_EP_HANDLE = DAT_HANDLE;

/// Event dispatcher: a queue of events.
pub type DAT_EVD_HANDLE = DAT_HANDLE;

/// Interface adapter, one opened instance of it.
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

c_enum! {
    /// Kind of object behind a handle, see dat_get_handle_type.
    pub enum dat_handle_type as DAT_HANDLE_TYPE {
        /// Connection request.
        DAT_HANDLE_TYPE_CR = 0,
        /// Endpoint.
        DAT_HANDLE_TYPE_EP = 1,
        /// Event dispatcher.
        DAT_HANDLE_TYPE_EVD = 2,
        /// Interface adapter.
        DAT_HANDLE_TYPE_IA = 3,
        /// Local memory region.
        DAT_HANDLE_TYPE_LMR = 4,
        /// Public service point.
        DAT_HANDLE_TYPE_PSP = 5,
        /// Protection zone.
        DAT_HANDLE_TYPE_PZ = 6,
        /// Remote memory region.
        DAT_HANDLE_TYPE_RMR = 7,
        /// Reserved service point.
        DAT_HANDLE_TYPE_RSP = 8,
        /// Consumer notification object.
        DAT_HANDLE_TYPE_CNO = 9,
        /// Shared receive queue.
        DAT_HANDLE_TYPE_SRQ = 10,
    }
}

/// Length in bytes.
pub type DAT_VLEN = DAT_UINT64;

/// Virtual address as a number.
pub type DAT_VADDR = DAT_UINT64;

/// Pointer to the address of an interface adapter.
pub type DAT_IA_ADDRESS_PTR = *mut DAT_SOCK_ADDR;

/// Connection qualifier: the number that a service point listens on.
pub type DAT_CONN_QUAL = DAT_UINT64;

/// Port qualifier: the number of one end of a connection.
pub type DAT_PORT_QUAL = DAT_UINT64;

c_enum! {
    /// Quality of service of a connection; bits in DAT_PROVIDER_ATTR.
    pub enum dat_qos as DAT_QOS {
        /// Best effort.
        DAT_QOS_BEST_EFFORT = 0x00,
        /// High throughput.
        DAT_QOS_HIGH_THROUGHPUT = 0x01,
        /// Low latency.
        DAT_QOS_LOW_LATENCY = 0x02,
        /// Economy.
        DAT_QOS_ECONOMY = 0x04,
        /// Premium.
        DAT_QOS_PREMIUM = 0x08,
    }
}

c_enum! {
    /// Options of dat_ep_connect.
    pub enum dat_connect_flags as DAT_CONNECT_FLAGS {
        /// One path.
        DAT_CONNECT_DEFAULT_FLAG = 0,
        /// Several paths.
        DAT_CONNECT_MULTIPATH_FLAG = 1,
    }
}

c_enum! {
    /// Way in which dat_ia_close and dat_ep_disconnect end things.
    pub enum dat_close_flags as DAT_CLOSE_FLAGS {
        /// At once; outstanding work fails.
        DAT_CLOSE_ABRUPT_FLAG = 0,
        /// Orderly: after posted requests are done; for an adapter, only if no objects are left.
        DAT_CLOSE_GRACEFUL_FLAG = 1,
    }
}

/// Default of dat_ia_close and dat_ep_disconnect.
pub const DAT_CLOSE_DEFAULT: DAT_CLOSE_FLAGS = DAT_CLOSE_ABRUPT_FLAG;
