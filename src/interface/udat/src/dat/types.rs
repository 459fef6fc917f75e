//! Basic types

use core::ffi::c_char;

use crate::dat_platform_specific::*;

/// Size of the arrays that contain names, including the terminating NUL.
pub const DAT_NAME_MAX_LENGTH: usize = 256;

/// Name of an interface adapter: a string of fewer than DAT_NAME_MAX_LENGTH characters.
pub type DAT_NAME_PTR = *mut c_char;

c_struct! {
    /// A named attribute: two strings.
    struct dat_named_attr as DAT_NAMED_ATTR;
    name: *const c_char, "Name.";
    value: *const c_char, "Value.";
}

c_enum! {
    /// Truth value.
    dat_boolean as DAT_BOOLEAN;
    DAT_FALSE = 0, "False.";
    DAT_TRUE = 1, "True.";
}

c_struct! {
    /// A word of the program, which the library returns unchanged.
    union dat_context as DAT_CONTEXT;
    as_ptr: DAT_PVOID, "The word as a pointer.";
    as_64: DAT_UINT64, "The word as a number of 64 bits.";
    as_index: DAT_UVERYLONG, "The word as the longest number.";
}

/// Word of the program, returned in the completion of a data transfer.
pub type DAT_DTO_COOKIE = DAT_CONTEXT;

/// Word of the program, returned in the completion of a bind.
pub type DAT_RMR_COOKIE = DAT_CONTEXT;

c_enum! {
    /// How a data transfer completes; also the configuration of the streams of an endpoint.
    dat_completion_flags as DAT_COMPLETION_FLAGS;
    DAT_COMPLETION_DEFAULT_FLAG = 0x00, "A notification event.";
    DAT_COMPLETION_SUPPRESS_FLAG = 0x01, "No event if the operation succeeds.";
    DAT_COMPLETION_SOLICITED_WAIT_FLAG = 0x02,
        "The receive at the remote side notifies, if its stream waits for solicited messages.";
    DAT_COMPLETION_UNSIGNALLED_FLAG = 0x04, "An event without notification.";
    DAT_COMPLETION_BARRIER_FENCE_FLAG = 0x08, "Start only after all earlier RDMA reads of the endpoint are complete.";
    DAT_COMPLETION_EVD_THRESHOLD_FLAG = 0x10,
        "Attribute of an endpoint: every event notifies, and waiters wake at their threshold.";
}

/// Time to wait in microseconds, counted from the call.
pub type DAT_TIMEOUT = DAT_UINT32;

/// Waits without a limit.
pub const DAT_TIMEOUT_INFINITE: DAT_TIMEOUT = 0xFFFFFFFF;

c_types! {
    DAT_HANDLE = DAT_PVOID,
        "Any object of the interface. A valid handle points to a word that points to the DAT_PROVIDER"
        "of the object.";
    DAT_CR_HANDLE = DAT_HANDLE, "Connection request.";
    DAT_EP_HANDLE = DAT_HANDLE, "Endpoint: one end of a connection.";
    DAT_EVD_HANDLE = DAT_HANDLE, "Event dispatcher: a queue of events.";
    DAT_IA_HANDLE = DAT_HANDLE, "Open instance of an interface adapter.";
    DAT_LMR_HANDLE = DAT_HANDLE, "Local memory region.";
    DAT_PSP_HANDLE = DAT_HANDLE, "Public service point.";
    DAT_PZ_HANDLE = DAT_HANDLE, "Protection zone.";
    DAT_RMR_HANDLE = DAT_HANDLE, "Remote memory region.";
    DAT_RSP_HANDLE = DAT_HANDLE, "Reserved service point.";
    DAT_SRQ_HANDLE = DAT_HANDLE, "Shared receive queue.";
}

/// No object.
pub const DAT_HANDLE_NULL: DAT_HANDLE = core::ptr::null_mut();

c_enum! {
    /// Kind of an object, see dat_get_handle_type.
    dat_handle_type as DAT_HANDLE_TYPE;
    DAT_HANDLE_TYPE_CR = 0, "Connection request.";
    DAT_HANDLE_TYPE_EP = 1, "Endpoint.";
    DAT_HANDLE_TYPE_EVD = 2, "Event dispatcher.";
    DAT_HANDLE_TYPE_IA = 3, "Interface adapter.";
    DAT_HANDLE_TYPE_LMR = 4, "Local memory region.";
    DAT_HANDLE_TYPE_PSP = 5, "Public service point.";
    DAT_HANDLE_TYPE_PZ = 6, "Protection zone.";
    DAT_HANDLE_TYPE_RMR = 7, "Remote memory region.";
    DAT_HANDLE_TYPE_RSP = 8, "Reserved service point.";
    DAT_HANDLE_TYPE_CNO = 9, "Consumer notification object.";
    DAT_HANDLE_TYPE_SRQ = 10, "Shared receive queue.";
}

c_types! {
    DAT_VLEN = DAT_UINT64, "Length in bytes.";
    DAT_VADDR = DAT_UINT64, "Virtual address as a number.";
    DAT_IA_ADDRESS_PTR = *mut DAT_SOCK_ADDR, "Pointer to the address of an interface adapter.";
    DAT_CONN_QUAL = DAT_UINT64, "Connection qualifier: the number at which a service point listens.";
    DAT_PORT_QUAL = DAT_UINT64, "Port qualifier: the number of one end of a connection.";
}

c_enum! {
    /// Quality of service of a connection; bits in DAT_PROVIDER_ATTR.
    dat_qos as DAT_QOS;
    DAT_QOS_BEST_EFFORT = 0x00, "Best effort.";
    DAT_QOS_HIGH_THROUGHPUT = 0x01, "High throughput.";
    DAT_QOS_LOW_LATENCY = 0x02, "Low latency.";
    DAT_QOS_ECONOMY = 0x04, "Economy.";
    DAT_QOS_PREMIUM = 0x08, "Premium.";
}

c_enum! {
    /// Options of dat_ep_connect.
    dat_connect_flags as DAT_CONNECT_FLAGS;
    DAT_CONNECT_DEFAULT_FLAG = 0, "One path.";
    DAT_CONNECT_MULTIPATH_FLAG = 1, "Several paths.";
}

c_enum! {
    /// How dat_ia_close and dat_ep_disconnect end an instance or a connection.
    dat_close_flags as DAT_CLOSE_FLAGS;
    DAT_CLOSE_ABRUPT_FLAG = 0, "Immediately; outstanding work fails.";
    DAT_CLOSE_GRACEFUL_FLAG = 1,
        "After the posted requests have completed; an instance only if all its objects are freed.";
}

/// Default of dat_ia_close and dat_ep_disconnect.
pub const DAT_CLOSE_DEFAULT: DAT_CLOSE_FLAGS = DAT_CLOSE_ABRUPT_FLAG;
