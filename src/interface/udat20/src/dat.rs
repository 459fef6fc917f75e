//! The structures and values of uDAPL 2.0

use core::ffi::{c_char, c_int};

use dat_udat::names::c_enum;

use crate::dat_platform_specific::*;
use crate::udat::{dat_lmr_param, dat_provider_attr};

pub use dat_udat::dat::*;

/// Only in the kernel-level interface. No call accepts it.
pub const DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG: DAT_COMPLETION_FLAGS = 0x20;

pub const DAT_HANDLE_TYPE_CSP: DAT_HANDLE_TYPE = 11;
/// First kind of objects that extensions define.
pub const DAT_HANDLE_TYPE_EXTENSION_BASE: DAT_HANDLE_TYPE = 12;

/// The connection must use several paths, or fail.
pub const DAT_CONNECT_MULTIPATH_REQUIRED_FLAG: DAT_CONNECT_FLAGS = 2;
/// The connection uses several paths if they are available.
pub const DAT_CONNECT_MULTIPATH_REQUESTED_FLAG: DAT_CONNECT_FLAGS = DAT_CONNECT_MULTIPATH_FLAG;

/// Common service point.
pub type DAT_CSP_HANDLE = DAT_HANDLE;
/// Length of a segment, of a message or of an RDMA operation in bytes.
pub type DAT_SEG_LENGTH = DAT_UINT32;
/// Number of an extended operation, see dat_extension_op.
pub type DAT_EXTENDED_OP = c_int;
/// Bit in the number of extended operations that open an object. These take no handle.
pub const DAT_OPEN_EXTENSION_BASE: DAT_EXTENDED_OP = 0x1000;
/// Bit in the number of extended operations that close such an object.
pub const DAT_CLOSE_EXTENSION_BASE: DAT_EXTENDED_OP = 0x2000;

/// Base of the addresses in a memory region.
pub type DAT_VA_TYPE = c_enum;
/// Addresses of the process that owns the memory.
pub const DAT_VA_TYPE_VA: DAT_VA_TYPE = 0;
/// The first byte of the region has the address 0.
pub const DAT_VA_TYPE_ZB: DAT_VA_TYPE = 1;

/// The endpoints over which a remote memory region can be used.
pub type DAT_RMR_SCOPE = c_enum;
/// Only the endpoint over which it is bound, see dat_rmr_create_for_ep.
pub const DAT_RMR_SCOPE_EP: DAT_RMR_SCOPE = 0;
/// All endpoints of its protection zone, see dat_rmr_create.
pub const DAT_RMR_SCOPE_PZ: DAT_RMR_SCOPE = 1;
/// Attribute of a provider: both kinds.
pub const DAT_RMR_SCOPE_ANY: DAT_RMR_SCOPE = 2;

/// One segment of local memory in a data transfer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_LMR_TRIPLET {
    /// Address of the first byte; in a zero-based region, its offset in the region.
    pub virtual_address: DAT_VADDR,
    /// Length in bytes.
    pub segment_length: DAT_SEG_LENGTH,
    /// Context of the region that contains the segment, see dat_lmr_create.
    pub lmr_context: DAT_LMR_CONTEXT,
}

/// The remote memory of an RDMA operation, in local byte order. A program that sends this structure to another host
/// must convert it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_RMR_TRIPLET {
    /// Address of the first byte at the remote side; in a zero-based region, its offset in the region.
    pub virtual_address: DAT_VADDR,
    /// Length in bytes.
    pub segment_length: DAT_SEG_LENGTH,
    /// Context of the memory, from dat_lmr_create or dat_rmr_bind at the remote side.
    pub rmr_context: DAT_RMR_CONTEXT,
}

/// First privilege that extensions define.
pub const DAT_MEM_PRIV_EXTENSION_BASE: DAT_MEM_PRIV_FLAGS = 0x040;

/// Parameters of a local memory region, see dat_lmr_query.
pub type DAT_LMR_PARAM = dat_lmr_param;

pub const DAT_LMR_FIELD_VA_TYPE: DAT_LMR_PARAM_MASK = 0x040;
pub const DAT_LMR_FIELD_LMR_CONTEXT: DAT_LMR_PARAM_MASK = 0x080;
pub const DAT_LMR_FIELD_RMR_CONTEXT: DAT_LMR_PARAM_MASK = 0x100;
pub const DAT_LMR_FIELD_REGISTERED_SIZE: DAT_LMR_PARAM_MASK = 0x200;
pub const DAT_LMR_FIELD_REGISTERED_ADDRESS: DAT_LMR_PARAM_MASK = 0x400;
pub const DAT_LMR_FIELD_ALL: DAT_LMR_PARAM_MASK = 0x7FF;

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
    /// The endpoints over which peers can use the region.
    pub rmr_scope: DAT_RMR_SCOPE,
    /// Base of the addresses that peers use.
    pub va_type: DAT_VA_TYPE,
}

pub const DAT_RMR_FIELD_RMR_SCOPE: DAT_RMR_PARAM_MASK = 0x20;
pub const DAT_RMR_FIELD_VA_TYPE: DAT_RMR_PARAM_MASK = 0x40;
pub const DAT_RMR_FIELD_ALL: DAT_RMR_PARAM_MASK = 0x7F;

/// First kind of events that extensions define.
pub const DAT_EVD_EXTENSION_BASE: DAT_EVD_FLAGS = 0x200;

/// Only in the kernel-level interface.
pub const DAT_DTO_ERR_LOCAL_MM_ERROR: DAT_DTO_COMPLETION_STATUS = 12;

/// Kinds of operations that complete.
pub type DAT_DTOS = c_enum;
pub const DAT_DTO_SEND: DAT_DTOS = 0;
pub const DAT_DTO_RDMA_WRITE: DAT_DTOS = 1;
pub const DAT_DTO_RDMA_READ: DAT_DTOS = 2;
pub const DAT_DTO_RECEIVE: DAT_DTOS = 3;
/// Receive of a message that invalidated a context, see dat_ep_post_send_with_invalidate.
pub const DAT_DTO_RECEIVE_WITH_INVALIDATE: DAT_DTOS = 4;
/// Not used: a bind of a remote memory region has an event of its own.
pub const DAT_DTO_BIND_MW: DAT_DTOS = 5;
/// Only in the kernel-level interface.
pub const DAT_DTO_LMR_FMR: DAT_DTOS = 6;
/// Only in the kernel-level interface.
pub const DAT_DTO_LMR_INVALIDATE: DAT_DTOS = 7;
/// First kind of operations that extensions define.
pub const DAT_DTO_EXTENSION_BASE: DAT_DTOS = 8;

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
    pub transfered_length: DAT_SEG_LENGTH,
    /// Kind of the operation.
    pub operation: DAT_DTOS,
    /// The invalidated context, for a successful DAT_DTO_RECEIVE_WITH_INVALIDATE; else 0.
    pub rmr_context: DAT_RMR_CONTEXT,
}

/// A service point of any kind.
#[derive(Clone, Copy)]
#[repr(C)]
pub union DAT_SP_HANDLE {
    /// Reserved service point.
    pub rsp_handle: DAT_RSP_HANDLE,
    /// Public service point.
    pub psp_handle: DAT_PSP_HANDLE,
    /// Common service point.
    pub csp_handle: DAT_CSP_HANDLE,
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
    /// DAT_TRUE if the private data of the request was truncated.
    pub truncate_flag: DAT_BOOLEAN,
}

/// A connection has only one path left.
pub const DAT_HA_DOWN_TO_1: DAT_EVENT_NUMBER = 0x08101;
/// A connection has several paths again.
pub const DAT_HA_UP_TO_MULTI_PATH: DAT_EVENT_NUMBER = 0x08102;
/// First number that extensions define.
pub const DAT_EXTENSION_EVENT: DAT_EVENT_NUMBER = 0x20000;
/// First number of the extensions for InfiniBand.
pub const DAT_IB_EXTENSION_RANGE_BASE: DAT_EVENT_NUMBER = 0x40000;
/// First number of the extensions for iWARP.
pub const DAT_IW_EXTENSION_RANGE_BASE: DAT_EVENT_NUMBER = 0x80000;

/// Data of an event. event_number determines the valid member.
#[derive(Clone, Copy)]
#[repr(C)]
pub union DAT_EVENT_DATA {
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
    /// Further data if event_number is DAT_EXTENSION_EVENT or above.
    pub event_extension_data: [DAT_UINT64; 8],
}

/// First kind of connection that extensions define.
pub const DAT_SERVICE_TYPE_EXTENSION_BASE: DAT_SERVICE_TYPE = 1;

/// Attributes of an endpoint.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_EP_ATTR {
    /// Kind of connection.
    pub service_type: DAT_SERVICE_TYPE,
    /// Maximum bytes of a message; 0 leaves the maximum to the provider.
    pub max_message_size: DAT_SEG_LENGTH,
    /// Maximum bytes of an RDMA operation; 0 leaves the maximum to the provider.
    pub max_rdma_size: DAT_SEG_LENGTH,
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

/// Connected over one of several paths.
pub const DAT_EP_STATE_CONNECTED_SINGLE_PATH: DAT_EP_STATE = 13;
/// Connected over several paths.
pub const DAT_EP_STATE_CONNECTED_MULTI_PATH: DAT_EP_STATE = 14;

/// Parameters of an endpoint, see dat_ep_query and dat_ep_modify.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_EP_PARAM {
    /// Interface adapter of the endpoint.
    pub ia_handle: DAT_IA_HANDLE,
    /// State of the endpoint.
    pub ep_state: DAT_EP_STATE,
    /// Communicator, for dat_ep_common_connect.
    pub comm: DAT_COMM,
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

pub const DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR: DAT_EP_PARAM_MASK = 0x8;
pub const DAT_EP_FIELD_LOCAL_PORT_QUAL: DAT_EP_PARAM_MASK = 0x10;
pub const DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR: DAT_EP_PARAM_MASK = 0x20;
pub const DAT_EP_FIELD_REMOTE_PORT_QUAL: DAT_EP_PARAM_MASK = 0x40;
pub const DAT_EP_FIELD_PZ_HANDLE: DAT_EP_PARAM_MASK = 0x80;
pub const DAT_EP_FIELD_RECV_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x100;
pub const DAT_EP_FIELD_REQUEST_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x200;
pub const DAT_EP_FIELD_CONNECT_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x400;
pub const DAT_EP_FIELD_SRQ_HANDLE: DAT_EP_PARAM_MASK = 0x800;
pub const DAT_EP_FIELD_COMM: DAT_EP_PARAM_MASK = 0x4;
/// Selects all fields of DAT_EP_PARAM.
pub const DAT_EP_FIELD_ALL: DAT_EP_PARAM_MASK = 0x7FFFFFFF;

/// The queue has failed.
pub const DAT_SRQ_STATE_ERROR: DAT_SRQ_STATE = 0;
pub const DAT_SRQ_STATE_OPERATIONAL: DAT_SRQ_STATE = 1;
/// The queue is being destroyed.
pub const DAT_SRQ_STATE_SHUTDOWN: DAT_SRQ_STATE = 2;

/// Parameters of a common service point, see dat_csp_query. The pointers are valid until the service point is freed.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_CSP_PARAM {
    /// Interface adapter of the service point.
    pub ia_handle: DAT_IA_HANDLE,
    /// Communicator of the service point.
    pub comm: *mut DAT_COMM,
    /// Address and port at which the service point listens.
    pub address_ptr: DAT_IA_ADDRESS_PTR,
    /// Event dispatcher for connection requests.
    pub evd_handle: DAT_EVD_HANDLE,
}

/// Selects fields of DAT_CSP_PARAM.
pub type DAT_CSP_PARAM_MASK = c_enum;
pub const DAT_CSP_FIELD_IA_HANDLE: DAT_CSP_PARAM_MASK = 0x01;
pub const DAT_CSP_FIELD_COMM: DAT_CSP_PARAM_MASK = 0x02;
/// Selects address_ptr.
pub const DAT_CSP_FIELD_IA_ADDRESS: DAT_CSP_PARAM_MASK = 0x04;
pub const DAT_CSP_FIELD_EVD_HANDLE: DAT_CSP_PARAM_MASK = 0x08;
pub const DAT_CSP_FIELD_ALL: DAT_CSP_PARAM_MASK = 0x0F;

/// Extensions of the interface.
pub type DAT_EXTENSION = c_enum;
/// No extension.
pub const DAT_EXTENSION_NONE: DAT_EXTENSION = 0;
/// Extensions for InfiniBand, see dat_ib_extensions.h.
pub const DAT_EXTENSION_IB: DAT_EXTENSION = 1;
/// Extensions for iWARP. None exist.
pub const DAT_EXTENSION_IW: DAT_EXTENSION = 2;

/// How a provider distributes load over several paths.
pub type DAT_HA_LB = DAT_UINT32;
/// The provider does not distribute load.
pub const DAT_HA_LB_NONE: DAT_HA_LB = 0;
/// The provider distributes connections over paths.
pub const DAT_HA_LB_INTERCOMM: DAT_HA_LB = 1;
/// The provider distributes the load of each connection over paths.
pub const DAT_HA_LB_INTRACOMM: DAT_HA_LB = 2;

/// Another name of DAT_EXTENSION_IB.
pub const DAT_IB_EXTENSION: DAT_EXTENSION = DAT_EXTENSION_IB;
/// Another name of DAT_EXTENSION_IW.
pub const DAT_IW_EXTENSION: DAT_EXTENSION = DAT_EXTENSION_IW;

/// Attributes of an interface adapter, see dat_ia_query. All users of the adapter share the maxima.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct DAT_IA_ATTR {
    /// Name of the device.
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
    pub max_lmr_block_size: DAT_SEG_LENGTH,
    /// Highest address in a local memory region.
    pub max_lmr_virtual_address: DAT_VADDR,
    /// Maximum number of protection zones.
    pub max_pzs: DAT_COUNT,
    /// Maximum bytes in a message.
    pub max_message_size: DAT_SEG_LENGTH,
    /// Maximum bytes in an RDMA operation.
    pub max_rdma_size: DAT_SEG_LENGTH,
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
    /// DAT_TRUE if regions may be zero-based, see DAT_VA_TYPE_ZB.
    pub zb_supported: DAT_BOOLEAN,
    /// Extensions that the adapter supports.
    pub extension_supported: DAT_EXTENSION,
    /// Version of these extensions; for InfiniBand see DAT_IB_EXTENSION_VERSION.
    pub extension_version: DAT_COUNT,
    /// Number of elements of transport_attr.
    pub num_transport_attr: DAT_COUNT,
    /// Named attributes of the transport.
    pub transport_attr: *mut DAT_NAMED_ATTR,
    /// Number of elements of vendor_attr.
    pub num_vendor_attr: DAT_COUNT,
    /// Named attributes of the vendor.
    pub vendor_attr: *mut DAT_NAMED_ATTR,
}

pub const DAT_IA_FIELD_IA_NUM_TRANSPORT_ATTR: DAT_IA_ATTR_MASK = 0x400000000;
pub const DAT_IA_FIELD_IA_TRANSPORT_ATTR: DAT_IA_ATTR_MASK = 0x800000000;
pub const DAT_IA_FIELD_IA_NUM_VENDOR_ATTR: DAT_IA_ATTR_MASK = 0x1000000000;
pub const DAT_IA_FIELD_IA_VENDOR_ATTR: DAT_IA_ATTR_MASK = 0x2000000000;
pub const DAT_IA_FIELD_IA_ZB_SUPPORTED: DAT_IA_ATTR_MASK = 0x80000000;
pub const DAT_IA_FIELD_IA_EXTENSION: DAT_IA_ATTR_MASK = 0x100000000;
/// Another name of DAT_IA_FIELD_IA_EXTENSION.
pub const DAT_IA_FIELD_IA_EXTENSIONS_SUPPORTED: DAT_IA_ATTR_MASK = DAT_IA_FIELD_IA_EXTENSION;
pub const DAT_IA_FIELD_IA_EXTENSION_VERSION: DAT_IA_ATTR_MASK = 0x200000000;
/// Older name of DAT_IA_FIELD_ALL.
pub const DAT_IA_ALL: DAT_IA_ATTR_MASK = DAT_IA_FIELD_ALL;
pub const DAT_IA_FIELD_ALL: DAT_IA_ATTR_MASK = 0x3FFFFFFFFF;

/// Attributes of the provider that serves an interface adapter, see dat_ia_query.
pub type DAT_PROVIDER_ATTR = dat_provider_attr;
