//! The structures and values of uDAPL 1.2

use core::ffi::c_char;

use crate::dat_platform_specific::*;
use crate::udat::{dat_lmr_param, dat_provider_attr};

pub use dat_udat::dat::*;

/// One segment of local memory in a data transfer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_LMR_TRIPLET {
    /// Context of the region that contains the segment, see dat_lmr_create.
    pub lmr_context: DAT_LMR_CONTEXT,
    /// Unused; aligns the next field.
    pub pad: DAT_UINT32,
    /// Address of the first byte.
    pub virtual_address: DAT_VADDR,
    /// Length in bytes.
    pub segment_length: DAT_VLEN,
}

/// The remote memory of an RDMA operation, in local byte order. A program that sends this structure to another host
/// must convert it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_RMR_TRIPLET {
    /// Context of the memory, from dat_lmr_create or dat_rmr_bind at the remote side.
    pub rmr_context: DAT_RMR_CONTEXT,
    /// Unused; aligns the next field.
    pub pad: DAT_UINT32,
    /// Address of the first byte at the remote side.
    pub target_address: DAT_VADDR,
    /// Length in bytes.
    pub segment_length: DAT_VLEN,
}

/// No relaxed ordering for this memory. Ignored. From the Solaris headers, for programs that use it; no other
/// privilege has this bit.
pub const DAT_MEM_PRIV_RO_DISABLE_FLAG: DAT_MEM_PRIV_FLAGS = 0x100;

/// Parameters of a local memory region, see dat_lmr_query.
pub type DAT_LMR_PARAM = dat_lmr_param;

pub const DAT_LMR_FIELD_LMR_CONTEXT: DAT_LMR_PARAM_MASK = 0x040;
pub const DAT_LMR_FIELD_RMR_CONTEXT: DAT_LMR_PARAM_MASK = 0x080;
pub const DAT_LMR_FIELD_REGISTERED_SIZE: DAT_LMR_PARAM_MASK = 0x100;
pub const DAT_LMR_FIELD_REGISTERED_ADDRESS: DAT_LMR_PARAM_MASK = 0x200;
pub const DAT_LMR_FIELD_ALL: DAT_LMR_PARAM_MASK = 0x3FF;

/// Parameters of a remote memory region, see dat_rmr_query.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_RMR_PARAM {
    /// Interface adapter of the region.
    pub ia_handle: DAT_IA_HANDLE,
    /// Protection zone of the region.
    pub pz_handle: DAT_PZ_HANDLE,
    /// Memory to which the region is bound.
    pub lmr_triplet: DAT_LMR_TRIPLET,
    /// Privileges of the remote side on this memory.
    pub mem_priv: DAT_MEM_PRIV_FLAGS,
    /// Context that identifies the region to the remote side.
    pub rmr_context: DAT_RMR_CONTEXT,
}

pub const DAT_RMR_FIELD_ALL: DAT_RMR_PARAM_MASK = 0x1F;

/// Data of DAT_DTO_COMPLETION_EVENT.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DAT_DTO_COMPLETION_EVENT_DATA {
    /// Endpoint of the operation.
    pub ep_handle: DAT_EP_HANDLE,
    /// The cookie that was passed to the post.
    pub user_cookie: DAT_DTO_COOKIE,
    /// Status of the operation.
    pub status: DAT_DTO_COMPLETION_STATUS,
    /// Number of transferred bytes; undefined unless status is DAT_DTO_SUCCESS.
    pub transfered_length: DAT_VLEN,
}

/// A service point of either kind.
#[derive(Clone, Copy)]
#[repr(C)]
pub union DAT_SP_HANDLE {
    /// Reserved service point.
    pub rsp_handle: DAT_RSP_HANDLE,
    /// Public service point.
    pub psp_handle: DAT_PSP_HANDLE,
}

/// Data of DAT_CONNECTION_REQUEST_EVENT.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DAT_CR_ARRIVAL_EVENT_DATA {
    /// The service point at which the request arrived.
    pub sp_handle: DAT_SP_HANDLE,
    /// The local address to which the peer connects.
    pub local_ia_address_ptr: DAT_IA_ADDRESS_PTR,
    /// The qualifier to which the peer connects.
    pub conn_qual: DAT_CONN_QUAL,
    /// The request, for dat_cr_accept, dat_cr_reject or dat_cr_handoff.
    pub cr_handle: DAT_CR_HANDLE,
}

/// Data of an event. event_number determines the valid member.
#[derive(Clone, Copy)]
#[repr(C)]
pub union DAT_EVENT_DATA {
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

/// An event that dat_evd_wait or dat_evd_dequeue returns.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DAT_EVENT {
    /// Kind of the event.
    pub event_number: DAT_EVENT_NUMBER,
    /// Event dispatcher from which the event was taken.
    pub evd_handle: DAT_EVD_HANDLE,
    /// Data of the event. event_number determines the valid member.
    pub event_data: DAT_EVENT_DATA,
}

/// Attributes of an endpoint.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_EP_ATTR {
    /// Kind of connection.
    pub service_type: DAT_SERVICE_TYPE,
    /// Maximum bytes of a message; 0 leaves the maximum to the provider.
    pub max_message_size: DAT_VLEN,
    /// Maximum bytes of an RDMA operation; 0 leaves the maximum to the provider.
    pub max_rdma_size: DAT_VLEN,
    /// Quality of service.
    pub qos: DAT_QOS,
    /// Which receive completions notify.
    pub recv_completion_flags: DAT_COMPLETION_FLAGS,
    /// Which request completions notify.
    pub request_completion_flags: DAT_COMPLETION_FLAGS,
    /// Maximum number of outstanding receives. On a shared receive queue: hard high watermark.
    pub max_recv_dtos: DAT_COUNT,
    /// Maximum number of outstanding requests.
    pub max_request_dtos: DAT_COUNT,
    /// Maximum number of segments of a receive.
    pub max_recv_iov: DAT_COUNT,
    /// Maximum number of segments of a send.
    pub max_request_iov: DAT_COUNT,
    /// Maximum number of outstanding RDMA reads as target.
    pub max_rdma_read_in: DAT_COUNT,
    /// Maximum number of outstanding RDMA reads as originator.
    pub max_rdma_read_out: DAT_COUNT,
    /// Soft high watermark of receive buffers, with a shared receive queue.
    pub srq_soft_hw: DAT_COUNT,
    /// Maximum number of segments of an RDMA read.
    pub max_rdma_read_iov: DAT_COUNT,
    /// Maximum number of segments of an RDMA write.
    pub max_rdma_write_iov: DAT_COUNT,
    /// Number of elements of ep_transport_specific.
    pub ep_transport_specific_count: DAT_COUNT,
    /// Named attributes of the transport.
    pub ep_transport_specific: *mut DAT_NAMED_ATTR,
    /// Number of elements of ep_provider_specific.
    pub ep_provider_specific_count: DAT_COUNT,
    /// Named attributes of the provider.
    pub ep_provider_specific: *mut DAT_NAMED_ATTR,
}

/// Parameters of an endpoint, see dat_ep_query and dat_ep_modify.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_EP_PARAM {
    /// Interface adapter of the endpoint.
    pub ia_handle: DAT_IA_HANDLE,
    /// State of the endpoint.
    pub ep_state: DAT_EP_STATE,
    /// Local address.
    pub local_ia_address_ptr: DAT_IA_ADDRESS_PTR,
    /// Port of the local end of the connection.
    pub local_port_qual: DAT_PORT_QUAL,
    /// Remote address.
    pub remote_ia_address_ptr: DAT_IA_ADDRESS_PTR,
    /// Port of the remote end of the connection.
    pub remote_port_qual: DAT_PORT_QUAL,
    /// Protection zone of the endpoint.
    pub pz_handle: DAT_PZ_HANDLE,
    /// Event dispatcher of receive completions.
    pub recv_evd_handle: DAT_EVD_HANDLE,
    /// Event dispatcher of request completions.
    pub request_evd_handle: DAT_EVD_HANDLE,
    /// Event dispatcher of connection events.
    pub connect_evd_handle: DAT_EVD_HANDLE,
    /// Shared receive queue of the endpoint, or DAT_HANDLE_NULL.
    pub srq_handle: DAT_SRQ_HANDLE,
    /// Attributes of the endpoint.
    pub ep_attr: DAT_EP_ATTR,
}

pub const DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR: DAT_EP_PARAM_MASK = 0x4;
pub const DAT_EP_FIELD_LOCAL_PORT_QUAL: DAT_EP_PARAM_MASK = 0x8;
pub const DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR: DAT_EP_PARAM_MASK = 0x10;
pub const DAT_EP_FIELD_REMOTE_PORT_QUAL: DAT_EP_PARAM_MASK = 0x20;
pub const DAT_EP_FIELD_PZ_HANDLE: DAT_EP_PARAM_MASK = 0x40;
pub const DAT_EP_FIELD_RECV_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x80;
pub const DAT_EP_FIELD_REQUEST_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x100;
pub const DAT_EP_FIELD_CONNECT_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x200;
pub const DAT_EP_FIELD_SRQ_HANDLE: DAT_EP_PARAM_MASK = 0x400;
/// Selects all fields of DAT_EP_PARAM.
pub const DAT_EP_FIELD_ALL: DAT_EP_PARAM_MASK = 0x7FFFF7FF;

pub const DAT_SRQ_STATE_OPERATIONAL: DAT_SRQ_STATE = 0;
/// The queue has failed.
pub const DAT_SRQ_STATE_ERROR: DAT_SRQ_STATE = 1;

/// Attributes of an interface adapter, see dat_ia_query. All users of the adapter share the maxima.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_IA_ATTR {
    /// Name with which the program opened the adapter.
    pub adapter_name: [c_char; DAT_NAME_MAX_LENGTH],
    /// Vendor of the adapter.
    pub vendor_name: [c_char; DAT_NAME_MAX_LENGTH],
    /// Version of the hardware, major.
    pub hardware_version_major: DAT_UINT32,
    /// Version of the hardware, minor.
    pub hardware_version_minor: DAT_UINT32,
    /// Version of the firmware, major.
    pub firmware_version_major: DAT_UINT32,
    /// Version of the firmware, minor.
    pub firmware_version_minor: DAT_UINT32,
    /// Local address, valid until dat_ia_close.
    pub ia_address_ptr: DAT_IA_ADDRESS_PTR,
    /// Maximum number of endpoints.
    pub max_eps: DAT_COUNT,
    /// Maximum number of outstanding data transfers in one direction of an endpoint.
    pub max_dto_per_ep: DAT_COUNT,
    /// Maximum number of outstanding RDMA reads of an endpoint as target.
    pub max_rdma_read_per_ep_in: DAT_COUNT,
    /// Maximum number of outstanding RDMA reads of an endpoint as originator.
    pub max_rdma_read_per_ep_out: DAT_COUNT,
    /// Maximum number of event dispatchers.
    pub max_evds: DAT_COUNT,
    /// Maximum number of events in an event dispatcher.
    pub max_evd_qlen: DAT_COUNT,
    /// Maximum number of segments of a send or receive.
    pub max_iov_segments_per_dto: DAT_COUNT,
    /// Maximum number of local memory regions.
    pub max_lmrs: DAT_COUNT,
    /// Maximum bytes in a local memory region.
    pub max_lmr_block_size: DAT_VLEN,
    /// Highest address in a local memory region.
    pub max_lmr_virtual_address: DAT_VADDR,
    /// Maximum number of protection zones.
    pub max_pzs: DAT_COUNT,
    /// Maximum bytes in a message.
    pub max_message_size: DAT_VLEN,
    /// Maximum bytes in an RDMA operation.
    pub max_rdma_size: DAT_VLEN,
    /// Maximum number of remote memory regions.
    pub max_rmrs: DAT_COUNT,
    /// Highest address in a remote memory region.
    pub max_rmr_target_address: DAT_VADDR,
    /// Maximum number of shared receive queues.
    pub max_srqs: DAT_COUNT,
    /// Maximum number of endpoints on a shared receive queue.
    pub max_ep_per_srq: DAT_COUNT,
    /// Maximum number of buffers in a shared receive queue.
    pub max_recv_per_srq: DAT_COUNT,
    /// Maximum number of segments of an RDMA read.
    pub max_iov_segments_per_rdma_read: DAT_COUNT,
    /// Maximum number of segments of an RDMA write.
    pub max_iov_segments_per_rdma_write: DAT_COUNT,
    /// Maximum number of outstanding RDMA reads of the adapter as target.
    pub max_rdma_read_in: DAT_COUNT,
    /// Maximum number of outstanding RDMA reads of the adapter as originator.
    pub max_rdma_read_out: DAT_COUNT,
    /// DAT_TRUE if each endpoint gets max_rdma_read_per_ep_in; else all share a pool.
    pub max_rdma_read_per_ep_in_guaranteed: DAT_BOOLEAN,
    /// DAT_TRUE if each endpoint gets max_rdma_read_per_ep_out; else all share a pool.
    pub max_rdma_read_per_ep_out_guaranteed: DAT_BOOLEAN,
    /// Number of elements of transport_attr.
    pub num_transport_attr: DAT_COUNT,
    /// Named attributes of the transport.
    pub transport_attr: *mut DAT_NAMED_ATTR,
    /// Number of elements of vendor_attr.
    pub num_vendor_attr: DAT_COUNT,
    /// Named attributes of the vendor.
    pub vendor_attr: *mut DAT_NAMED_ATTR,
}

pub const DAT_IA_FIELD_IA_NUM_TRANSPORT_ATTR: DAT_IA_ATTR_MASK = 0x80000000;
pub const DAT_IA_FIELD_IA_TRANSPORT_ATTR: DAT_IA_ATTR_MASK = 0x100000000;
pub const DAT_IA_FIELD_IA_NUM_VENDOR_ATTR: DAT_IA_ATTR_MASK = 0x200000000;
pub const DAT_IA_FIELD_IA_VENDOR_ATTR: DAT_IA_ATTR_MASK = 0x400000000;
/// Older name of DAT_IA_FIELD_ALL.
pub const DAT_IA_ALL: DAT_IA_ATTR_MASK = DAT_IA_FIELD_ALL;
pub const DAT_IA_FIELD_ALL: DAT_IA_ATTR_MASK = 0x7FFFFFFFF;

/// Attributes of the provider that serves an interface adapter, see dat_ia_query.
pub type DAT_PROVIDER_ATTR = dat_provider_attr;
