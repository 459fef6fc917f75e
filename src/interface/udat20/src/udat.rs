//! User-level interface

use core::ffi::c_char;

use dat_udat::names::c_enum;

use crate::dat::*;
use crate::dat_platform_specific::*;

pub use dat_udat::udat::*;

/// Parameters of a local memory region, see dat_lmr_query.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct dat_lmr_param {
    /// Interface adapter of the region.
    pub ia_handle: DAT_IA_HANDLE,
    /// Kind of the memory; determines the valid member of region_desc.
    pub mem_type: DAT_MEM_TYPE,
    /// Memory of the region, as passed to dat_lmr_create.
    pub region_desc: DAT_REGION_DESCRIPTION,
    /// Number of bytes that the program requested.
    pub length: DAT_VLEN,
    /// Protection zone of the region.
    pub pz_handle: DAT_PZ_HANDLE,
    /// Privileges of the region.
    pub mem_priv: DAT_MEM_PRIV_FLAGS,
    /// Base of the addresses in the region.
    pub va_type: DAT_VA_TYPE,
    /// Context that identifies the region in segments of local memory.
    pub lmr_context: DAT_LMR_CONTEXT,
    /// Context that identifies the region to the remote side.
    pub rmr_context: DAT_RMR_CONTEXT,
    /// Number of registered bytes, at least the requested number.
    pub registered_size: DAT_VLEN,
    /// First registered address.
    pub registered_address: DAT_VADDR,
}

/// Receiver of the triggers of a notification object, in addition to waiting threads.
pub type DAT_PROXY_TYPE = c_enum;
/// No receiver.
pub const DAT_PROXY_TYPE_NONE: DAT_PROXY_TYPE = 0;
/// A function of the program.
pub const DAT_PROXY_TYPE_AGENT: DAT_PROXY_TYPE = 1;
/// A file descriptor, see dat_cno_fd_create.
pub const DAT_PROXY_TYPE_FD: DAT_PROXY_TYPE = 2;

/// Receiver of the triggers of a notification object. DAT_PROXY_TYPE determines the valid member.
#[derive(Clone, Copy)]
#[repr(C)]
pub union DAT_CNO_PROXY {
    /// The function.
    pub agent: DAT_OS_WAIT_PROXY_AGENT,
    /// The file descriptor.
    pub fd: DAT_FD,
    /// Unused.
    pub none: DAT_PVOID,
}

/// Parameters of a notification object, see dat_cno_query.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct DAT_CNO_PARAM {
    /// Interface adapter of the notification object.
    pub ia_handle: DAT_IA_HANDLE,
    /// Kind of the receiver; determines the valid member of proxy.
    pub proxy_type: DAT_PROXY_TYPE,
    /// The receiver of triggers, in addition to waiting threads.
    pub proxy: DAT_CNO_PROXY,
}

pub const DAT_CNO_FIELD_PROXY_TYPE: DAT_CNO_PARAM_MASK = 0x02;
pub const DAT_CNO_FIELD_PROXY: DAT_CNO_PARAM_MASK = 0x03;
pub const DAT_CNO_FIELD_ALL: DAT_CNO_PARAM_MASK = 0x04;

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
    /// Supported kinds of memory, as a set of bits.
    pub lmr_mem_types_supported: DAT_MEM_TYPE,
    /// Owner of an array of segments after a post.
    pub iov_ownership_on_return: DAT_IOV_OWNERSHIP,
    /// Supported qualities of service, as a set of bits.
    pub dat_qos_supported: DAT_QOS,
    /// Supported completion flags, as a set of bits.
    pub completion_flags_supported: DAT_COMPLETION_FLAGS,
    /// DAT_TRUE if several threads may call the provider concurrently.
    pub is_thread_safe: DAT_BOOLEAN,
    /// Maximum bytes of private data in one direction.
    pub max_private_data_size: DAT_COUNT,
    /// DAT_TRUE if DAT_CONNECT_MULTIPATH_FLAG is supported.
    pub supports_multipath: DAT_BOOLEAN,
    /// Cases in which the provider creates endpoints at public service points.
    pub ep_creator: DAT_EP_CREATOR_FOR_PSP,
    /// Number of endpoints that a protection zone may serve.
    pub pz_support: DAT_PZ_SUPPORT,
    /// Best alignment of buffers in bytes.
    pub optimal_buffer_alignment: DAT_UINT32,
    /// DAT_TRUE where one event dispatcher may accept events of the kinds of both row and column. Order of kinds:
    /// software, connection request, data transfer, connection, bind, asynchronous. Not const as in other headers,
    /// so that programs can copy the structure, and declare it in C++.
    pub evd_stream_merging_supported: [[DAT_BOOLEAN; 6]; 6],
    /// DAT_TRUE if shared receive queues are supported.
    pub srq_supported: DAT_BOOLEAN,
    /// Supported watermarks, a set of bits: 0x001 low, 0x010 soft high, 0x100 hard high.
    pub srq_watermarks_supported: DAT_COUNT,
    /// DAT_TRUE if the zones of an endpoint and of its shared receive queue may differ.
    pub srq_ep_pz_difference_supported: DAT_BOOLEAN,
    /// Counts that dat_srq_query returns, a set of bits: 0x01 available, 0x10 outstanding.
    pub srq_info_supported: DAT_COUNT,
    /// Counts that dat_ep_recv_query returns, a set of bits: 0x01 allocated, 0x10 span.
    pub ep_recv_info_supported: DAT_COUNT,
    /// DAT_TRUE if dat_lmr_sync_rdma_read and dat_lmr_sync_rdma_write are needed.
    pub lmr_sync_req: DAT_BOOLEAN,
    /// DAT_TRUE if only completions report memory errors, never the return code of a post.
    pub dto_async_return_guaranteed: DAT_BOOLEAN,
    /// DAT_TRUE if the destination of an RDMA read needs the remote write privilege.
    pub rdma_write_for_rdma_read_req: DAT_BOOLEAN,
    /// DAT_TRUE if an RDMA read reveals the context of the local memory to the remote side.
    pub rdma_read_lmr_rmr_context_exposure: DAT_BOOLEAN,
    /// Supported scopes of remote memory regions, see dat_rmr_create and dat_rmr_create_for_ep.
    pub rmr_scope_supported: DAT_RMR_SCOPE,
    /// DAT_TRUE if signal handlers may make calls.
    pub is_signal_safe: DAT_BOOLEAN,
    /// DAT_TRUE if another adapter can take over connections, see dat_registry_providers_related.
    pub ha_supported: DAT_BOOLEAN,
    /// How the provider distributes load over several paths.
    pub ha_loadbalancing: DAT_HA_LB,
    /// Number of elements of provider_specific_attr.
    pub num_provider_specific_attr: DAT_COUNT,
    /// Named attributes of the provider.
    pub provider_specific_attr: *mut DAT_NAMED_ATTR,
}

pub const DAT_PROVIDER_FIELD_NUM_PROVIDER_SPECIFIC_ATTR: DAT_PROVIDER_ATTR_MASK = 0x20000000;
pub const DAT_PROVIDER_FIELD_PROVIDER_SPECIFIC_ATTR: DAT_PROVIDER_ATTR_MASK = 0x40000000;
pub const DAT_PROVIDER_FIELD_RDMA_READ_LMR_RMR_CONTEXT_EXPOSURE: DAT_PROVIDER_ATTR_MASK = 0x1000000;
pub const DAT_PROVIDER_FIELD_RMR_SCOPE_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x2000000;
pub const DAT_PROVIDER_FIELD_IS_SIGNAL_SAFE: DAT_PROVIDER_ATTR_MASK = 0x4000000;
pub const DAT_PROVIDER_FIELD_HA_SUPPORTED: DAT_PROVIDER_ATTR_MASK = 0x8000000;
/// Selects ha_loadbalancing.
pub const DAT_PROVIDER_FIELD_HA_LB: DAT_PROVIDER_ATTR_MASK = 0x10000000;
pub const DAT_PROVIDER_FIELD_ALL: DAT_PROVIDER_ATTR_MASK = 0x7FFFFFFF;
