//! Endpoints

use crate::dat_platform_specific::*;
use crate::names::c_enum;

/// Kind of connection.
pub type DAT_SERVICE_TYPE = c_enum;
/// Reliable connection.
pub const DAT_SERVICE_TYPE_RC: DAT_SERVICE_TYPE = 0;

/// State of an endpoint.
pub type DAT_EP_STATE = c_enum;
/// Initial state, and the state after dat_ep_reset.
pub const DAT_EP_STATE_UNCONNECTED: DAT_EP_STATE = 0;
/// Like DAT_EP_STATE_UNCONNECTED, but attributes are not yet set.
pub const DAT_EP_STATE_UNCONFIGURED_UNCONNECTED: DAT_EP_STATE = 1;
/// Reserved by a reserved service point, which waits for a request.
pub const DAT_EP_STATE_RESERVED: DAT_EP_STATE = 2;
/// Like DAT_EP_STATE_RESERVED, but attributes are not yet set.
pub const DAT_EP_STATE_UNCONFIGURED_RESERVED: DAT_EP_STATE = 3;
/// A request for the endpoint arrived at its reserved service point.
pub const DAT_EP_STATE_PASSIVE_CONNECTION_PENDING: DAT_EP_STATE = 4;
/// Like DAT_EP_STATE_PASSIVE_CONNECTION_PENDING, but attributes are not yet set.
pub const DAT_EP_STATE_UNCONFIGURED_PASSIVE: DAT_EP_STATE = 5;
/// The program has requested a connection, which is not yet established.
pub const DAT_EP_STATE_ACTIVE_CONNECTION_PENDING: DAT_EP_STATE = 6;
/// Created by the provider for a request that is not yet accepted or rejected.
pub const DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING: DAT_EP_STATE = 7;
/// Like DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING, but attributes are not yet set.
pub const DAT_EP_STATE_UNCONFIGURED_TENTATIVE: DAT_EP_STATE = 8;
pub const DAT_EP_STATE_CONNECTED: DAT_EP_STATE = 9;
/// Disconnecting: posted requests are completing, or the transport still uses buffers.
pub const DAT_EP_STATE_DISCONNECT_PENDING: DAT_EP_STATE = 10;
/// No longer connected, or the connection attempt failed; see dat_ep_reset.
pub const DAT_EP_STATE_DISCONNECTED: DAT_EP_STATE = 11;
/// The program has accepted a request; the connection is not yet established.
pub const DAT_EP_STATE_COMPLETION_PENDING: DAT_EP_STATE = 12;
/// Older name of DAT_EP_STATE_DISCONNECTED.
pub const DAT_EP_STATE_ERROR: DAT_EP_STATE = DAT_EP_STATE_DISCONNECTED;

/// Selects fields of DAT_EP_PARAM, a set of DAT_EP_FIELD_ bits.
pub type DAT_EP_PARAM_MASK = DAT_UINT64;
/// Selects ia_handle.
pub const DAT_EP_FIELD_IA_HANDLE: DAT_EP_PARAM_MASK = 0x1;
/// Selects ep_state.
pub const DAT_EP_FIELD_EP_STATE: DAT_EP_PARAM_MASK = 0x2;
pub const DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE: DAT_EP_PARAM_MASK = 0x1000;
pub const DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE: DAT_EP_PARAM_MASK = 0x2000;
pub const DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE: DAT_EP_PARAM_MASK = 0x4000;
pub const DAT_EP_FIELD_EP_ATTR_QOS: DAT_EP_PARAM_MASK = 0x8000;
pub const DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS: DAT_EP_PARAM_MASK = 0x10000;
pub const DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS: DAT_EP_PARAM_MASK = 0x20000;
pub const DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS: DAT_EP_PARAM_MASK = 0x40000;
pub const DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS: DAT_EP_PARAM_MASK = 0x80000;
pub const DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV: DAT_EP_PARAM_MASK = 0x100000;
pub const DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV: DAT_EP_PARAM_MASK = 0x200000;
pub const DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN: DAT_EP_PARAM_MASK = 0x400000;
pub const DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT: DAT_EP_PARAM_MASK = 0x800000;
pub const DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW: DAT_EP_PARAM_MASK = 0x1000000;
pub const DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV: DAT_EP_PARAM_MASK = 0x2000000;
pub const DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV: DAT_EP_PARAM_MASK = 0x4000000;
/// Selects ep_attr.ep_transport_specific_count.
pub const DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR: DAT_EP_PARAM_MASK = 0x8000000;
pub const DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR: DAT_EP_PARAM_MASK = 0x10000000;
/// Selects ep_attr.ep_provider_specific_count.
pub const DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR: DAT_EP_PARAM_MASK = 0x20000000;
pub const DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR: DAT_EP_PARAM_MASK = 0x40000000;
pub const DAT_EP_FIELD_EP_ATTR_ALL: DAT_EP_PARAM_MASK = 0x7FFFF000;

/// A watermark that is never crossed.
pub const DAT_WATERMARK_INFINITE: DAT_COUNT = -1;
/// Default of the high watermarks of an endpoint.
pub const DAT_HW_DEFAULT: DAT_COUNT = DAT_WATERMARK_INFINITE;
/// Value of a count that the provider does not know.
pub const DAT_VALUE_UNKNOWN: DAT_COUNT = -2;
