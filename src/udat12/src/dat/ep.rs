//! Endpoints

use super::types::*;
use crate::dat_platform_specific::*;
use dat_udat::place;

pub use dat_udat::dat::ep::*;

place!(attr);

/// Attributes of an endpoint.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_ep_attr {
    /// Kind of connection.
    pub service_type: DAT_SERVICE_TYPE,
    /// Longest message in bytes; 0 leaves it to the provider.
    pub max_message_size: DAT_VLEN,
    /// Longest RDMA operation in bytes; 0 leaves it to the provider.
    pub max_rdma_size: DAT_VLEN,
    /// Quality of service.
    pub qos: DAT_QOS,
    /// Configuration of the receive stream.
    pub recv_completion_flags: DAT_COMPLETION_FLAGS,
    /// Configuration of the request stream.
    pub request_completion_flags: DAT_COMPLETION_FLAGS,
    /// Receives outstanding. With a shared receive queue: the hard high watermark.
    pub max_recv_dtos: DAT_COUNT,
    /// Requests outstanding.
    pub max_request_dtos: DAT_COUNT,
    /// Segments of a receive.
    pub max_recv_iov: DAT_COUNT,
    /// Segments of a send.
    pub max_request_iov: DAT_COUNT,
    /// RDMA reads outstanding as target.
    pub max_rdma_read_in: DAT_COUNT,
    /// RDMA reads outstanding as originator.
    pub max_rdma_read_out: DAT_COUNT,
    /// Soft high watermark of receive buffers, with a shared receive queue.
    pub srq_soft_hw: DAT_COUNT,
    /// Segments of an RDMA read.
    pub max_rdma_read_iov: DAT_COUNT,
    /// Segments of an RDMA write.
    pub max_rdma_write_iov: DAT_COUNT,
    /// Elements of ep_transport_specific.
    pub ep_transport_specific_count: DAT_COUNT,
    /// Attributes of the transport.
    pub ep_transport_specific: *mut DAT_NAMED_ATTR,
    /// Elements of ep_provider_specific.
    pub ep_provider_specific_count: DAT_COUNT,
    /// Attributes of the provider.
    pub ep_provider_specific: *mut DAT_NAMED_ATTR,
}

/// Attributes of an endpoint.
pub type DAT_EP_ATTR = dat_ep_attr;

place!(param);

/// Parameters of an endpoint, see dat_ep_query and dat_ep_modify.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_ep_param {
    /// The adapter that it belongs to.
    pub ia_handle: DAT_IA_HANDLE,
    /// Its state.
    pub ep_state: DAT_EP_STATE,
    /// Local address.
    pub local_ia_address_ptr: DAT_IA_ADDRESS_PTR,
    /// Local port.
    pub local_port_qual: DAT_PORT_QUAL,
    /// Remote address.
    pub remote_ia_address_ptr: DAT_IA_ADDRESS_PTR,
    /// Remote port.
    pub remote_port_qual: DAT_PORT_QUAL,
    /// Its protection zone.
    pub pz_handle: DAT_PZ_HANDLE,
    /// Event dispatcher of receive completions.
    pub recv_evd_handle: DAT_EVD_HANDLE,
    /// Event dispatcher of request completions.
    pub request_evd_handle: DAT_EVD_HANDLE,
    /// Event dispatcher of connection events.
    pub connect_evd_handle: DAT_EVD_HANDLE,
    /// Its shared receive queue, or DAT_HANDLE_NULL.
    pub srq_handle: DAT_SRQ_HANDLE,
    /// Its attributes.
    pub ep_attr: DAT_EP_ATTR,
}

/// Parameters of an endpoint, see dat_ep_query and dat_ep_modify.
pub type DAT_EP_PARAM = dat_ep_param;

place!(fields);

/// Selects local_ia_address_ptr.
pub const DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR: DAT_EP_PARAM_MASK = 0x4;

/// Selects local_port_qual.
pub const DAT_EP_FIELD_LOCAL_PORT_QUAL: DAT_EP_PARAM_MASK = 0x8;

/// Selects remote_ia_address_ptr.
pub const DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR: DAT_EP_PARAM_MASK = 0x10;

/// Selects remote_port_qual.
pub const DAT_EP_FIELD_REMOTE_PORT_QUAL: DAT_EP_PARAM_MASK = 0x20;

/// Selects pz_handle.
pub const DAT_EP_FIELD_PZ_HANDLE: DAT_EP_PARAM_MASK = 0x40;

/// Selects recv_evd_handle.
pub const DAT_EP_FIELD_RECV_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x80;

/// Selects request_evd_handle.
pub const DAT_EP_FIELD_REQUEST_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x100;

/// Selects connect_evd_handle.
pub const DAT_EP_FIELD_CONNECT_EVD_HANDLE: DAT_EP_PARAM_MASK = 0x200;

/// Selects srq_handle.
pub const DAT_EP_FIELD_SRQ_HANDLE: DAT_EP_PARAM_MASK = 0x400;

place!(all_fields);

/// Selects all fields of DAT_EP_PARAM.
pub const DAT_EP_FIELD_ALL: DAT_EP_PARAM_MASK = 0x7FFFF7FF;
