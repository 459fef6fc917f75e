//! Events

use super::types::*;
use crate::dat_platform_specific::*;
use crate::udat::dat_evd_param;

c_enum! {
    /// Kinds of events that an event dispatcher admits.
    dat_evd_flags as DAT_EVD_FLAGS;
    DAT_EVD_SOFTWARE_FLAG = 0x001, "Software events.";
    DAT_EVD_CR_FLAG = 0x010, "Connection requests.";
    DAT_EVD_DTO_FLAG = 0x020, "Completions of data transfers.";
    DAT_EVD_CONNECTION_FLAG = 0x040, "Connection events.";
    DAT_EVD_RMR_BIND_FLAG = 0x080, "Completions of binds.";
    DAT_EVD_ASYNC_FLAG = 0x100, "Asynchronous errors and watermarks.";
    DAT_EVD_DEFAULT_FLAG = 0x1F0, "All but software events.";
}

/// Parameters of an event dispatcher, see dat_evd_query.
pub type DAT_EVD_PARAM = dat_evd_param;

c_enum! {
    /// Selects fields of DAT_EVD_PARAM.
    dat_evd_param_mask as DAT_EVD_PARAM_MASK;
    DAT_EVD_FIELD_IA_HANDLE = 0x01, "Selects ia_handle.";
    DAT_EVD_FIELD_EVD_QLEN = 0x02, "Selects evd_qlen.";
    DAT_EVD_FIELD_EVD_STATE = 0x04, "Selects evd_state.";
    DAT_EVD_FIELD_CNO = 0x08, "Selects cno_handle.";
    DAT_EVD_FIELD_EVD_FLAGS = 0x10, "Selects evd_flags.";
    DAT_EVD_FIELD_ALL = 0x1F, "Selects all fields.";
}

c_enum_with_names! {
    /// Status of a data transfer or a bind.
    dat_dto_completion_status as DAT_DTO_COMPLETION_STATUS;
    DAT_DTO_SUCCESS = 0, "Success.";
    DAT_DTO_ERR_FLUSHED = 1, "Not executed, because the connection ended or does not exist.";
    DAT_DTO_ERR_LOCAL_LENGTH = 2, "Message longer than the local memory, or another local length problem.";
    DAT_DTO_ERR_LOCAL_EP = 3, "The local endpoint failed.";
    DAT_DTO_ERR_LOCAL_PROTECTION = 4, "Local memory: wrong zone, privilege, bounds or context.";
    DAT_DTO_ERR_BAD_RESPONSE = 5, "The remote side sent an unexpected response.";
    DAT_DTO_ERR_REMOTE_ACCESS = 6, "Remote memory: wrong zone, privilege, bounds or context.";
    DAT_DTO_ERR_REMOTE_RESPONDER = 7, "The remote side could not execute the operation.";
    DAT_DTO_ERR_TRANSPORT = 8, "The transport failed after all its retries.";
    DAT_DTO_ERR_RECEIVER_NOT_READY = 9, "No receive was posted at the remote side.";
    DAT_DTO_ERR_PARTIAL_PACKET = 10, "A packet was incomplete.";
    DAT_RMR_OPERATION_FAILED = 11, "The bind failed.";
}

/// Older name of DAT_DTO_ERR_LOCAL_LENGTH.
pub const DAT_DTO_LENGTH_ERROR: DAT_DTO_COMPLETION_STATUS = DAT_DTO_ERR_LOCAL_LENGTH;

/// Older name of DAT_DTO_ERR_FLUSHED.
pub const DAT_DTO_FAILURE: DAT_DTO_COMPLETION_STATUS = DAT_DTO_ERR_FLUSHED;

/// Status of a bind: the values for a data transfer.
pub type DAT_RMR_BIND_COMPLETION_STATUS = DAT_DTO_COMPLETION_STATUS;

/// The bind succeeded.
pub const DAT_RMR_BIND_SUCCESS: DAT_RMR_BIND_COMPLETION_STATUS = DAT_DTO_SUCCESS;

/// The bind was flushed.
pub const DAT_RMR_BIND_FAILURE: DAT_RMR_BIND_COMPLETION_STATUS = DAT_DTO_ERR_FLUSHED;

place!(dto_completion);

c_struct! {
    /// Data of DAT_RMR_BIND_COMPLETION_EVENT.
    struct dat_rmr_bind_completion_event_data as DAT_RMR_BIND_COMPLETION_EVENT_DATA;
    rmr_handle: DAT_RMR_HANDLE, "The bound region.";
    user_cookie: DAT_RMR_COOKIE, "The cookie of the post.";
    status: DAT_DTO_COMPLETION_STATUS, "Its status.";
}

place!(cr_arrival);

c_struct! {
    /// Data of the connection events.
    struct dat_connection_event_data as DAT_CONNECTION_EVENT_DATA;
    ep_handle: DAT_EP_HANDLE, "The endpoint.";
    private_data_size: DAT_COUNT, "Bytes of private data from the accepting side.";
    private_data: DAT_PVOID, "The private data.";
}

c_struct! {
    /// Data of the asynchronous events.
    struct dat_asynch_error_event_data as DAT_ASYNCH_ERROR_EVENT_DATA;
    dat_handle: DAT_HANDLE, "The object of the event.";
    reason: DAT_COUNT, "The reason, from the enumeration for the kind of dat_handle.";
}

c_enum! {
    /// Reason of an asynchronous event whose dat_handle is an interface adapter.
    ia_async_error_reason as DAT_IA_ASYNC_ERROR_REASON;
    DAT_IA_CATASTROPHIC_ERROR = 0, "The adapter has failed.";
    DAT_IA_OTHER_ERROR = 1, "Any other error.";
}

c_enum! {
    /// Reason of an asynchronous event whose dat_handle is an endpoint.
    ep_async_error_reason as DAT_EP_ASYNC_ERROR_REASON;
    DAT_EP_TRANSFER_TO_ERROR = 0, "The endpoint entered an error state.";
    DAT_EP_OTHER_ERROR = 1,
        "Any other error. Also the end of a connection, with DAT_ASYNC_ERROR_EP_BROKEN in uDAPL"
        "2.0.";
    DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT = 2, "The endpoint holds more receive buffers than its soft high watermark.";
}

c_enum! {
    /// Reason of an asynchronous event whose dat_handle is an event dispatcher.
    evd_async_error_reason as DAT_EVD_ASYNC_ERROR_REASON;
    DAT_EVD_OVERFLOW_ERROR = 0, "The queue was full, and an event is lost.";
    DAT_EVD_OTHER_ERROR = 1, "Any other error.";
}

c_enum! {
    /// Reason of an asynchronous event whose dat_handle is a shared receive queue.
    srq_async_error_reason as DAT_SRQ_ASYNC_ERROR_REASON;
    DAT_SRQ_TRANSFER_TO_ERROR = 0, "The queue entered the error state.";
    DAT_SRQ_OTHER_ERROR = 1, "Any other error.";
    DAT_SRQ_LOW_WATERMARK_EVENT = 2, "Fewer buffers are available than the low watermark, see dat_srq_set_lw.";
}

c_enum! {
    /// Reason of an asynchronous event whose dat_handle is a local memory region.
    lmr_async_error_reason as DAT_LMR_ASYNC_ERROR_REASON;
    DAT_LMR_OTHER_ERROR = 0, "Any error.";
}

c_enum! {
    /// Reason of an asynchronous event whose dat_handle is a remote memory region.
    rmr_async_error_reason as DAT_RMR_ASYNC_ERROR_REASON;
    DAT_RMR_OTHER_ERROR = 0, "Any error.";
}

c_enum! {
    /// Reason of an asynchronous event whose dat_handle is a protection zone.
    pz_async_error_reason as DAT_PZ_ASYNC_ERROR_REASON;
    DAT_PZ_OTHER_ERROR = 0, "Any error.";
}

c_struct! {
    /// Data of DAT_SOFTWARE_EVENT.
    struct dat_software_event_data as DAT_SOFTWARE_EVENT_DATA;
    pointer: DAT_PVOID, "The pointer that was passed to dat_evd_post_se.";
}

c_enum_with_names! {
    /// Kind of an event.
    dat_event_number as DAT_EVENT_NUMBER;
    DAT_DTO_COMPLETION_EVENT = 0x00001, "A data transfer completed.";
    DAT_RMR_BIND_COMPLETION_EVENT = 0x01001, "A bind completed.";
    DAT_CONNECTION_REQUEST_EVENT = 0x02001, "A peer requests a connection.";
    DAT_CONNECTION_EVENT_ESTABLISHED = 0x04001, "The endpoint is connected.";
    DAT_CONNECTION_EVENT_PEER_REJECTED = 0x04002, "The remote program rejected the request.";
    DAT_CONNECTION_EVENT_NON_PEER_REJECTED = 0x04003,
        "The request failed: the peer has no listener or no free backlog entry, or the"
        "transport failed. The remote program did not reject it.";
    DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR = 0x04004, "An accepted connection could not be completed.";
    DAT_CONNECTION_EVENT_DISCONNECTED = 0x04005, "Either side disconnected.";
    DAT_CONNECTION_EVENT_BROKEN = 0x04006, "An error ended the connection.";
    DAT_CONNECTION_EVENT_TIMED_OUT = 0x04007, "The timeout of dat_ep_connect expired.";
    DAT_CONNECTION_EVENT_UNREACHABLE = 0x04008, "The remote address is unreachable.";
    DAT_ASYNC_ERROR_EVD_OVERFLOW = 0x08001, "An event dispatcher was full and lost an event.";
    DAT_ASYNC_ERROR_IA_CATASTROPHIC = 0x08002, "The adapter has failed.";
    DAT_ASYNC_ERROR_EP_BROKEN = 0x08003,
        "An endpoint entered an error state. In uDAPL 2.0, also each end of a connection of an"
        "endpoint with a shared receive queue, even a normal end. The program may have freed the"
        "endpoint before it takes the event.";
    DAT_ASYNC_ERROR_TIMED_OUT = 0x08004, "An operation timed out.";
    DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR = 0x08005,
        "The provider reports an event of dat_handle. Watermark events have this"
        "number; see reason.";
    DAT_SOFTWARE_EVENT = 0x10001, "Posted by dat_evd_post_se.";
}

place!(event);
