//! Events

use super::types::*;
use dat_udat::place;

pub use dat_udat::dat::event::*;

place!(dto_completion);

/// Data of DAT_DTO_COMPLETION_EVENT.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct dat_dto_completion_event_data {
    /// The endpoint.
    pub ep_handle: DAT_EP_HANDLE,
    /// The cookie of the post.
    pub user_cookie: DAT_DTO_COOKIE,
    /// Its outcome.
    pub status: DAT_DTO_COMPLETION_STATUS,
    /// Bytes moved, if it succeeded.
    pub transfered_length: DAT_VLEN,
}

/// Data of DAT_DTO_COMPLETION_EVENT.
pub type DAT_DTO_COMPLETION_EVENT_DATA = dat_dto_completion_event_data;

place!(cr_arrival);

/// A service point of either kind.
#[derive(Clone, Copy)]
#[repr(C)]
pub union dat_sp_handle {
    /// A reserved one.
    pub rsp_handle: DAT_RSP_HANDLE,
    /// A public one.
    pub psp_handle: DAT_PSP_HANDLE,
}

/// A service point of either kind.
pub type DAT_SP_HANDLE = dat_sp_handle;

/// Data of DAT_CONNECTION_REQUEST_EVENT.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct dat_cr_arrival_event_data {
    /// The service point at which the request arrived.
    pub sp_handle: DAT_SP_HANDLE,
    /// The local address that the peer asked for.
    pub local_ia_address_ptr: DAT_IA_ADDRESS_PTR,
    /// The qualifier that the peer asked for.
    pub conn_qual: DAT_CONN_QUAL,
    /// The request, to be accepted, rejected or handed off.
    pub cr_handle: DAT_CR_HANDLE,
}

/// Data of DAT_CONNECTION_REQUEST_EVENT.
pub type DAT_CR_ARRIVAL_EVENT_DATA = dat_cr_arrival_event_data;

place!(event);

/// Data of an event; event_number tells which member is valid.
#[derive(Clone, Copy)]
#[repr(C)]
pub union dat_event_data {
    /// DAT_DTO_COMPLETION_EVENT.
    pub dto_completion_event_data: DAT_DTO_COMPLETION_EVENT_DATA,
    /// DAT_RMR_BIND_COMPLETION_EVENT.
    pub rmr_completion_event_data: DAT_RMR_BIND_COMPLETION_EVENT_DATA,
    /// DAT_CONNECTION_REQUEST_EVENT.
    pub cr_arrival_event_data: DAT_CR_ARRIVAL_EVENT_DATA,
    /// The connection events.
    pub connect_event_data: DAT_CONNECTION_EVENT_DATA,
    /// The asynchronous events.
    pub asynch_error_event_data: DAT_ASYNCH_ERROR_EVENT_DATA,
    /// DAT_SOFTWARE_EVENT.
    pub software_event_data: DAT_SOFTWARE_EVENT_DATA,
}

/// Data of an event; event_number tells which member is valid.
pub type DAT_EVENT_DATA = dat_event_data;

/// An event as dat_evd_wait and dat_evd_dequeue return it.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct dat_event {
    /// The kind of event.
    pub event_number: DAT_EVENT_NUMBER,
    /// The event dispatcher that it came from.
    pub evd_handle: DAT_EVD_HANDLE,
    /// Its data.
    pub event_data: DAT_EVENT_DATA,
}

/// An event as dat_evd_wait and dat_evd_dequeue return it.
pub type DAT_EVENT = dat_event;
