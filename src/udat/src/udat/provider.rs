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

/// Defines `DAT_PROVIDER_ATTR` of a version, whose own fields come before the last two.
#[macro_export]
macro_rules! provider_attr_of {
    ($($own:tt)*) => {
        /// Attributes of the provider that serves an interface adapter, see dat_ia_query.
        #[derive(Clone, Copy, Debug)]
        #[repr(C)]
        pub struct dat_provider_attr {
            /// Name of the provider.
            pub provider_name: [c_char; DAT_NAME_MAX_LENGTH],
            /// Version of the provider, major.
            pub provider_version_major: DAT_UINT32,
            /// Version of the provider, minor.
            pub provider_version_minor: DAT_UINT32,
            /// Version of the interface, major.
            pub dapl_version_major: DAT_UINT32,
            /// Version of the interface, minor.
            pub dapl_version_minor: DAT_UINT32,
            /// Kinds of memory, as a set of bits.
            pub lmr_mem_types_supported: DAT_MEM_TYPE,
            /// Owner of an array of segments after a post.
            pub iov_ownership_on_return: DAT_IOV_OWNERSHIP,
            /// Qualities of service, as a set of bits.
            pub dat_qos_supported: DAT_QOS,
            /// Completion flags, as a set of bits.
            pub completion_flags_supported: DAT_COMPLETION_FLAGS,
            /// Whether several threads may use the provider without locks of their own.
            pub is_thread_safe: DAT_BOOLEAN,
            /// Bytes of private data that a connection can carry each way.
            pub max_private_data_size: DAT_COUNT,
            /// Whether DAT_CONNECT_MULTIPATH_FLAG works.
            pub supports_multipath: DAT_BOOLEAN,
            /// Cases in which the provider makes endpoints at public service points.
            pub ep_creator: DAT_EP_CREATOR_FOR_PSP,
            /// Kind of protection.
            pub pz_support: DAT_PZ_SUPPORT,
            /// Best alignment of buffers in bytes.
            pub optimal_buffer_alignment: DAT_UINT32,
            /// Streams that may share an event dispatcher, in the order software, connection request,
            /// data transfer, connection, bind, asynchronous. Not const as in other headers, so that the
            /// structure can be copied and be a variable in C++.
            pub evd_stream_merging_supported: [[DAT_BOOLEAN; 6]; 6],
            /// Whether there are shared receive queues.
            pub srq_supported: DAT_BOOLEAN,
            /// Watermarks, a set of bits: 0x001 low, 0x010 soft high, 0x100 hard high.
            pub srq_watermarks_supported: DAT_COUNT,
            /// Whether an endpoint may have a zone other than that of its shared receive queue.
            pub srq_ep_pz_difference_supported: DAT_BOOLEAN,
            /// Counts that dat_srq_query returns, a set of bits: 0x01 available, 0x10 outstanding.
            pub srq_info_supported: DAT_COUNT,
            /// Counts that dat_ep_recv_query returns, a set of bits: 0x01 allocated, 0x10 span.
            pub ep_recv_info_supported: DAT_COUNT,
            /// Whether dat_lmr_sync_rdma_read and dat_lmr_sync_rdma_write are needed.
            pub lmr_sync_req: DAT_BOOLEAN,
            /// Whether memory errors are always reported by completion, never by the return code of a
            /// post.
            pub dto_async_return_guaranteed: DAT_BOOLEAN,
            /// Whether the sink of an RDMA read needs the right of remote write.
            pub rdma_write_for_rdma_read_req: DAT_BOOLEAN,
            $($own)*
            /// Elements of provider_specific_attr.
            pub num_provider_specific_attr: DAT_COUNT,
            /// Attributes of the provider.
            pub provider_specific_attr: *mut DAT_NAMED_ATTR,
        }
    };
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
