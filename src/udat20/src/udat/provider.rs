//! Attributes of a provider

use core::ffi::c_char;

use super::DAT_MEM_TYPE;
use crate::dat::*;
use crate::dat_platform_specific::*;
use dat_udat::place;

pub use dat_udat::udat::provider::*;

place!(attr);

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
    /// Whether an RDMA read shows the remote side the context of the local memory.
    pub rdma_read_lmr_rmr_context_exposure: DAT_BOOLEAN,
    /// Kinds of remote memory regions, see dat_rmr_create and dat_rmr_create_for_ep.
    pub rmr_scope_supported: DAT_RMR_SCOPE,
    /// Whether calls may be made in a signal handler.
    pub is_signal_safe: DAT_BOOLEAN,
    /// Whether another adapter can take over connections, see dat_registry_providers_related.
    pub ha_supported: DAT_BOOLEAN,
    /// How load is spread over several paths.
    pub ha_loadbalancing: DAT_HA_LB,
    /// Elements of provider_specific_attr.
    pub num_provider_specific_attr: DAT_COUNT,
    /// Attributes of the provider.
    pub provider_specific_attr: *mut DAT_NAMED_ATTR,
}

place!(fields);

/// Selects num_provider_specific_attr.
pub const DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR: DAT_PROVIDER_ATTR_MASK = 0x20000000;

/// Selects provider_specific_attr.
pub const DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR: DAT_PROVIDER_ATTR_MASK = 0x40000000;

/// Selects rdma_read_lmr_rmr_context_exposure.
pub const DAT_PROVIDER_FIELD_RDMA_READ_LMR_RMR_CONTEXT_EXPOSURE: DAT_PROVIDER_ATTR_MASK = 0x1000000;

/// Selects rmr_scope_supported.
pub const DAT_PROVIDER_FIELD_RMR_SCOPE_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x2000000;

/// Selects is_signal_safe.
pub const DAT_PROVIDER_FIELD_IS_SIGNAL_SAFE: DAT_PROVIDER_ATTR_MASK = 0x4000000;

/// Selects ha_supported.
pub const DAT_PROVIDER_FIELD_HA_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x8000000;

/// Selects ha_loadbalancing.
pub const DAT_PROVIDER_FIELD_HA_LB: DAT_PROVIDER_ATTR_MASK = 0x10000000;

/// Selects all fields of DAT_PROVIDER_ATTR.
pub const DAT_PROVIDER_FIELD_ALL: DAT_PROVIDER_ATTR_MASK = 0x7FFFFFFF;
