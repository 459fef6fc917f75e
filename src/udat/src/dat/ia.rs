//! Interface adapters and providers

use core::ffi::c_char;

use super::types::*;
use crate::dat_platform_specific::*;
use crate::place;

/// Defines `DAT_IA_ATTR` of a version, whose lengths are of the type `$length`.
#[macro_export]
macro_rules! ia_attr_of {
    ($length:ident; $($own:tt)*) => {
        /// Attributes of an interface adapter, see dat_ia_query. Maxima are those of the whole adapter,
        /// which all its users share.
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct dat_ia_attr {
            /// Name under which it was opened.
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
            /// Endpoints.
            pub max_eps: DAT_COUNT,
            /// Data transfers outstanding in one direction of an endpoint.
            pub max_dto_per_ep: DAT_COUNT,
            /// RDMA reads outstanding at an endpoint as target.
            pub max_rdma_read_per_ep_in: DAT_COUNT,
            /// RDMA reads outstanding at an endpoint as originator.
            pub max_rdma_read_per_ep_out: DAT_COUNT,
            /// Event dispatchers.
            pub max_evds: DAT_COUNT,
            /// Events in an event dispatcher.
            pub max_evd_qlen: DAT_COUNT,
            /// Segments of a send or receive.
            pub max_iov_segments_per_dto: DAT_COUNT,
            /// Local memory regions.
            pub max_lmrs: DAT_COUNT,
            /// Bytes in a local memory region.
            pub max_lmr_block_size: $length,
            /// Highest address in a local memory region.
            pub max_lmr_virtual_address: DAT_VADDR,
            /// Protection zones.
            pub max_pzs: DAT_COUNT,
            /// Bytes in a message.
            pub max_message_size: $length,
            /// Bytes in an RDMA operation.
            pub max_rdma_size: $length,
            /// Remote memory regions.
            pub max_rmrs: DAT_COUNT,
            /// Highest address in a remote memory region.
            pub max_rmr_target_address: DAT_VADDR,
            /// Shared receive queues.
            pub max_srqs: DAT_COUNT,
            /// Endpoints on a shared receive queue.
            pub max_ep_per_srq: DAT_COUNT,
            /// Buffers in a shared receive queue.
            pub max_recv_per_srq: DAT_COUNT,
            /// Segments of an RDMA read.
            pub max_iov_segments_per_rdma_read: DAT_COUNT,
            /// Segments of an RDMA write.
            pub max_iov_segments_per_rdma_write: DAT_COUNT,
            /// RDMA reads outstanding at the adapter as target.
            pub max_rdma_read_in: DAT_COUNT,
            /// RDMA reads outstanding at the adapter as originator.
            pub max_rdma_read_out: DAT_COUNT,
            /// Each endpoint gets max_rdma_read_per_ep_in; otherwise they share a pool.
            pub max_rdma_read_per_ep_in_guaranteed: DAT_BOOLEAN,
            /// Each endpoint gets max_rdma_read_per_ep_out; otherwise they share a pool.
            pub max_rdma_read_per_ep_out_guaranteed: DAT_BOOLEAN,
            $($own)*
            /// Elements of transport_attr.
            pub num_transport_attr: DAT_COUNT,
            /// Attributes of the transport.
            pub transport_attr: *mut DAT_NAMED_ATTR,
            /// Elements of vendor_attr.
            pub num_vendor_attr: DAT_COUNT,
            /// Attributes of the vendor.
            pub vendor_attr: *mut DAT_NAMED_ATTR,
        }

        /// Attributes of an interface adapter, see dat_ia_query. Maxima are those of the whole adapter,
        /// which all its users share.
        pub type DAT_IA_ATTR = dat_ia_attr;
    };
}

place!(attr);

/// Selects fields of DAT_IA_ATTR, a set of DAT_IA_FIELD_ bits.
pub type DAT_IA_ATTR_MASK = DAT_UINT64;

/// Older name of DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE.
pub const DAT_IA_FIELD_IA_MAX_MTU_SIZE: DAT_IA_ATTR_MASK = DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE;

/// Selects adapter_name.
pub const DAT_IA_FIELD_IA_ADAPTER_NAME: DAT_IA_ATTR_MASK = 0x1;

/// Selects vendor_name.
pub const DAT_IA_FIELD_IA_VENDOR_NAME: DAT_IA_ATTR_MASK = 0x2;

/// Selects hardware_version_major.
pub const DAT_IA_FIELD_IA_HARDWARE_MAJOR_VERSION: DAT_IA_ATTR_MASK = 0x4;

/// Selects hardware_version_minor.
pub const DAT_IA_FIELD_IA_HARDWARE_MINOR_VERSION: DAT_IA_ATTR_MASK = 0x8;

/// Selects firmware_version_major.
pub const DAT_IA_FIELD_IA_FIRMWARE_MAJOR_VERSION: DAT_IA_ATTR_MASK = 0x10;

/// Selects firmware_version_minor.
pub const DAT_IA_FIELD_IA_FIRMWARE_MINOR_VERSION: DAT_IA_ATTR_MASK = 0x20;

/// Selects ia_address_ptr.
pub const DAT_IA_FIELD_IA_ADDRESS_PTR: DAT_IA_ATTR_MASK = 0x40;

/// Selects max_eps.
pub const DAT_IA_FIELD_IA_MAX_EPS: DAT_IA_ATTR_MASK = 0x80;

/// Selects max_dto_per_ep.
pub const DAT_IA_FIELD_IA_MAX_DTO_PER_EP: DAT_IA_ATTR_MASK = 0x100;

/// Selects max_rdma_read_per_ep_in.
pub const DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN: DAT_IA_ATTR_MASK = 0x200;

/// Selects max_rdma_read_per_ep_out.
pub const DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT: DAT_IA_ATTR_MASK = 0x400;

/// Selects max_evds.
pub const DAT_IA_FIELD_IA_MAX_EVDS: DAT_IA_ATTR_MASK = 0x800;

/// Selects max_evd_qlen.
pub const DAT_IA_FIELD_IA_MAX_EVD_QLEN: DAT_IA_ATTR_MASK = 0x1000;

/// Selects max_iov_segments_per_dto.
pub const DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_DTO: DAT_IA_ATTR_MASK = 0x2000;

/// Selects max_lmrs.
pub const DAT_IA_FIELD_IA_MAX_LMRS: DAT_IA_ATTR_MASK = 0x4000;

/// Selects max_lmr_block_size.
pub const DAT_IA_FIELD_IA_MAX_LMR_BLOCK_SIZE: DAT_IA_ATTR_MASK = 0x8000;

/// Selects max_lmr_virtual_address.
pub const DAT_IA_FIELD_IA_MAX_LMR_VIRTUAL_ADDRESS: DAT_IA_ATTR_MASK = 0x10000;

/// Selects max_pzs.
pub const DAT_IA_FIELD_IA_MAX_PZS: DAT_IA_ATTR_MASK = 0x20000;

/// Selects max_message_size.
pub const DAT_IA_FIELD_IA_MAX_MESSAGE_SIZE: DAT_IA_ATTR_MASK = 0x40000;

/// Selects max_rdma_size.
pub const DAT_IA_FIELD_IA_MAX_RDMA_SIZE: DAT_IA_ATTR_MASK = 0x80000;

/// Selects max_rmrs.
pub const DAT_IA_FIELD_IA_MAX_RMRS: DAT_IA_ATTR_MASK = 0x100000;

/// Selects max_rmr_target_address.
pub const DAT_IA_FIELD_IA_MAX_RMR_TARGET_ADDRESS: DAT_IA_ATTR_MASK = 0x200000;

/// Selects max_srqs.
pub const DAT_IA_FIELD_IA_MAX_SRQS: DAT_IA_ATTR_MASK = 0x400000;

/// Selects max_ep_per_srq.
pub const DAT_IA_FIELD_IA_MAX_EP_PER_SRQ: DAT_IA_ATTR_MASK = 0x800000;

/// Selects max_recv_per_srq.
pub const DAT_IA_FIELD_IA_MAX_RECV_PER_SRQ: DAT_IA_ATTR_MASK = 0x1000000;

/// Selects max_iov_segments_per_rdma_read.
pub const DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_READ: DAT_IA_ATTR_MASK = 0x2000000;

/// Selects max_iov_segments_per_rdma_write.
pub const DAT_IA_FIELD_IA_MAX_IOV_SEGMENTS_PER_RDMA_WRITE: DAT_IA_ATTR_MASK = 0x4000000;

/// Selects max_rdma_read_in.
pub const DAT_IA_FIELD_IA_MAX_RDMA_READ_IN: DAT_IA_ATTR_MASK = 0x8000000;

/// Selects max_rdma_read_out.
pub const DAT_IA_FIELD_IA_MAX_RDMA_READ_OUT: DAT_IA_ATTR_MASK = 0x10000000;

/// Selects max_rdma_read_per_ep_in_guaranteed.
pub const DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_IN_GUARANTEED: DAT_IA_ATTR_MASK = 0x20000000;

/// Selects max_rdma_read_per_ep_out_guaranteed.
pub const DAT_IA_FIELD_IA_MAX_RDMA_READ_PER_EP_OUT_GUARANTEED: DAT_IA_ATTR_MASK = 0x40000000;

place!(fields);

/// Selects no field of DAT_IA_ATTR.
pub const DAT_IA_FIELD_NONE: DAT_IA_ATTR_MASK = 0x0;

place!(provider_attr);

/// Selects fields of DAT_PROVIDER_ATTR, a set of DAT_PROVIDER_FIELD_ bits.
pub type DAT_PROVIDER_ATTR_MASK = DAT_UINT64;

/// Identity of a provider in the registry: all four fields together.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_provider_info {
    /// Name of the interface adapter.
    pub ia_name: [c_char; DAT_NAME_MAX_LENGTH],
    /// Version of the interface, major.
    pub dapl_version_major: DAT_UINT32,
    /// Version of the interface, minor.
    pub dapl_version_minor: DAT_UINT32,
    /// Whether several threads may use the provider without locks of their own.
    pub is_thread_safe: DAT_BOOLEAN,
}

/// Identity of a provider in the registry: all four fields together.
pub type DAT_PROVIDER_INFO = dat_provider_info;
