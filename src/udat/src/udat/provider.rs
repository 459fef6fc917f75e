//! Attributes of a provider

use crate::dat::*;
use crate::{c_enum, place};

c_enum! {
    /// Kind of protection that the zones of a provider offer.
    ///
    /// The Solaris headers also have DAT_PZ_SAME with the value 1, which is DAT_PZ_SHAREABLE
    /// here; so it is left out.
    pub enum dat_pz_support as DAT_PZ_SUPPORT {
        /// A zone serves one endpoint.
        DAT_PZ_UNIQUE = 0,
        /// A zone serves any number of endpoints.
        DAT_PZ_SHAREABLE = 1,
    }
}

place!(attr);

/// Selects provider_name.
pub const DAT_PROVIDER_FIELD_PROVIDER_NAME: DAT_PROVIDER_ATTR_MASK = 0x1;

/// Selects provider_version_major.
pub const DAT_PROVIDER_FIELD_PROVIDER_VERSION_MAJOR: DAT_PROVIDER_ATTR_MASK = 0x2;

/// Selects provider_version_minor.
pub const DAT_PROVIDER_FIELD_PROVIDER_VERSION_MINOR: DAT_PROVIDER_ATTR_MASK = 0x4;

/// Selects dapl_version_major.
pub const DAT_PROVIDER_FIELD_DAPL_VERSION_MAJOR: DAT_PROVIDER_ATTR_MASK = 0x8;

/// Selects dapl_version_minor.
pub const DAT_PROVIDER_FIELD_DAPL_VERSION_MINOR: DAT_PROVIDER_ATTR_MASK = 0x10;

/// Selects lmr_mem_types_supported.
pub const DAT_PROVIDER_FIELD_LMR_MEM_TYPE_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x20;

/// Selects iov_ownership_on_return.
pub const DAT_PROVIDER_FIELD_IOV_OWNERSHIP: DAT_PROVIDER_ATTR_MASK = 0x40;

/// Selects dat_qos_supported.
pub const DAT_PROVIDER_FIELD_DAT_QOS_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x80;

/// Selects completion_flags_supported.
pub const DAT_PROVIDER_FIELD_COMPLETION_FLAGS_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x100;

/// Selects is_thread_safe.
pub const DAT_PROVIDER_FIELD_IS_THREAD_SAFE: DAT_PROVIDER_ATTR_MASK = 0x200;

/// Selects max_private_data_size.
pub const DAT_PROVIDER_FIELD_MAX_PRIVATE_DATA_SIZE: DAT_PROVIDER_ATTR_MASK = 0x400;

/// Selects supports_multipath.
pub const DAT_PROVIDER_FIELD_SUPPORTS_MULTIPATH: DAT_PROVIDER_ATTR_MASK = 0x800;

/// Selects ep_creator.
pub const DAT_PROVIDER_FIELD_EP_CREATOR: DAT_PROVIDER_ATTR_MASK = 0x1000;

/// Selects pz_support.
pub const DAT_PROVIDER_FIELD_PZ_SUPPORT: DAT_PROVIDER_ATTR_MASK = 0x2000;

/// Selects optimal_buffer_alignment.
pub const DAT_PROVIDER_FIELD_OPTIMAL_BUFFER_ALIGNMENT: DAT_PROVIDER_ATTR_MASK = 0x4000;

/// Selects evd_stream_merging_supported.
pub const DAT_PROVIDER_FIELD_EVD_STREAM_MERGING_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x8000;

/// Selects srq_supported.
pub const DAT_PROVIDER_FIELD_SRQ_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x10000;

/// Selects srq_watermarks_supported.
pub const DAT_PROVIDER_FIELD_SRQ_WATERMARKS_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x20000;

/// Selects srq_ep_pz_difference_supported.
pub const DAT_PROVIDER_FIELD_SRQ_EP_PZ_DIFFERENCE_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x40000;

/// Selects srq_info_supported.
pub const DAT_PROVIDER_FIELD_SRQ_INFO_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x80000;

/// Selects ep_recv_info_supported.
pub const DAT_PROVIDER_FIELD_EP_RECV_INFO_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x100000;

/// Selects lmr_sync_req.
pub const DAT_PROVIDER_FIELD_LMR_SYNC_REQ: DAT_PROVIDER_ATTR_MASK = 0x200000;

/// Selects dto_async_return_guaranteed.
pub const DAT_PROVIDER_FIELD_DTO_ASYNC_RETURN_GUARANTEED: DAT_PROVIDER_ATTR_MASK = 0x400000;

/// Selects rdma_write_for_rdma_read_req.
pub const DAT_PROVIDER_FIELD_RDMA_WRITE_FOR_RDMA_READ_REQ: DAT_PROVIDER_ATTR_MASK = 0x800000;

place!(fields);

/// Selects no field of DAT_PROVIDER_ATTR.
pub const DAT_PROVIDER_FIELD_NONE: DAT_PROVIDER_ATTR_MASK = 0x0;
