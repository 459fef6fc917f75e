//! Return codes
//!
//! A return code has 32 bits: class (31 and 30), type (29 to 16), subtype (15 to 0).

use crate::c_enum_with_names as c_enum;
use crate::dat_platform_specific::DAT_UINT32;

/// Return code of every function: class, type and subtype or-ed; 0 is success.
pub type DAT_RETURN = DAT_UINT32;

/// Class of a return code: error.
pub const DAT_CLASS_ERROR: DAT_RETURN = 0x80000000;

/// Class of a return code: warning.
pub const DAT_CLASS_WARNING: DAT_RETURN = 0x40000000;

/// Class of a return code: success.
pub const DAT_CLASS_SUCCESS: DAT_RETURN = 0x00000000;

/// The bits of the type in a return code.
pub const DAT_TYPE_MASK: DAT_RETURN = 0x3FFF0000;

/// The bits of the subtype in a return code.
pub const DAT_SUBTYPE_MASK: DAT_RETURN = 0x0000FFFF;

c_enum! {
    /// Type of a return code, bits 16 to 29: the kind of result.
    pub enum dat_return_type as DAT_RETURN_TYPE {
        /// The call succeeded.
        DAT_SUCCESS = 0x00000000,
        /// The object was destroyed during the call.
        DAT_ABORT = 0x00010000,
        /// Another service point listens on the connection qualifier.
        DAT_CONN_QUAL_IN_USE = 0x00020000,
        /// A resource ran out; the subtype names it.
        DAT_INSUFFICIENT_RESOURCES = 0x00030000,
        /// The implementation failed.
        DAT_INTERNAL_ERROR = 0x00040000,
        /// A handle is NULL, stale, or of the wrong kind; the subtype says which one.
        DAT_INVALID_HANDLE = 0x00050000,
        /// An argument is not acceptable; the subtype says which one.
        DAT_INVALID_PARAMETER = 0x00060000,
        /// The object is in a state that does not allow the call; the subtype names the state.
        DAT_INVALID_STATE = 0x00070000,
        /// The lengths of the local and the remote memory do not fit together.
        DAT_LENGTH_ERROR = 0x00080000,
        /// The provider does not support the request.
        DAT_MODEL_NOT_SUPPORTED = 0x00090000,
        /// No provider of that name, version and thread safety is registered or could be loaded.
        DAT_PROVIDER_NOT_FOUND = 0x000A0000,
        /// A memory region lacks a right.
        DAT_PRIVILEGES_VIOLATION = 0x000B0000,
        /// Objects belong to different protection zones.
        DAT_PROTECTION_VIOLATION = 0x000C0000,
        /// No event is queued.
        DAT_QUEUE_EMPTY = 0x000D0000,
        /// The event dispatcher has no room.
        DAT_QUEUE_FULL = 0x000E0000,
        /// Time ran out.
        DAT_TIMEOUT_EXPIRED = 0x000F0000,
        /// A provider of that identity is registered.
        DAT_PROVIDER_ALREADY_REGISTERED = 0x00100000,
        /// The provider has open adapters.
        DAT_PROVIDER_IN_USE = 0x00110000,
        /// The remote address cannot be used.
        DAT_INVALID_ADDRESS = 0x00120000,
        /// A signal interrupted the call.
        DAT_INTERRUPTED_CALL = 0x00130000,
        /// No connection qualifier is free.
        DAT_CONN_QUAL_UNAVAILABLE = 0x00140000,
    }
}

/// Older name of DAT_PROVIDER_NOT_FOUND.
pub const DAT_NAME_NOT_FOUND: DAT_RETURN_TYPE = DAT_PROVIDER_NOT_FOUND;

c_enum! {
    /// Subtype of a return code, bits 0 to 15: the argument, handle, state or resource concerned.
    pub enum dat_return_subtype as DAT_RETURN_SUBTYPE {
        /// No further information.
        DAT_NO_SUBTYPE = 0,
        /// The operation was interrupted.
        DAT_SUB_INTERRUPTED = 1,
        /// Memory.
        DAT_RESOURCE_MEMORY = 2,
        /// Resources of the device.
        DAT_RESOURCE_DEVICE = 3,
        /// Transport endpoints.
        DAT_RESOURCE_TEP = 4,
        /// Transport event queues.
        DAT_RESOURCE_TEVD = 5,
        /// Protection domains.
        DAT_RESOURCE_PROTECTION_DOMAIN = 6,
        /// Memory regions, or memory that may be registered.
        DAT_RESOURCE_MEMORY_REGION = 7,
        /// Error handlers.
        DAT_RESOURCE_ERROR_HANDLER = 8,
        /// Credits.
        DAT_RESOURCE_CREDITS = 9,
        /// Shared receive queues.
        DAT_RESOURCE_SRQ = 10,
        /// Interface adapter.
        DAT_INVALID_HANDLE_IA = 11,
        /// Endpoint.
        DAT_INVALID_HANDLE_EP = 12,
        /// Local memory region.
        DAT_INVALID_HANDLE_LMR = 13,
        /// Remote memory region.
        DAT_INVALID_HANDLE_RMR = 14,
        /// Protection zone.
        DAT_INVALID_HANDLE_PZ = 15,
        /// Public service point.
        DAT_INVALID_HANDLE_PSP = 16,
        /// Reserved service point.
        DAT_INVALID_HANDLE_RSP = 17,
        /// Connection request.
        DAT_INVALID_HANDLE_CR = 18,
        /// Notification object.
        DAT_INVALID_HANDLE_CNO = 19,
        /// Event dispatcher for connection requests.
        DAT_INVALID_HANDLE_EVD_CR = 20,
        /// Event dispatcher for request completions.
        DAT_INVALID_HANDLE_EVD_REQUEST = 21,
        /// Event dispatcher for receive completions.
        DAT_INVALID_HANDLE_EVD_RECV = 22,
        /// Event dispatcher for connection events.
        DAT_INVALID_HANDLE_EVD_CONN = 23,
        /// Event dispatcher for asynchronous events.
        DAT_INVALID_HANDLE_EVD_ASYNC = 24,
        /// Shared receive queue.
        DAT_INVALID_HANDLE_SRQ = 25,
    }
}

/// Class bit of a warning in a return code: not 0 for a warning.
#[must_use]
pub const fn DAT_IS_WARNING(status: DAT_RETURN) -> DAT_RETURN {
    status & DAT_CLASS_WARNING
}

/// Type of a return code, without class and subtype.
#[must_use]
pub const fn DAT_GET_TYPE(status: DAT_RETURN) -> DAT_RETURN {
    status & DAT_TYPE_MASK
}

/// Subtype of a return code.
#[must_use]
pub const fn DAT_GET_SUBTYPE(status: DAT_RETURN) -> DAT_RETURN {
    status & DAT_SUBTYPE_MASK
}

/// The return code of an error of this type and subtype. It is in no header, because programs
/// only take codes apart.
#[must_use]
pub const fn DAT_ERROR(type_: DAT_RETURN_TYPE, subtype: DAT_RETURN_SUBTYPE) -> DAT_RETURN {
    DAT_CLASS_ERROR | type_ | subtype
}
