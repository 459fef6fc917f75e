//! Events

use super::types::*;
use crate::dat_platform_specific::*;
use crate::names::c_enum;
use crate::udat::dat_evd_param;

/// Kinds of events that an event dispatcher admits.
pub type DAT_EVD_FLAGS = c_enum;
pub const DAT_EVD_SOFTWARE_FLAG: DAT_EVD_FLAGS = 0x001;
pub const DAT_EVD_CR_FLAG: DAT_EVD_FLAGS = 0x010;
/// Completions of data transfers.
pub const DAT_EVD_DTO_FLAG: DAT_EVD_FLAGS = 0x020;
pub const DAT_EVD_CONNECTION_FLAG: DAT_EVD_FLAGS = 0x040;
/// Completions of binds.
pub const DAT_EVD_RMR_BIND_FLAG: DAT_EVD_FLAGS = 0x080;
/// Asynchronous errors and watermarks.
pub const DAT_EVD_ASYNC_FLAG: DAT_EVD_FLAGS = 0x100;
/// All but software events.
pub const DAT_EVD_DEFAULT_FLAG: DAT_EVD_FLAGS = 0x1F0;

/// Parameters of an event dispatcher, see dat_evd_query.
pub type DAT_EVD_PARAM = dat_evd_param;

/// Selects fields of DAT_EVD_PARAM.
pub type DAT_EVD_PARAM_MASK = c_enum;
pub const DAT_EVD_FIELD_IA_HANDLE: DAT_EVD_PARAM_MASK = 0x01;
pub const DAT_EVD_FIELD_EVD_QLEN: DAT_EVD_PARAM_MASK = 0x02;
pub const DAT_EVD_FIELD_EVD_STATE: DAT_EVD_PARAM_MASK = 0x04;
/// Selects cno_handle.
pub const DAT_EVD_FIELD_CNO: DAT_EVD_PARAM_MASK = 0x08;
pub const DAT_EVD_FIELD_EVD_FLAGS: DAT_EVD_PARAM_MASK = 0x10;
pub const DAT_EVD_FIELD_ALL: DAT_EVD_PARAM_MASK = 0x1F;

/// Status of a data transfer or a bind.
pub type DAT_DTO_COMPLETION_STATUS = c_enum;

named! {
    DAT_DTO_COMPLETION_STATUS;
    pub const DAT_DTO_SUCCESS: DAT_DTO_COMPLETION_STATUS = 0;
    /// Not executed, because the connection ended or does not exist.
    pub const DAT_DTO_ERR_FLUSHED: DAT_DTO_COMPLETION_STATUS = 1;
    /// Message longer than the local memory, or another local length problem.
    pub const DAT_DTO_ERR_LOCAL_LENGTH: DAT_DTO_COMPLETION_STATUS = 2;
    /// The local endpoint failed.
    pub const DAT_DTO_ERR_LOCAL_EP: DAT_DTO_COMPLETION_STATUS = 3;
    /// Local memory: wrong zone, missing privilege, wrong bounds or stale context.
    pub const DAT_DTO_ERR_LOCAL_PROTECTION: DAT_DTO_COMPLETION_STATUS = 4;
    /// The remote side sent an unexpected response.
    pub const DAT_DTO_ERR_BAD_RESPONSE: DAT_DTO_COMPLETION_STATUS = 5;
    /// Remote memory: wrong zone, missing privilege, wrong bounds or stale context.
    pub const DAT_DTO_ERR_REMOTE_ACCESS: DAT_DTO_COMPLETION_STATUS = 6;
    /// The remote side could not execute the operation; its receive may be too short.
    pub const DAT_DTO_ERR_REMOTE_RESPONDER: DAT_DTO_COMPLETION_STATUS = 7;
    /// The transport failed after all its retries.
    pub const DAT_DTO_ERR_TRANSPORT: DAT_DTO_COMPLETION_STATUS = 8;
    /// No receive was posted at the remote side.
    pub const DAT_DTO_ERR_RECEIVER_NOT_READY: DAT_DTO_COMPLETION_STATUS = 9;
    /// A packet was incomplete.
    pub const DAT_DTO_ERR_PARTIAL_PACKET: DAT_DTO_COMPLETION_STATUS = 10;
    /// The bind failed.
    pub const DAT_RMR_OPERATION_FAILED: DAT_DTO_COMPLETION_STATUS = 11;
}

/// Older name of DAT_DTO_ERR_LOCAL_LENGTH.
pub const DAT_DTO_LENGTH_ERROR: DAT_DTO_COMPLETION_STATUS = DAT_DTO_ERR_LOCAL_LENGTH;
/// Older name of DAT_DTO_ERR_FLUSHED.
pub const DAT_DTO_FAILURE: DAT_DTO_COMPLETION_STATUS = DAT_DTO_ERR_FLUSHED;

/// Status of a bind, with the same values as for a data transfer.
pub type DAT_RMR_BIND_COMPLETION_STATUS = DAT_DTO_COMPLETION_STATUS;
/// The bind succeeded.
pub const DAT_RMR_BIND_SUCCESS: DAT_RMR_BIND_COMPLETION_STATUS = DAT_DTO_SUCCESS;
/// The bind was flushed.
pub const DAT_RMR_BIND_FAILURE: DAT_RMR_BIND_COMPLETION_STATUS = DAT_DTO_ERR_FLUSHED;

/// Data of DAT_RMR_BIND_COMPLETION_EVENT.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DAT_RMR_BIND_COMPLETION_EVENT_DATA {
    /// The remote memory region.
    pub rmr_handle: DAT_RMR_HANDLE,
    /// The cookie that was passed to dat_rmr_bind.
    pub user_cookie: DAT_RMR_COOKIE,
    /// Status of the bind.
    pub status: DAT_DTO_COMPLETION_STATUS,
}

/// Data of the connection events.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_CONNECTION_EVENT_DATA {
    /// The endpoint.
    pub ep_handle: DAT_EP_HANDLE,
    /// Bytes of private data that the peer sent, such as with dat_cr_accept; 0 without data.
    pub private_data_size: DAT_COUNT,
    /// The private data.
    pub private_data: DAT_PVOID,
}

/// Data of the asynchronous events.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_ASYNCH_ERROR_EVENT_DATA {
    /// The object of the event.
    pub dat_handle: DAT_HANDLE,
    /// The reason, from the enumeration for the kind of dat_handle.
    pub reason: DAT_COUNT,
}

/// Reason of an asynchronous event whose dat_handle is an interface adapter.
pub type DAT_IA_ASYNC_ERROR_REASON = c_enum;
/// The adapter has failed.
pub const DAT_IA_CATASTROPHIC_ERROR: DAT_IA_ASYNC_ERROR_REASON = 0;
/// Any other error.
pub const DAT_IA_OTHER_ERROR: DAT_IA_ASYNC_ERROR_REASON = 1;

/// Reason of an asynchronous event whose dat_handle is an endpoint.
pub type DAT_EP_ASYNC_ERROR_REASON = c_enum;
/// The endpoint entered an error state.
pub const DAT_EP_TRANSFER_TO_ERROR: DAT_EP_ASYNC_ERROR_REASON = 0;
/// Any other error. Also the end of a connection, with DAT_ASYNC_ERROR_EP_BROKEN in uDAPL
/// 2.0.
pub const DAT_EP_OTHER_ERROR: DAT_EP_ASYNC_ERROR_REASON = 1;
/// The endpoint holds more receive buffers than its soft high watermark.
pub const DAT_SRQ_SOFT_HIGH_WATERMARK_EVENT: DAT_EP_ASYNC_ERROR_REASON = 2;

/// Reason of an asynchronous event whose dat_handle is an event dispatcher.
pub type DAT_EVD_ASYNC_ERROR_REASON = c_enum;
/// The queue was full, and an event is lost.
pub const DAT_EVD_OVERFLOW_ERROR: DAT_EVD_ASYNC_ERROR_REASON = 0;
/// Any other error.
pub const DAT_EVD_OTHER_ERROR: DAT_EVD_ASYNC_ERROR_REASON = 1;

/// Reason of an asynchronous event whose dat_handle is a shared receive queue.
pub type DAT_SRQ_ASYNC_ERROR_REASON = c_enum;
/// The queue entered the error state.
pub const DAT_SRQ_TRANSFER_TO_ERROR: DAT_SRQ_ASYNC_ERROR_REASON = 0;
/// Any other error.
pub const DAT_SRQ_OTHER_ERROR: DAT_SRQ_ASYNC_ERROR_REASON = 1;
/// Fewer buffers are available than the low watermark, see dat_srq_set_lw.
pub const DAT_SRQ_LOW_WATERMARK_EVENT: DAT_SRQ_ASYNC_ERROR_REASON = 2;

/// Reason of an asynchronous event whose dat_handle is a local memory region.
pub type DAT_LMR_ASYNC_ERROR_REASON = c_enum;
/// Any error.
pub const DAT_LMR_OTHER_ERROR: DAT_LMR_ASYNC_ERROR_REASON = 0;

/// Reason of an asynchronous event whose dat_handle is a remote memory region.
pub type DAT_RMR_ASYNC_ERROR_REASON = c_enum;
/// Any error.
pub const DAT_RMR_OTHER_ERROR: DAT_RMR_ASYNC_ERROR_REASON = 0;

/// Reason of an asynchronous event whose dat_handle is a protection zone.
pub type DAT_PZ_ASYNC_ERROR_REASON = c_enum;
/// Any error.
pub const DAT_PZ_OTHER_ERROR: DAT_PZ_ASYNC_ERROR_REASON = 0;

/// Data of DAT_SOFTWARE_EVENT.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_SOFTWARE_EVENT_DATA {
    /// The pointer that was passed to dat_evd_post_se.
    pub pointer: DAT_PVOID,
}

/// Kind of an event.
pub type DAT_EVENT_NUMBER = c_enum;

named! {
    DAT_EVENT_NUMBER;
    pub const DAT_DTO_COMPLETION_EVENT: DAT_EVENT_NUMBER = 0x00001;
    pub const DAT_RMR_BIND_COMPLETION_EVENT: DAT_EVENT_NUMBER = 0x01001;
    /// A peer requests a connection.
    pub const DAT_CONNECTION_REQUEST_EVENT: DAT_EVENT_NUMBER = 0x02001;
    /// The endpoint is connected.
    pub const DAT_CONNECTION_EVENT_ESTABLISHED: DAT_EVENT_NUMBER = 0x04001;
    /// The remote program rejected the request.
    pub const DAT_CONNECTION_EVENT_PEER_REJECTED: DAT_EVENT_NUMBER = 0x04002;
    /// The request failed: the peer has no listener or no free backlog entry, or the transport failed. The remote
    /// program did not reject it.
    pub const DAT_CONNECTION_EVENT_NON_PEER_REJECTED: DAT_EVENT_NUMBER = 0x04003;
    /// An accepted connection could not be completed.
    pub const DAT_CONNECTION_EVENT_ACCEPT_COMPLETION_ERROR: DAT_EVENT_NUMBER = 0x04004;
    /// Either side disconnected.
    pub const DAT_CONNECTION_EVENT_DISCONNECTED: DAT_EVENT_NUMBER = 0x04005;
    /// An error ended the connection.
    pub const DAT_CONNECTION_EVENT_BROKEN: DAT_EVENT_NUMBER = 0x04006;
    /// The timeout of dat_ep_connect expired.
    pub const DAT_CONNECTION_EVENT_TIMED_OUT: DAT_EVENT_NUMBER = 0x04007;
    /// The remote address is unreachable.
    pub const DAT_CONNECTION_EVENT_UNREACHABLE: DAT_EVENT_NUMBER = 0x04008;
    /// An event dispatcher was full and lost an event.
    pub const DAT_ASYNC_ERROR_EVD_OVERFLOW: DAT_EVENT_NUMBER = 0x08001;
    /// The adapter has failed.
    pub const DAT_ASYNC_ERROR_IA_CATASTROPHIC: DAT_EVENT_NUMBER = 0x08002;
    /// An endpoint entered an error state. In uDAPL 2.0, also each end of a connection of an endpoint with a shared
    /// receive queue, even a normal end. The program may have freed the endpoint before it takes the event.
    pub const DAT_ASYNC_ERROR_EP_BROKEN: DAT_EVENT_NUMBER = 0x08003;
    /// An operation timed out.
    pub const DAT_ASYNC_ERROR_TIMED_OUT: DAT_EVENT_NUMBER = 0x08004;
    /// The provider reports an event of the object dat_handle. Watermark events have this number, too. See reason.
    pub const DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR: DAT_EVENT_NUMBER = 0x08005;
    /// Posted by dat_evd_post_se.
    pub const DAT_SOFTWARE_EVENT: DAT_EVENT_NUMBER = 0x10001;
}
