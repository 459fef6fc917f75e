//! Events

use super::types::*;

pub use dat_udat::dat::event::*;

place!(dto_completion);

c_struct! {
    /// Data of DAT_DTO_COMPLETION_EVENT.
    struct dat_dto_completion_event_data as DAT_DTO_COMPLETION_EVENT_DATA;
    ep_handle: DAT_EP_HANDLE, "The endpoint.";
    user_cookie: DAT_DTO_COOKIE, "The cookie of the post.";
    status: DAT_DTO_COMPLETION_STATUS, "Its status.";
    transfered_length: DAT_VLEN, "Transferred bytes, if it succeeded.";
}

place!(cr_arrival);

c_struct! {
    /// A service point of either kind.
    union dat_sp_handle as DAT_SP_HANDLE;
    rsp_handle: DAT_RSP_HANDLE, "Reserved service point.";
    psp_handle: DAT_PSP_HANDLE, "Public service point.";
}

c_struct! {
    /// Data of DAT_CONNECTION_REQUEST_EVENT.
    struct dat_cr_arrival_event_data as DAT_CR_ARRIVAL_EVENT_DATA;
    sp_handle: DAT_SP_HANDLE, "The service point at which the request arrived.";
    local_ia_address_ptr: DAT_IA_ADDRESS_PTR, "The local address to which the peer connects.";
    conn_qual: DAT_CONN_QUAL, "The qualifier to which the peer connects.";
    cr_handle: DAT_CR_HANDLE, "The request, for dat_cr_accept, dat_cr_reject or dat_cr_handoff.";
}

place!(event);

c_struct! {
    /// Data of an event. event_number determines the valid member.
    union dat_event_data as DAT_EVENT_DATA;
    dto_completion_event_data: DAT_DTO_COMPLETION_EVENT_DATA, "DAT_DTO_COMPLETION_EVENT.";
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
}
