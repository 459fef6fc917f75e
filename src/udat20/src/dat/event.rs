//! Events

use super::memory::DAT_RMR_CONTEXT;
use super::types::*;
use crate::dat_platform_specific::*;
use dat_udat::{c_enum, c_members, place};

pub use dat_udat::dat::event::*;

c_members! {
    DAT_EVD_FLAGS {
        /// First kind that extensions define.
        DAT_EVD_EXTENSION_BASE = 0x200,
    }
}

c_members! {
    DAT_DTO_COMPLETION_STATUS {
        /// Of the kernel-level interface alone.
        DAT_DTO_ERR_LOCAL_MM_ERROR = 12,
    }
}

place!(dto_completion);

c_enum! {
    /// Kinds of operations that complete.
    pub enum dat_dtos as DAT_DTOS {
        /// Send.
        DAT_DTO_SEND = 0,
        /// RDMA write.
        DAT_DTO_RDMA_WRITE = 1,
        /// RDMA read.
        DAT_DTO_RDMA_READ = 2,
        /// Receive.
        DAT_DTO_RECEIVE = 3,
        /// Receive of a message that ended a context, see dat_ep_post_send_with_invalidate.
        DAT_DTO_RECEIVE_WITH_INVALIDATE = 4,
        /// Bind of a remote memory region; it has an event of its own instead.
        DAT_DTO_BIND_MW = 5,
        /// Of the kernel-level interface alone.
        DAT_DTO_LMR_FMR = 6,
        /// Of the kernel-level interface alone.
        DAT_DTO_LMR_INVALIDATE = 7,
        /// First kind that extensions define.
        DAT_DTO_EXTENSION_BASE = 8,
    }
}

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
    pub transfered_length: DAT_SEG_LENGTH,
    /// The kind of operation.
    pub operation: DAT_DTOS,
    /// The context that ended, for DAT_DTO_RECEIVE_WITH_INVALIDATE that succeeded; else 0.
    pub rmr_context: DAT_RMR_CONTEXT,
}

/// Data of DAT_DTO_COMPLETION_EVENT.
pub type DAT_DTO_COMPLETION_EVENT_DATA = dat_dto_completion_event_data;

place!(cr_arrival);

/// A service point of any kind.
#[derive(Clone, Copy)]
#[repr(C)]
pub union dat_sp_handle {
    /// A reserved one.
    pub rsp_handle: DAT_RSP_HANDLE,
    /// A public one.
    pub psp_handle: DAT_PSP_HANDLE,
    /// A common one.
    pub csp_handle: DAT_CSP_HANDLE,
}

/// A service point of any kind.
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
    /// Whether private data was cut off.
    pub truncate_flag: DAT_BOOLEAN,
}

/// Data of DAT_CONNECTION_REQUEST_EVENT.
pub type DAT_CR_ARRIVAL_EVENT_DATA = dat_cr_arrival_event_data;

c_members! {
    DAT_EVENT_NUMBER {
        /// Of several paths of a connection one is left.
        DAT_HA_DOWN_TO_1 = 0x08101,
        /// A connection has several paths again.
        DAT_HA_UP_TO_MULTI_PATH = 0x08102,
        /// First number that extensions define.
        DAT_EXTENSION_EVENT = 0x20000,
        /// First number of the extensions for InfiniBand.
        DAT_IB_EXTENSION_RANGE_BASE = 0x40000,
        /// First number of the extensions for iWARP.
        DAT_IW_EXTENSION_RANGE_BASE = 0x80000,
    }
}

place!(event);

/// Data of an event; event_number tells which member is valid.
#[derive(Clone, Copy)]
#[repr(C)]
pub union dat_event_data {
    /// DAT_DTO_COMPLETION_EVENT, and DAT_IB_DTO_EVENT of the extensions.
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
    /// Further data if event_number is DAT_EXTENSION_EVENT or above.
    pub event_extension_data: [DAT_UINT64; 8],
}

/// An event as dat_evd_wait and dat_evd_dequeue return it.
pub type DAT_EVENT = dat_event;
