//! Return codes
//!
//! A return code has 32 bits: class (31 and 30), type (29 to 16), subtype (15 to 0).

use crate::dat_platform_specific::DAT_UINT32;

/// Return code of every function: class, type and subtype, combined by bitwise or. 0 is success.
pub type DAT_RETURN = DAT_UINT32;

c_consts! {
    DAT_RETURN;
    DAT_CLASS_ERROR = 0x80000000, "Class of a return code: error.";
    DAT_CLASS_WARNING = 0x40000000, "Class of a return code: warning.";
    DAT_CLASS_SUCCESS = 0x00000000, "Class of a return code: success.";
    DAT_TYPE_MASK = 0x3FFF0000, "The bits of the type in a return code.";
    DAT_SUBTYPE_MASK = 0x0000FFFF, "The bits of the subtype in a return code.";
}

c_enum_with_names! {
    /// Type of a return code, bits 16 to 29: the kind of result.
    dat_return_type as DAT_RETURN_TYPE;
    DAT_SUCCESS = 0x00000000, "The call succeeded.";
    DAT_ABORT = 0x00010000, "The object was destroyed during the call.";
    DAT_CONN_QUAL_IN_USE = 0x00020000, "Another service point listens on the connection qualifier.";
    DAT_INSUFFICIENT_RESOURCES = 0x00030000, "A resource ran out; the subtype names it.";
    DAT_INTERNAL_ERROR = 0x00040000, "The implementation failed.";
    DAT_INVALID_HANDLE = 0x00050000, "A handle is NULL, stale, or of the wrong kind; the subtype identifies it.";
    DAT_INVALID_PARAMETER = 0x00060000, "An argument is invalid; the subtype identifies it.";
    DAT_INVALID_STATE = 0x00070000,
        "The state of the object does not allow the call; the subtype identifies the state.";
    DAT_LENGTH_ERROR = 0x00080000, "The lengths of the local and the remote memory are incompatible.";
    DAT_MODEL_NOT_SUPPORTED = 0x00090000, "The provider does not support the request.";
    DAT_PROVIDER_NOT_FOUND = 0x000A0000,
        "No provider of that name, version and thread safety is registered or could be loaded.";
    DAT_PRIVILEGES_VIOLATION = 0x000B0000, "A memory region lacks a privilege.";
    DAT_PROTECTION_VIOLATION = 0x000C0000, "Objects belong to different protection zones.";
    DAT_QUEUE_EMPTY = 0x000D0000, "No event is queued.";
    DAT_QUEUE_FULL = 0x000E0000, "The queue of the event dispatcher is full.";
    DAT_TIMEOUT_EXPIRED = 0x000F0000, "The timeout expired.";
    DAT_PROVIDER_ALREADY_REGISTERED = 0x00100000, "A provider with this identity is already registered.";
    DAT_PROVIDER_IN_USE = 0x00110000, "An adapter of the provider is open.";
    DAT_INVALID_ADDRESS = 0x00120000, "The remote address cannot be used.";
    DAT_INTERRUPTED_CALL = 0x00130000, "A signal interrupted the call.";
    DAT_CONN_QUAL_UNAVAILABLE = 0x00140000, "No connection qualifier is free.";
}

/// Older name of DAT_PROVIDER_NOT_FOUND.
pub const DAT_NAME_NOT_FOUND: DAT_RETURN_TYPE = DAT_PROVIDER_NOT_FOUND;

c_enum_with_names! {
    /// Subtype of a return code, bits 0 to 15: the argument, handle, state or resource.
    dat_return_subtype as DAT_RETURN_SUBTYPE;
    DAT_NO_SUBTYPE = 0, "No further information.";
    DAT_SUB_INTERRUPTED = 1, "The operation was interrupted.";
    DAT_RESOURCE_MEMORY = 2, "Memory.";
    DAT_RESOURCE_DEVICE = 3, "Resources of the device.";
    DAT_RESOURCE_TEP = 4, "Transport endpoints.";
    DAT_RESOURCE_TEVD = 5, "Transport event queues.";
    DAT_RESOURCE_PROTECTION_DOMAIN = 6, "Protection domains.";
    DAT_RESOURCE_MEMORY_REGION = 7, "Memory regions, or memory that may be registered.";
    DAT_RESOURCE_ERROR_HANDLER = 8, "Error handlers.";
    DAT_RESOURCE_CREDITS = 9, "Credits.";
    DAT_RESOURCE_SRQ = 10, "Shared receive queues.";
    DAT_INVALID_HANDLE_IA = 11, "Interface adapter.";
    DAT_INVALID_HANDLE_EP = 12, "Endpoint.";
    DAT_INVALID_HANDLE_LMR = 13, "Local memory region.";
    DAT_INVALID_HANDLE_RMR = 14, "Remote memory region.";
    DAT_INVALID_HANDLE_PZ = 15, "Protection zone.";
    DAT_INVALID_HANDLE_PSP = 16, "Public service point.";
    DAT_INVALID_HANDLE_RSP = 17, "Reserved service point.";
    DAT_INVALID_HANDLE_CR = 18, "Connection request.";
    DAT_INVALID_HANDLE_CNO = 19, "Notification object.";
    DAT_INVALID_HANDLE_EVD_CR = 20, "Event dispatcher for connection requests.";
    DAT_INVALID_HANDLE_EVD_REQUEST = 21, "Event dispatcher for request completions.";
    DAT_INVALID_HANDLE_EVD_RECV = 22, "Event dispatcher for receive completions.";
    DAT_INVALID_HANDLE_EVD_CONN = 23, "Event dispatcher for connection events.";
    DAT_INVALID_HANDLE_EVD_ASYNC = 24, "Event dispatcher for asynchronous events.";
    DAT_INVALID_HANDLE_SRQ = 25, "Shared receive queue.";
}

/// Returns the class bit of a warning: not 0 for a warning.
#[must_use]
pub const fn DAT_IS_WARNING(status: DAT_RETURN) -> DAT_RETURN {
    status & DAT_CLASS_WARNING
}

/// Returns the type of a return code, without class and subtype.
#[must_use]
pub const fn DAT_GET_TYPE(status: DAT_RETURN) -> DAT_RETURN {
    status & DAT_TYPE_MASK
}

/// Returns the subtype of a return code.
#[must_use]
pub const fn DAT_GET_SUBTYPE(status: DAT_RETURN) -> DAT_RETURN {
    status & DAT_SUBTYPE_MASK
}

/// Returns the return code of an error. No header contains this function, because programs only decode return codes.
#[must_use]
pub const fn DAT_ERROR(type_: DAT_RETURN_TYPE, subtype: DAT_RETURN_SUBTYPE) -> DAT_RETURN {
    DAT_CLASS_ERROR | type_ | subtype
}
