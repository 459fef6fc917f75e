//! Endpoints

use crate::dat_platform_specific::*;

c_enum! {
    /// Kind of connection.
    dat_service_type as DAT_SERVICE_TYPE;
    DAT_SERVICE_TYPE_RC = 0, "Reliable connection.";
}

/// Defines `DAT_EP_PARAM` of a version, whose own fields come before the addresses.
#[macro_export]
macro_rules! ep_param_of {
    ($($own:tt)*) => {
        $crate::c_struct! {
            /// Parameters of an endpoint, see dat_ep_query and dat_ep_modify.
            struct dat_ep_param as DAT_EP_PARAM;
            ia_handle: DAT_IA_HANDLE, "Its interface adapter.";
            ep_state: DAT_EP_STATE, "Its state.";
            $($own)*
            local_ia_address_ptr: DAT_IA_ADDRESS_PTR, "Local address.";
            local_port_qual: DAT_PORT_QUAL, "Local port.";
            remote_ia_address_ptr: DAT_IA_ADDRESS_PTR, "Remote address.";
            remote_port_qual: DAT_PORT_QUAL, "Remote port.";
            pz_handle: DAT_PZ_HANDLE, "Its protection zone.";
            recv_evd_handle: DAT_EVD_HANDLE, "Event dispatcher of receive completions.";
            request_evd_handle: DAT_EVD_HANDLE, "Event dispatcher of request completions.";
            connect_evd_handle: DAT_EVD_HANDLE, "Event dispatcher of connection events.";
            srq_handle: DAT_SRQ_HANDLE, "Its shared receive queue, or DAT_HANDLE_NULL.";
            ep_attr: DAT_EP_ATTR, "Its attributes.";
        }
    };
}

/// Defines `DAT_EP_ATTR` of a version, whose lengths are of the type `$length`.
#[macro_export]
macro_rules! ep_attr_of {
    ($length:ident;) => {
        $crate::c_struct! {
            /// Attributes of an endpoint.
            struct dat_ep_attr as DAT_EP_ATTR;
            service_type: DAT_SERVICE_TYPE, "Kind of connection.";
            max_message_size: $length, "Longest message in bytes; 0 leaves it to the provider.";
            max_rdma_size: $length, "Longest RDMA operation in bytes; 0 leaves it to the provider.";
            qos: DAT_QOS, "Quality of service.";
            recv_completion_flags: DAT_COMPLETION_FLAGS, "Configuration of the receive stream.";
            request_completion_flags: DAT_COMPLETION_FLAGS, "Configuration of the request stream.";
            max_recv_dtos: DAT_COUNT, "Outstanding receives. With a shared receive queue: the hard high watermark.";
            max_request_dtos: DAT_COUNT, "Outstanding requests.";
            max_recv_iov: DAT_COUNT, "Segments of a receive.";
            max_request_iov: DAT_COUNT, "Segments of a send.";
            max_rdma_read_in: DAT_COUNT, "Outstanding RDMA reads as target.";
            max_rdma_read_out: DAT_COUNT, "Outstanding RDMA reads as originator.";
            srq_soft_hw: DAT_COUNT, "Soft high watermark of receive buffers, with a shared receive queue.";
            max_rdma_read_iov: DAT_COUNT, "Segments of an RDMA read.";
            max_rdma_write_iov: DAT_COUNT, "Segments of an RDMA write.";
            ep_transport_specific_count: DAT_COUNT, "Elements of ep_transport_specific.";
            ep_transport_specific: *mut DAT_NAMED_ATTR, "Attributes of the transport.";
            ep_provider_specific_count: DAT_COUNT, "Elements of ep_provider_specific.";
            ep_provider_specific: *mut DAT_NAMED_ATTR, "Attributes of the provider.";
        }
    };
}

place!(attr);

c_enum! {
    /// State of an endpoint.
    dat_ep_state as DAT_EP_STATE;
    DAT_EP_STATE_UNCONNECTED = 0, "Initial state.";
    DAT_EP_STATE_UNCONFIGURED_UNCONNECTED = 1, "Unconnected, attributes not yet set.";
    DAT_EP_STATE_RESERVED = 2, "Reserved by a reserved service point.";
    DAT_EP_STATE_UNCONFIGURED_RESERVED = 3, "Reserved, attributes not yet set.";
    DAT_EP_STATE_PASSIVE_CONNECTION_PENDING = 4, "A request for it arrived at its reserved service point.";
    DAT_EP_STATE_UNCONFIGURED_PASSIVE = 5, "Passive pending, attributes not yet set.";
    DAT_EP_STATE_ACTIVE_CONNECTION_PENDING = 6, "Connecting.";
    DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING = 7, "Created by the provider for a request that is not yet accepted or rejected.";
    DAT_EP_STATE_UNCONFIGURED_TENTATIVE = 8, "Tentative, attributes not yet set.";
    DAT_EP_STATE_CONNECTED = 9, "Connected.";
    DAT_EP_STATE_DISCONNECT_PENDING = 10, "Disconnecting gracefully.";
    DAT_EP_STATE_DISCONNECTED = 11, "No longer connected; see dat_ep_reset.";
    DAT_EP_STATE_COMPLETION_PENDING = 12, "Accepted, not yet connected.";
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

c_consts! {
    DAT_EP_PARAM_MASK;
    DAT_EP_FIELD_EP_ATTR_SERVICE_TYPE = 0x1000, "Selects ep_attr.service_type.";
    DAT_EP_FIELD_EP_ATTR_MAX_MESSAGE_SIZE = 0x2000, "Selects ep_attr.max_message_size.";
    DAT_EP_FIELD_EP_ATTR_MAX_RDMA_SIZE = 0x4000, "Selects ep_attr.max_rdma_size.";
    DAT_EP_FIELD_EP_ATTR_QOS = 0x8000, "Selects ep_attr.qos.";
    DAT_EP_FIELD_EP_ATTR_RECV_COMPLETION_FLAGS = 0x10000, "Selects ep_attr.recv_completion_flags.";
    DAT_EP_FIELD_EP_ATTR_REQUEST_COMPLETION_FLAGS = 0x20000, "Selects ep_attr.request_completion_flags.";
    DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS = 0x40000, "Selects ep_attr.max_recv_dtos.";
    DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_DTOS = 0x80000, "Selects ep_attr.max_request_dtos.";
    DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV = 0x100000, "Selects ep_attr.max_recv_iov.";
    DAT_EP_FIELD_EP_ATTR_MAX_REQUEST_IOV = 0x200000, "Selects ep_attr.max_request_iov.";
    DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IN = 0x400000, "Selects ep_attr.max_rdma_read_in.";
    DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_OUT = 0x800000, "Selects ep_attr.max_rdma_read_out.";
    DAT_EP_FIELD_EP_ATTR_SRQ_SOFT_HW = 0x1000000, "Selects ep_attr.srq_soft_hw.";
    DAT_EP_FIELD_EP_ATTR_MAX_RDMA_READ_IOV = 0x2000000, "Selects ep_attr.max_rdma_read_iov.";
    DAT_EP_FIELD_EP_ATTR_MAX_RDMA_WRITE_IOV = 0x4000000, "Selects ep_attr.max_rdma_write_iov.";
    DAT_EP_FIELD_EP_ATTR_NUM_TRANSPORT_ATTR = 0x8000000, "Selects ep_attr.ep_transport_specific_count.";
    DAT_EP_FIELD_EP_ATTR_TRANSPORT_SPECIFIC_ATTR = 0x10000000, "Selects ep_attr.ep_transport_specific.";
    DAT_EP_FIELD_EP_ATTR_NUM_PROVIDER_ATTR = 0x20000000, "Selects ep_attr.ep_provider_specific_count.";
    DAT_EP_FIELD_EP_ATTR_PROVIDER_SPECIFIC_ATTR = 0x40000000, "Selects ep_attr.ep_provider_specific.";
    DAT_EP_FIELD_EP_ATTR_ALL = 0x7FFFF000, "Selects all of ep_attr.";
}

place!(all_fields);

c_consts! {
    DAT_COUNT;
    DAT_WATERMARK_INFINITE = -1, "A watermark that is never crossed.";
    DAT_HW_DEFAULT = DAT_WATERMARK_INFINITE, "Default of the high watermarks of an endpoint.";
    DAT_VALUE_UNKNOWN = -2, "Value of an unknown count.";
}
