//! Endpoints

use crate::dat_platform_specific::*;
use crate::{c_enum, place};

c_enum! {
    /// Kind of connection.
    pub enum dat_service_type as DAT_SERVICE_TYPE {
        /// Reliable connection.
        DAT_SERVICE_TYPE_RC = 0,
    }
}

/// Defines `DAT_EP_PARAM` of a version, whose own fields come before the addresses.
#[macro_export]
macro_rules! ep_param_of {
    ($($own:tt)*) => {
        /// Parameters of an endpoint, see dat_ep_query and dat_ep_modify.
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct dat_ep_param {
            /// The adapter that it belongs to.
            pub ia_handle: DAT_IA_HANDLE,
            /// Its state.
            pub ep_state: DAT_EP_STATE,
            $($own)*
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
    };
}

/// Defines `DAT_EP_ATTR` of a version, whose lengths are of the type `$length`.
#[macro_export]
macro_rules! ep_attr_of {
    ($length:ident;) => {
        /// Attributes of an endpoint.
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct dat_ep_attr {
            /// Kind of connection.
            pub service_type: DAT_SERVICE_TYPE,
            /// Longest message in bytes; 0 leaves it to the provider.
            pub max_message_size: $length,
            /// Longest RDMA operation in bytes; 0 leaves it to the provider.
            pub max_rdma_size: $length,
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
    };
}

place!(attr);

c_enum! {
    /// State of an endpoint.
    pub enum dat_ep_state as DAT_EP_STATE {
        /// Initial state.
        DAT_EP_STATE_UNCONNECTED = 0,
        /// Unconnected, attributes not yet given.
        DAT_EP_STATE_UNCONFIGURED_UNCONNECTED = 1,
        /// Held by a reserved service point.
        DAT_EP_STATE_RESERVED = 2,
        /// Reserved, attributes not yet given.
        DAT_EP_STATE_UNCONFIGURED_RESERVED = 3,
        /// A request for it arrived at its reserved service point.
        DAT_EP_STATE_PASSIVE_CONNECTION_PENDING = 4,
        /// Passive pending, attributes not yet given.
        DAT_EP_STATE_UNCONFIGURED_PASSIVE = 5,
        /// Connecting.
        DAT_EP_STATE_ACTIVE_CONNECTION_PENDING = 6,
        /// Made by the provider for a request not yet answered.
        DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING = 7,
        /// Tentative, attributes not yet given.
        DAT_EP_STATE_UNCONFIGURED_TENTATIVE = 8,
        /// Connected.
        DAT_EP_STATE_CONNECTED = 9,
        /// Disconnecting gracefully.
        DAT_EP_STATE_DISCONNECT_PENDING = 10,
        /// No longer connected; see dat_ep_reset.
        DAT_EP_STATE_DISCONNECTED = 11,
        /// Accepted, not yet connected.
        DAT_EP_STATE_COMPLETION_PENDING = 12,
    }
}

/// Older name of DAT_EP_STATE_DISCONNECTED.
pub const DAT_EP_STATE_ERROR: DAT_EP_STATE = DAT_EP_STATE_DISCONNECTED;

place!(param);

/// Selects fields of DAT_EP_PARAM, a set of DAT_EP_FIELD_ bits.
pub type DAT_EP_PARAM_MASK = DAT_UINT64;

/// Selects ia_handle.
pub const DAT_EP_FIELD_IA_HANDLE: DAT_EP_PARAM_MASK = 0x1;

/// Selects ep_state.
pub const DAT_EP_FIELD_EP_STATE: DAT_EP_PARAM_MASK = 0x2;

place!(fields);

/// Selects ep_attr.service_type.
pub const DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE: DAT_EP_PARAM_MASK = 0x1000;

/// Selects ep_attr.max_message_size.
pub const DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE: DAT_EP_PARAM_MASK = 0x2000;

/// Selects ep_attr.max_rdma_size.
pub const DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE: DAT_EP_PARAM_MASK = 0x4000;

/// Selects ep_attr.qos.
pub const DAT_EP_FIELD_EP_ATTR_QOS: DAT_EP_PARAM_MASK = 0x8000;

/// Selects ep_attr.recv_completion_flags.
pub const DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS: DAT_EP_PARAM_MASK = 0x10000;

/// Selects ep_attr.request_completion_flags.
pub const DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS: DAT_EP_PARAM_MASK = 0x20000;

/// Selects ep_attr.max_recv_dtos.
pub const DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS: DAT_EP_PARAM_MASK = 0x40000;

/// Selects ep_attr.max_request_dtos.
pub const DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS: DAT_EP_PARAM_MASK = 0x80000;

/// Selects ep_attr.max_recv_iov.
pub const DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV: DAT_EP_PARAM_MASK = 0x100000;

/// Selects ep_attr.max_request_iov.
pub const DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV: DAT_EP_PARAM_MASK = 0x200000;

/// Selects ep_attr.max_rdma_read_in.
pub const DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN: DAT_EP_PARAM_MASK = 0x400000;

/// Selects ep_attr.max_rdma_read_out.
pub const DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT: DAT_EP_PARAM_MASK = 0x800000;

/// Selects ep_attr.srq_soft_hw.
pub const DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW: DAT_EP_PARAM_MASK = 0x1000000;

/// Selects ep_attr.max_rdma_read_iov.
pub const DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV: DAT_EP_PARAM_MASK = 0x2000000;

/// Selects ep_attr.max_rdma_write_iov.
pub const DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV: DAT_EP_PARAM_MASK = 0x4000000;

/// Selects ep_attr.ep_transport_specific_count.
pub const DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR: DAT_EP_PARAM_MASK = 0x8000000;

/// Selects ep_attr.ep_transport_specific.
pub const DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR: DAT_EP_PARAM_MASK = 0x10000000;

/// Selects ep_attr.ep_provider_specific_count.
pub const DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR: DAT_EP_PARAM_MASK = 0x20000000;

/// Selects ep_attr.ep_provider_specific.
pub const DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR: DAT_EP_PARAM_MASK = 0x40000000;

/// Selects all of ep_attr.
pub const DAT_EP_FIELD_EP_ATTR_ALL: DAT_EP_PARAM_MASK = 0x7FFFF000;

place!(all_fields);

/// A watermark that is never passed.
pub const DAT_WATERMARK_INFINITE: DAT_COUNT = -1;

/// Default of the high watermarks of an endpoint.
pub const DAT_HW_DEFAULT: DAT_COUNT = DAT_WATERMARK_INFINITE;

/// Value of a count that is not known.
pub const DAT_VALUE_UNKNOWN: DAT_COUNT = -2;
