//! Return codes
//!
//! A return code has 32 bits: class (31 and 30), type (29 to 16), subtype (15 to 0).

use crate::dat_platform_specific::DAT_UINT32;
use crate::names::c_enum;

/// Return code of every function: class, type and subtype, combined by bitwise or. 0: success.
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

/// Type of a return code, bits 16 to 29: the kind of result.
pub type DAT_RETURN_TYPE = c_enum;

named! {
    DAT_RETURN_TYPE;
    /// The call succeeded.
    pub const DAT_SUCCESS: DAT_RETURN_TYPE = 0x00000000;
    /// The object was destroyed during the call.
    pub const DAT_ABORT: DAT_RETURN_TYPE = 0x00010000;
    /// Another service point listens on the connection qualifier.
    pub const DAT_CONN_QUAL_IN_USE: DAT_RETURN_TYPE = 0x00020000;
    /// A resource ran out; the subtype names the resource.
    pub const DAT_INSUFFICIENT_RESOURCES: DAT_RETURN_TYPE = 0x00030000;
    /// An error in the library or in the provider.
    pub const DAT_INTERNAL_ERROR: DAT_RETURN_TYPE = 0x00040000;
    /// A handle is NULL, stale, or of the wrong kind; the subtype identifies the handle.
    pub const DAT_INVALID_HANDLE: DAT_RETURN_TYPE = 0x00050000;
    /// An argument is invalid; the subtype identifies the argument.
    pub const DAT_INVALID_PARAMETER: DAT_RETURN_TYPE = 0x00060000;
    /// The state of the object does not allow the call; the subtype identifies the state.
    pub const DAT_INVALID_STATE: DAT_RETURN_TYPE = 0x00070000;
    /// A transfer is too long for the adapter, or for the memory at its destination.
    pub const DAT_LENGTH_ERROR: DAT_RETURN_TYPE = 0x00080000;
    /// The provider does not support the request.
    pub const DAT_MODEL_NOT_SUPPORTED: DAT_RETURN_TYPE = 0x00090000;
    /// No provider of that name, version and thread safety is registered or could be loaded.
    pub const DAT_PROVIDER_NOT_FOUND: DAT_RETURN_TYPE = 0x000A0000;
    /// A memory region, or the process, lacks a privilege that the operation needs.
    pub const DAT_PRIVILEGES_VIOLATION: DAT_RETURN_TYPE = 0x000B0000;
    /// Objects belong to different protection zones.
    pub const DAT_PROTECTION_VIOLATION: DAT_RETURN_TYPE = 0x000C0000;
    /// No event is queued.
    pub const DAT_QUEUE_EMPTY: DAT_RETURN_TYPE = 0x000D0000;
    /// The queue of the event dispatcher is full.
    pub const DAT_QUEUE_FULL: DAT_RETURN_TYPE = 0x000E0000;
    /// The timeout expired.
    pub const DAT_TIMEOUT_EXPIRED: DAT_RETURN_TYPE = 0x000F0000;
    /// A provider with this identity is already registered.
    pub const DAT_PROVIDER_ALREADY_REGISTERED: DAT_RETURN_TYPE = 0x00100000;
    /// An adapter of the provider is open.
    pub const DAT_PROVIDER_IN_USE: DAT_RETURN_TYPE = 0x00110000;
    /// An address cannot be used; the subtype gives the reason.
    pub const DAT_INVALID_ADDRESS: DAT_RETURN_TYPE = 0x00120000;
    /// A signal interrupted the call.
    pub const DAT_INTERRUPTED_CALL: DAT_RETURN_TYPE = 0x00130000;
    /// No connection qualifier is free.
    pub const DAT_CONN_QUAL_UNAVAILABLE: DAT_RETURN_TYPE = 0x00140000;
}

/// Older name of DAT_PROVIDER_NOT_FOUND.
pub const DAT_NAME_NOT_FOUND: DAT_RETURN_TYPE = DAT_PROVIDER_NOT_FOUND;

/// Subtype of a return code, bits 0 to 15: the argument, handle, state or resource concerned.
pub type DAT_RETURN_SUBTYPE = c_enum;

named! {
    DAT_RETURN_SUBTYPE;
    /// No further information.
    pub const DAT_NO_SUBTYPE: DAT_RETURN_SUBTYPE = 0;
    /// The operation was interrupted.
    pub const DAT_SUB_INTERRUPTED: DAT_RETURN_SUBTYPE = 1;
    pub const DAT_RESOURCE_MEMORY: DAT_RETURN_SUBTYPE = 2;
    /// Resources of the device.
    pub const DAT_RESOURCE_DEVICE: DAT_RETURN_SUBTYPE = 3;
    /// Transport endpoints.
    pub const DAT_RESOURCE_TEP: DAT_RETURN_SUBTYPE = 4;
    /// Transport event queues.
    pub const DAT_RESOURCE_TEVD: DAT_RETURN_SUBTYPE = 5;
    /// Protection domains.
    pub const DAT_RESOURCE_PROTECTION_DOMAIN: DAT_RETURN_SUBTYPE = 6;
    /// Memory regions, or memory that may be registered.
    pub const DAT_RESOURCE_MEMORY_REGION: DAT_RETURN_SUBTYPE = 7;
    /// Error handlers.
    pub const DAT_RESOURCE_ERROR_HANDLER: DAT_RETURN_SUBTYPE = 8;
    pub const DAT_RESOURCE_CREDITS: DAT_RETURN_SUBTYPE = 9;
    /// Shared receive queues.
    pub const DAT_RESOURCE_SRQ: DAT_RETURN_SUBTYPE = 10;
    pub const DAT_INVALID_HANDLE_IA: DAT_RETURN_SUBTYPE = 11;
    pub const DAT_INVALID_HANDLE_EP: DAT_RETURN_SUBTYPE = 12;
    pub const DAT_INVALID_HANDLE_LMR: DAT_RETURN_SUBTYPE = 13;
    pub const DAT_INVALID_HANDLE_RMR: DAT_RETURN_SUBTYPE = 14;
    pub const DAT_INVALID_HANDLE_PZ: DAT_RETURN_SUBTYPE = 15;
    pub const DAT_INVALID_HANDLE_PSP: DAT_RETURN_SUBTYPE = 16;
    pub const DAT_INVALID_HANDLE_RSP: DAT_RETURN_SUBTYPE = 17;
    pub const DAT_INVALID_HANDLE_CR: DAT_RETURN_SUBTYPE = 18;
    pub const DAT_INVALID_HANDLE_CNO: DAT_RETURN_SUBTYPE = 19;
    /// Event dispatcher for connection requests.
    pub const DAT_INVALID_HANDLE_EVD_CR: DAT_RETURN_SUBTYPE = 20;
    /// Event dispatcher for request completions.
    pub const DAT_INVALID_HANDLE_EVD_REQUEST: DAT_RETURN_SUBTYPE = 21;
    /// Event dispatcher for receive completions.
    pub const DAT_INVALID_HANDLE_EVD_RECV: DAT_RETURN_SUBTYPE = 22;
    /// Event dispatcher for connection events.
    pub const DAT_INVALID_HANDLE_EVD_CONN: DAT_RETURN_SUBTYPE = 23;
    /// Event dispatcher for asynchronous events.
    pub const DAT_INVALID_HANDLE_EVD_ASYNC: DAT_RETURN_SUBTYPE = 24;
    pub const DAT_INVALID_HANDLE_SRQ: DAT_RETURN_SUBTYPE = 25;
}

/// Returns the class bit of a warning: not 0 for a warning.
#[must_use]
pub const fn DAT_IS_WARNING(status: DAT_RETURN) -> DAT_RETURN {
    status & DAT_CLASS_WARNING
}

/// Returns the type of a return code, without class and subtype.
#[must_use]
#[inline] // Each empty poll of a tool calls it.
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
