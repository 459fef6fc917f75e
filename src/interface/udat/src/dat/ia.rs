//! Interface adapters and providers

use core::ffi::c_char;

use super::types::*;
use crate::dat_platform_specific::*;

/// Defines `DAT_IA_ATTR` of a version. The lengths have the type `$length`.
#[macro_export]
macro_rules! ia_attr_of {
    ($length:ident; $($own:tt)*) => {
        $crate::c_struct! {
            /// Attributes of an interface adapter, see dat_ia_query. All users of the adapter share the maxima.
            struct dat_ia_attr as DAT_IA_ATTR;
            adapter_name: [c_char; DAT_NAME_MAX_LENGTH], "Name in the dat_ia_open call in uDAPL 1.2, name of the device in uDAPL 2.0.";
            vendor_name: [c_char; DAT_NAME_MAX_LENGTH], "Vendor of the adapter.";
            hardware_version_major: DAT_UINT32, "Version of the hardware, major.";
            hardware_version_minor: DAT_UINT32, "Version of the hardware, minor.";
            firmware_version_major: DAT_UINT32, "Version of the firmware, major.";
            firmware_version_minor: DAT_UINT32, "Version of the firmware, minor.";
            ia_address_ptr: DAT_IA_ADDRESS_PTR, "Local address, valid until dat_ia_close.";
            max_eps: DAT_COUNT, "Endpoints.";
            max_dto_per_ep: DAT_COUNT, "Outstanding data transfers in one direction of an endpoint.";
            max_rdma_read_per_ep_in: DAT_COUNT, "Outstanding RDMA reads of an endpoint as target.";
            max_rdma_read_per_ep_out: DAT_COUNT, "Outstanding RDMA reads of an endpoint as originator.";
            max_evds: DAT_COUNT, "Event dispatchers.";
            max_evd_qlen: DAT_COUNT, "Events in an event dispatcher.";
            max_iov_segments_per_dto: DAT_COUNT, "Segments of a send or receive.";
            max_lmrs: DAT_COUNT, "Local memory regions.";
            max_lmr_block_size: $length, "Bytes in a local memory region.";
            max_lmr_virtual_address: DAT_VADDR, "Highest address in a local memory region.";
            max_pzs: DAT_COUNT, "Protection zones.";
            max_message_size: $length, "Bytes in a message.";
            max_rdma_size: $length, "Bytes in an RDMA operation.";
            max_rmrs: DAT_COUNT, "Remote memory regions.";
            max_rmr_target_address: DAT_VADDR, "Highest address in a remote memory region.";
            max_srqs: DAT_COUNT, "Shared receive queues.";
            max_ep_per_srq: DAT_COUNT, "Endpoints on a shared receive queue.";
            max_recv_per_srq: DAT_COUNT, "Buffers in a shared receive queue.";
            max_iov_segments_per_rdma_read: DAT_COUNT, "Segments of an RDMA read.";
            max_iov_segments_per_rdma_write: DAT_COUNT, "Segments of an RDMA write.";
            max_rdma_read_in: DAT_COUNT, "Outstanding RDMA reads of the adapter as target.";
            max_rdma_read_out: DAT_COUNT, "Outstanding RDMA reads of the adapter as originator.";
            max_rdma_read_per_ep_in_guaranteed: DAT_BOOLEAN,
                "Each endpoint gets max_rdma_read_per_ep_in; otherwise they share a pool.";
            max_rdma_read_per_ep_out_guaranteed: DAT_BOOLEAN,
                "Each endpoint gets max_rdma_read_per_ep_out; otherwise they share a pool.";
            $($own)*
            num_transport_attr: DAT_COUNT, "Elements of transport_attr.";
            transport_attr: *mut DAT_NAMED_ATTR, "Attributes of the transport.";
            num_vendor_attr: DAT_COUNT, "Elements of vendor_attr.";
            vendor_attr: *mut DAT_NAMED_ATTR, "Attributes of the vendor.";
        }
    };
}

place!(attr);

/// Selects fields of DAT_IA_ATTR, a set of DAT_IA_FIELD_ bits.
pub type DAT_IA_ATTR_MASK = DAT_UINT64;

c_consts! {
    DAT_IA_ATTR_MASK;
    DAT_IA_FIELD_IA_MAX_MTU_SIZE = DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE, "Older name of DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE.";
    DAT_IA_FIELD_IA_ADAPTER_NAME = 0x1, "Selects adapter_name.";
    DAT_IA_FIELD_IA_VENDOR_NAME = 0x2, "Selects vendor_name.";
    DAT_IA_FIELD_IA_HARDWARE_MAJOR_VERSION = 0x4, "Selects hardware_version_major.";
    DAT_IA_FIELD_IA_HARDWARE_MINOR_VERSION = 0x8, "Selects hardware_version_minor.";
    DAT_IA_FIELD_IA_FIRMWARE_MAJOR_VERSION = 0x10, "Selects firmware_version_major.";
    DAT_IA_FIELD_IA_FIRMWARE_MINOR_VERSION = 0x20, "Selects firmware_version_minor.";
    DAT_IA_FIELD_IA_ADDRESS_PTR = 0x40, "Selects ia_address_ptr.";
    DAT_IA_FIELD_IA_MAX_EPS = 0x80, "Selects max_eps.";
    DAT_IA_FIELD_IA_MAX_DTO_PER_EP = 0x100, "Selects max_dto_per_ep.";
    DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN = 0x200, "Selects max_rdma_read_per_ep_in.";
    DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT = 0x400, "Selects max_rdma_read_per_ep_out.";
    DAT_IA_FIELD_IA_MAX_EVDS = 0x800, "Selects max_evds.";
    DAT_IA_FIELD_IA_MAX_EVD_QLEN = 0x1000, "Selects max_evd_qlen.";
    DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_DTO = 0x2000, "Selects max_iov_segments_per_dto.";
    DAT_IA_FIELD_IA_MAX_LMRS = 0x4000, "Selects max_lmrs.";
    DAT_IA_FIELD_IA_MAX_LMR_BLOCK_SIZE = 0x8000, "Selects max_lmr_block_size.";
    DAT_IA_FIELD_IA_MAX_LMR_VIRTUAL_ADDRESS = 0x10000, "Selects max_lmr_virtual_address.";
    DAT_IA_FIELD_IA_MAX_PZS = 0x20000, "Selects max_pzs.";
    DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE = 0x40000, "Selects max_message_size.";
    DAT_IA_FIELD_IA_MAX_RDMA_SIZE = 0x80000, "Selects max_rdma_size.";
    DAT_IA_FIELD_IA_MAX_RMRS = 0x100000, "Selects max_rmrs.";
    DAT_IA_FIELD_IA_MAX_RMR_TARGET_ADDRESS = 0x200000, "Selects max_rmr_target_address.";
    DAT_IA_FIELD_IA_MAX_SRQS = 0x400000, "Selects max_srqs.";
    DAT_IA_FIELD_IA_MAX_EP_PER_SRQ = 0x800000, "Selects max_ep_per_srq.";
    DAT_IA_FIELD_IA_MAX_RECV_PER_SRQ = 0x1000000, "Selects max_recv_per_srq.";
    DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_READ = 0x2000000, "Selects max_iov_segments_per_rdma_read.";
    DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_WRITE = 0x4000000, "Selects max_iov_segments_per_rdma_write.";
    DAT_IA_FIELD_IA_MAX_RDMA_READ_IN = 0x8000000, "Selects max_rdma_read_in.";
    DAT_IA_FIELD_IA_MAX_RDMA_READ_OUT = 0x10000000, "Selects max_rdma_read_out.";
    DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN_GUARANTEED = 0x20000000, "Selects max_rdma_read_per_ep_in_guaranteed.";
    DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT_GUARANTEED = 0x40000000, "Selects max_rdma_read_per_ep_out_guaranteed.";
}

place!(fields);

/// Selects no field of DAT_IA_ATTR.
pub const DAT_IA_FIELD_NONE: DAT_IA_ATTR_MASK = 0x0;

place!(provider_attr);

/// Selects fields of DAT_PROVIDER_ATTR, a set of DAT_PROVIDER_FIELD_ bits.
pub type DAT_PROVIDER_ATTR_MASK = DAT_UINT64;

c_struct! {
    /// Identity of a provider in the registry: all four fields together.
    struct dat_provider_info as DAT_PROVIDER_INFO;
    ia_name: [c_char; DAT_NAME_MAX_LENGTH], "Name of the interface adapter.";
    dapl_version_major: DAT_UINT32, "Version of the interface, major.";
    dapl_version_minor: DAT_UINT32, "Version of the interface, minor.";
    is_thread_safe: DAT_BOOLEAN, "True if several threads may call the provider concurrently.";
}
