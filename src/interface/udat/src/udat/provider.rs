//! Attributes of a provider

use crate::dat::*;

c_enum! {
    /// Kind of protection of a zone.
    ///
    /// The Solaris headers also have DAT_PZ_SAME with the value 1. It is omitted, because 1 is DAT_PZ_SHAREABLE here.
    dat_pz_support as DAT_PZ_SUPPORT;
    DAT_PZ_UNIQUE = 0, "A zone serves one endpoint.";
    DAT_PZ_SHAREABLE = 1, "A zone serves any number of endpoints.";
}

/// Defines `DAT_PROVIDER_ATTR` of a version. The version's own fields precede the last two.
#[macro_export]
macro_rules! provider_attr_of {
    ($($own:tt)*) => {
        $crate::c_struct! {
            /// Attributes of the provider that serves an interface adapter, see dat_ia_query.
            struct dat_provider_attr;
            provider_name: [c_char; DAT_NAME_MAX_LENGTH], "Name of the provider.";
            provider_version_major: DAT_UINT32, "Version of the provider, major.";
            provider_version_minor: DAT_UINT32, "Version of the provider, minor.";
            dapl_version_major: DAT_UINT32, "Version of the interface, major.";
            dapl_version_minor: DAT_UINT32, "Version of the interface, minor.";
            lmr_mem_types_supported: DAT_MEM_TYPE, "Kinds of memory, as a set of bits.";
            iov_ownership_on_return: DAT_IOV_OWNERSHIP, "Owner of an array of segments after a post.";
            dat_qos_supported: DAT_QOS, "Qualities of service, as a set of bits.";
            completion_flags_supported: DAT_COMPLETION_FLAGS, "Completion flags, as a set of bits.";
            is_thread_safe: DAT_BOOLEAN, "True if several threads may call the provider concurrently.";
            max_private_data_size: DAT_COUNT, "Maximum bytes of private data in one direction.";
            supports_multipath: DAT_BOOLEAN, "True if DAT_CONNECT_MULTIPATH_FLAG is supported.";
            ep_creator: DAT_EP_CREATOR_FOR_PSP, "Cases in which the provider creates endpoints at public service points.";
            pz_support: DAT_PZ_SUPPORT, "Kind of protection.";
            optimal_buffer_alignment: DAT_UINT32, "Best alignment of buffers in bytes.";
            evd_stream_merging_supported: [[DAT_BOOLEAN; 6]; 6],
                "Streams that may share an event dispatcher, in the order software, connection request,"
                "data transfer, connection, bind, asynchronous. Not const as in other headers, so that the"
                "structure can be copied and be a variable in C++.";
            srq_supported: DAT_BOOLEAN, "True if shared receive queues are supported.";
            srq_watermarks_supported: DAT_COUNT,
                "Watermarks, a set of bits: 0x001 low, 0x010 soft high, 0x100 hard high.";
            srq_ep_pz_difference_supported: DAT_BOOLEAN,
                "True if the zones of an endpoint and of its shared receive queue may differ.";
            srq_info_supported: DAT_COUNT,
                "Counts that dat_srq_query returns, a set of bits: 0x01 available, 0x10 outstanding.";
            ep_recv_info_supported: DAT_COUNT,
                "Counts that dat_ep_recv_query returns, a set of bits: 0x01 allocated, 0x10 span.";
            lmr_sync_req: DAT_BOOLEAN, "True if dat_lmr_sync_rdma_read and dat_lmr_sync_rdma_write are needed.";
            dto_async_return_guaranteed: DAT_BOOLEAN,
                "True if a completion reports memory errors, never the return code of a"
                "post.";
            rdma_write_for_rdma_read_req: DAT_BOOLEAN,
                "True if the destination of an RDMA read needs the remote write privilege.";
            $($own)*
            num_provider_specific_attr: DAT_COUNT, "Elements of provider_specific_attr.";
            provider_specific_attr: *mut DAT_NAMED_ATTR, "Attributes of the provider.";
        }
    };
}

place!(attr);

c_consts! {
    DAT_PROVIDER_ATTR_MASK;
    DAT_PROVIDER_FIELD_PROVIDER_NAME = 0x1, "Selects provider_name.";
    DAT_PROVIDER_FIELD_PROVIDER_VERSION_MAJOR = 0x2, "Selects provider_version_major.";
    DAT_PROVIDER_FIELD_PROVIDER_VERSION_MINOR = 0x4, "Selects provider_version_minor.";
    DAT_PROVIDER_FIELD_DAPL_VERSION_MAJOR = 0x8, "Selects dapl_version_major.";
    DAT_PROVIDER_FIELD_DAPL_VERSION_MINOR = 0x10, "Selects dapl_version_minor.";
    DAT_PROVIDER_FIELD_LMR_MEM_TYPE_SUPPORTED = 0x20, "Selects lmr_mem_types_supported.";
    DAT_PROVIDER_FIELD_IOV_OWNERSHIP = 0x40, "Selects iov_ownership_on_return.";
    DAT_PROVIDER_FIELD_DAT_QOS_SUPPORTED = 0x80, "Selects dat_qos_supported.";
    DAT_PROVIDER_FIELD_COMPLETION_FLAGS_SUPPORTED = 0x100, "Selects completion_flags_supported.";
    DAT_PROVIDER_FIELD_IS_THREAD_SAFE = 0x200, "Selects is_thread_safe.";
    DAT_PROVIDER_FIELD_MAX_PRIVATE_DATA_SIZE = 0x400, "Selects max_private_data_size.";
    DAT_PROVIDER_FIELD_SUPPORTS_MULTIPATH = 0x800, "Selects supports_multipath.";
    DAT_PROVIDER_FIELD_EP_CREATOR = 0x1000, "Selects ep_creator.";
    DAT_PROVIDER_FIELD_PZ_SUPPORT = 0x2000, "Selects pz_support.";
    DAT_PROVIDER_FIELD_OPTIMAL_BUFFER_ALIGNMENT = 0x4000, "Selects optimal_buffer_alignment.";
    DAT_PROVIDER_FIELD_EVD_STREAM_MERGING_SUPPORTED = 0x8000, "Selects evd_stream_merging_supported.";
    DAT_PROVIDER_FIELD_SRQ_SUPPORTED = 0x10000, "Selects srq_supported.";
    DAT_PROVIDER_FIELD_SRQ_WATERMARKS_SUPPORTED = 0x20000, "Selects srq_watermarks_supported.";
    DAT_PROVIDER_FIELD_SRQ_EP_PZ_DIFFERENCE_SUPPORTED = 0x40000, "Selects srq_ep_pz_difference_supported.";
    DAT_PROVIDER_FIELD_SRQ_INFO_SUPPORTED = 0x80000, "Selects srq_info_supported.";
    DAT_PROVIDER_FIELD_EP_RECV_INFO_SUPPORTED = 0x100000, "Selects ep_recv_info_supported.";
    DAT_PROVIDER_FIELD_LMR_SYNC_REQ = 0x200000, "Selects lmr_sync_req.";
    DAT_PROVIDER_FIELD_DTO_ASYNC_RETURN_GUARANTEED = 0x400000, "Selects dto_async_return_guaranteed.";
    DAT_PROVIDER_FIELD_RDMA_WRITE_FOR_RDMA_READ_REQ = 0x800000, "Selects rdma_write_for_rdma_read_req.";
}

place!(fields);

/// Selects no field of DAT_PROVIDER_ATTR.
pub const DAT_PROVIDER_FIELD_NONE: DAT_PROVIDER_ATTR_MASK = 0x0;
