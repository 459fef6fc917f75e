//! Events

use super::memory::DAT_RMR_CONTEXT;
use super::types::*;
use crate::dat_platform_specific::*;

pub use dat_udat::dat::event::*;

c_members! {
    DAT_EVD_FLAGS;
    DAT_EVD_EXTENSION_BASE = 0x200, "First kind that extensions define.";
}

c_members! {
    DAT_DTO_COMPLETION_STATUS;
    DAT_DTO_ERR_LOCAL_MM_ERROR = 12, "Only in the kernel-level interface.";
}

place!(dto_completion);

c_enum! {
    /// Kinds of operations that complete.
    dat_dtos as DAT_DTOS;
    DAT_DTO_SEND = 0, "Send.";
    DAT_DTO_RDMA_WRITE = 1, "RDMA write.";
    DAT_DTO_RDMA_READ = 2, "RDMA read.";
    DAT_DTO_RECEIVE = 3, "Receive.";
    DAT_DTO_RECEIVE_WITH_INVALIDATE = 4,
        "Receive of a message that invalidated a context, see dat_ep_post_send_with_invalidate.";
    DAT_DTO_BIND_MW = 5, "Not used: a bind of a remote memory region has an event of its own.";
    DAT_DTO_LMR_FMR = 6, "Only in the kernel-level interface.";
    DAT_DTO_LMR_INVALIDATE = 7, "Only in the kernel-level interface.";
    DAT_DTO_EXTENSION_BASE = 8, "First kind that extensions define.";
}

c_struct! {
    /// Data of DAT_DTO_COMPLETION_EVENT.
    struct dat_dto_completion_event_data as DAT_DTO_COMPLETION_EVENT_DATA;
    ep_handle: DAT_EP_HANDLE, "The endpoint.";
    user_cookie: DAT_DTO_COOKIE, "The cookie of the post.";
    status: DAT_DTO_COMPLETION_STATUS, "Its status.";
    transfered_length: DAT_SEG_LENGTH, "Transferred bytes, if it succeeded.";
    operation: DAT_DTOS, "The kind of operation.";
    rmr_context: DAT_RMR_CONTEXT, "The invalidated context, for a successful DAT_DTO_RECEIVE_WITH_INVALIDATE; else 0.";
}

place!(cr_arrival);

c_struct! {
    /// A service point of any kind.
    union dat_sp_handle as DAT_SP_HANDLE;
    rsp_handle: DAT_RSP_HANDLE, "Reserved service point.";
    psp_handle: DAT_PSP_HANDLE, "Public service point.";
    csp_handle: DAT_CSP_HANDLE, "Common service point.";
}

c_struct! {
    /// Data of DAT_CONNECTION_REQUEST_EVENT.
    struct dat_cr_arrival_event_data as DAT_CR_ARRIVAL_EVENT_DATA;
    sp_handle: DAT_SP_HANDLE, "The service point at which the request arrived.";
    local_ia_address_ptr: DAT_IA_ADDRESS_PTR, "The local address to which the peer connects.";
    conn_qual: DAT_CONN_QUAL, "The qualifier to which the peer connects.";
    cr_handle: DAT_CR_HANDLE, "The request, for dat_cr_accept, dat_cr_reject or dat_cr_handoff.";
    truncate_flag: DAT_BOOLEAN, "True if private data was truncated.";
}

c_members! {
    DAT_EVENT_NUMBER;
    DAT_HA_DOWN_TO_1 = 0x08101, "A connection has only one path left.";
    DAT_HA_UP_TO_MULTI_PATH = 0x08102, "A connection has several paths again.";
    DAT_EXTENSION_EVENT = 0x20000, "First number that extensions define.";
    DAT_IB_EXTENSION_RANGE_BASE = 0x40000, "First number of the extensions for InfiniBand.";
    DAT_IW_EXTENSION_RANGE_BASE = 0x80000, "First number of the extensions for iWARP.";
}

place!(event);

c_struct! {
    /// Data of an event. event_number determines the valid member.
    union dat_event_data as DAT_EVENT_DATA;
    dto_completion_event_data: DAT_DTO_COMPLETION_EVENT_DATA,
        "DAT_DTO_COMPLETION_EVENT, and DAT_IB_DTO_EVENT of the extensions.";
    rmr_completion_event_data: DAT_RMR_BIND_COMPLETION_EVENT_DATA, "DAT_RMR_BIND_COMPLETION_EVENT.";
    cr_arrival_event_data: DAT_CR_ARRIVAL_EVENT_DATA, "DAT_CONNECTION_REQUEST_EVENT.";
    connect_event_data: DAT_CONNECTION_EVENT_DATA, "The connection events.";
    asynch_error_event_data: DAT_ASYNCH_ERROR_EVENT_DATA, "The asynchronous events.";
    software_event_data: DAT_SOFTWARE_EVENT_DATA, "DAT_SOFTWARE_EVENT.";
}

c_struct! {
    /// An event that dat_evd_wait or dat_evd_dequeue returns.
    struct dat_event as DAT_EVENT;
    event_number: DAT_EVENT_NUMBER, "The kind of event.";
    evd_handle: DAT_EVD_HANDLE, "The event dispatcher.";
    event_data: DAT_EVENT_DATA, "Its data.";
    event_extension_data: [DAT_UINT64; 8], "Further data if event_number is DAT_EXTENSION_EVENT or above.";
}
