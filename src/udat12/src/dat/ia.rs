//! Interface adapters and providers

use core::ffi::c_char;

use super::types::*;
use crate::dat_platform_specific::*;
use crate::udat::provider::dat_provider_attr;
use dat_udat::place;

pub use dat_udat::dat::ia::*;

place!(attr);

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
    pub max_lmr_block_size: DAT_VLEN,
    /// Highest address in a local memory region.
    pub max_lmr_virtual_address: DAT_VADDR,
    /// Protection zones.
    pub max_pzs: DAT_COUNT,
    /// Bytes in a message.
    pub max_message_size: DAT_VLEN,
    /// Bytes in an RDMA operation.
    pub max_rdma_size: DAT_VLEN,
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

place!(fields);

/// Selects num_transport_attr.
pub const DAT_IA_FIELD_IA_NUM_TRANSPORT_ATTR: DAT_IA_ATTR_MASK = 0x80000000;

/// Selects transport_attr.
pub const DAT_IA_FIELD_IA_TRANSPORT_ATTR: DAT_IA_ATTR_MASK = 0x100000000;

/// Selects num_vendor_attr.
pub const DAT_IA_FIELD_IA_NUM_VENDOR_ATTR: DAT_IA_ATTR_MASK = 0x200000000;

/// Selects vendor_attr.
pub const DAT_IA_FIELD_IA_VENDOR_ATTR: DAT_IA_ATTR_MASK = 0x400000000;

/// Older name of DAT_IA_FIELD_ALL.
pub const DAT_IA_ALL: DAT_IA_ATTR_MASK = DAT_IA_FIELD_ALL;

/// Selects all fields of DAT_IA_ATTR.
pub const DAT_IA_FIELD_ALL: DAT_IA_ATTR_MASK = 0x7FFFFFFFF;

place!(provider_attr);

/// Attributes of the provider that serves an interface adapter, see dat_ia_query.
pub type DAT_PROVIDER_ATTR = dat_provider_attr;
