//! The layout that the binary interface fixes, checked while compiling: sizes, alignments and
//! offsets in bytes on Linux x86_64. The same numbers, seen from C, are in tests-c/abi.

use core::mem::{align_of, offset_of, size_of};

use crate::*;

/// Asserts size and alignment of a type.
macro_rules! scalar {
    ($type:ty, $size:literal, $align:literal) => {
        const _: () = assert!(size_of::<$type>() == $size && align_of::<$type>() == $align);
    };
}

/// Asserts size and alignment of a structure or union and the offset of every field.
macro_rules! record {
    ($type:ty, $size:literal, $align:literal, { $($field:ident: $offset:literal,)* }) => {
        scalar!($type, $size, $align);
        $(const _: () = assert!(offset_of!($type, $field) == $offset);)*
    };
}

scalar!(DAT_UINT32, 4, 4);
scalar!(DAT_UINT64, 8, 8);
scalar!(DAT_UVERYLONG, 8, 8);
scalar!(DAT_PVOID, 8, 8);
scalar!(DAT_COUNT, 4, 4);
scalar!(DAT_PADDR, 8, 8);
scalar!(DAT_MEM_TYPE, 4, 4);
scalar!(DAT_HANDLE_TYPE, 4, 4);
scalar!(DAT_EVD_STATE, 4, 4);
scalar!(DAT_EVD_PARAM_MASK, 4, 4);
scalar!(DAT_PROVIDER_ATTR_MASK, 8, 8);
scalar!(DAT_RETURN_TYPE, 4, 4);
scalar!(DAT_RETURN, 4, 4);
scalar!(DAT_RETURN_SUBTYPE, 4, 4);
scalar!(DAT_NAME_PTR, 8, 8);
scalar!(DAT_BOOLEAN, 4, 4);
scalar!(DAT_DTO_COOKIE, 8, 8);
scalar!(DAT_RMR_COOKIE, 8, 8);
scalar!(DAT_COMPLETION_FLAGS, 4, 4);
scalar!(DAT_TIMEOUT, 4, 4);
scalar!(DAT_HANDLE, 8, 8);
scalar!(DAT_CR_HANDLE, 8, 8);
scalar!(DAT_EP_HANDLE, 8, 8);
scalar!(DAT_EVD_HANDLE, 8, 8);
scalar!(DAT_IA_HANDLE, 8, 8);
scalar!(DAT_LMR_HANDLE, 8, 8);
scalar!(DAT_PSP_HANDLE, 8, 8);
scalar!(DAT_PZ_HANDLE, 8, 8);
scalar!(DAT_RMR_HANDLE, 8, 8);
scalar!(DAT_RSP_HANDLE, 8, 8);
scalar!(DAT_SRQ_HANDLE, 8, 8);
scalar!(DAT_IA_ADDRESS_PTR, 8, 8);
scalar!(DAT_CONN_QUAL, 8, 8);
scalar!(DAT_PORT_QUAL, 8, 8);
scalar!(DAT_QOS, 4, 4);
scalar!(DAT_CONNECT_FLAGS, 4, 4);
scalar!(DAT_CLOSE_FLAGS, 4, 4);
scalar!(DAT_EVD_FLAGS, 4, 4);
scalar!(DAT_PSP_FLAGS, 4, 4);
scalar!(DAT_LMR_CONTEXT, 4, 4);
scalar!(DAT_RMR_CONTEXT, 4, 4);
scalar!(DAT_VLEN, 8, 8);
scalar!(DAT_VADDR, 8, 8);
scalar!(DAT_MEM_PRIV_FLAGS, 4, 4);
scalar!(DAT_LMR_PARAM_MASK, 4, 4);
scalar!(DAT_RMR_PARAM_MASK, 4, 4);
scalar!(DAT_IOV_OWNERSHIP, 4, 4);
scalar!(DAT_EP_CREATOR_FOR_PSP, 4, 4);
scalar!(DAT_IA_ATTR_MASK, 8, 8);
scalar!(DAT_SERVICE_TYPE, 4, 4);
scalar!(DAT_EP_STATE, 4, 4);
scalar!(DAT_EP_PARAM_MASK, 8, 8);
scalar!(DAT_SRQ_STATE, 4, 4);
scalar!(DAT_SRQ_PARAM_MASK, 4, 4);
scalar!(DAT_PZ_PARAM_MASK, 4, 4);
scalar!(DAT_PSP_PARAM_MASK, 4, 4);
scalar!(DAT_RSP_PARAM_MASK, 4, 4);
scalar!(DAT_CR_PARAM_MASK, 4, 4);
scalar!(DAT_DTO_COMPLETION_STATUS, 4, 4);
scalar!(DAT_IA_ASYNC_ERROR_REASON, 4, 4);
scalar!(DAT_EP_ASYNC_ERROR_REASON, 4, 4);
scalar!(DAT_EVD_ASYNC_ERROR_REASON, 4, 4);
scalar!(DAT_SRQ_ASYNC_ERROR_REASON, 4, 4);
scalar!(DAT_LMR_ASYNC_ERROR_REASON, 4, 4);
scalar!(DAT_RMR_ASYNC_ERROR_REASON, 4, 4);
scalar!(DAT_PZ_ASYNC_ERROR_REASON, 4, 4);
scalar!(DAT_EVENT_NUMBER, 4, 4);
scalar!(DAT_CNO_HANDLE, 8, 8);
scalar!(DAT_LMR_COOKIE, 8, 8);
scalar!(DAT_AGENT_FUNC, 8, 8);
scalar!(DAT_CNO_PARAM_MASK, 4, 4);
scalar!(DAT_PZ_SUPPORT, 4, 4);
scalar!(DAT_LMR_CREATE_FUNC, 8, 8);
scalar!(DAT_EVD_CREATE_FUNC, 8, 8);
scalar!(DAT_EVD_MODIFY_CNO_FUNC, 8, 8);
scalar!(DAT_CNO_CREATE_FUNC, 8, 8);
scalar!(DAT_CNO_MODIFY_AGENT_FUNC, 8, 8);
scalar!(DAT_CNO_QUERY_FUNC, 8, 8);
scalar!(DAT_CNO_FREE_FUNC, 8, 8);
scalar!(DAT_CNO_WAIT_FUNC, 8, 8);
scalar!(DAT_EVD_ENABLE_FUNC, 8, 8);
scalar!(DAT_EVD_WAIT_FUNC, 8, 8);
scalar!(DAT_EVD_DISABLE_FUNC, 8, 8);
scalar!(DAT_EVD_SET_UNWAITABLE_FUNC, 8, 8);
scalar!(DAT_EVD_CLEAR_UNWAITABLE_FUNC, 8, 8);
scalar!(DAT_IA_OPEN_FUNC, 8, 8);
scalar!(DAT_IA_OPENV_FUNC, 8, 8);
scalar!(DAT_IA_CLOSE_FUNC, 8, 8);
scalar!(DAT_IA_QUERY_FUNC, 8, 8);
scalar!(DAT_SET_CONSUMER_CONTEXT_FUNC, 8, 8);
scalar!(DAT_GET_CONSUMER_CONTEXT_FUNC, 8, 8);
scalar!(DAT_GET_HANDLE_TYPE_FUNC, 8, 8);
scalar!(DAT_CR_QUERY_FUNC, 8, 8);
scalar!(DAT_CR_ACCEPT_FUNC, 8, 8);
scalar!(DAT_CR_REJECT_FUNC, 8, 8);
scalar!(DAT_CR_HANDOFF_FUNC, 8, 8);
scalar!(DAT_EVD_RESIZE_FUNC, 8, 8);
scalar!(DAT_EVD_POST_SE_FUNC, 8, 8);
scalar!(DAT_EVD_DEQUEUE_FUNC, 8, 8);
scalar!(DAT_EVD_FREE_FUNC, 8, 8);
scalar!(DAT_EVD_QUERY_FUNC, 8, 8);
scalar!(DAT_EP_CREATE_FUNC, 8, 8);
scalar!(DAT_EP_CREATE_WITH_SRQ_FUNC, 8, 8);
scalar!(DAT_EP_QUERY_FUNC, 8, 8);
scalar!(DAT_EP_MODIFY_FUNC, 8, 8);
scalar!(DAT_EP_CONNECT_FUNC, 8, 8);
scalar!(DAT_EP_DUP_CONNECT_FUNC, 8, 8);
scalar!(DAT_EP_DISCONNECT_FUNC, 8, 8);
scalar!(DAT_EP_POST_SEND_FUNC, 8, 8);
scalar!(DAT_EP_POST_RECV_FUNC, 8, 8);
scalar!(DAT_EP_POST_RDMA_READ_FUNC, 8, 8);
scalar!(DAT_EP_POST_RDMA_WRITE_FUNC, 8, 8);
scalar!(DAT_EP_GET_STATUS_FUNC, 8, 8);
scalar!(DAT_EP_FREE_FUNC, 8, 8);
scalar!(DAT_EP_RESET_FUNC, 8, 8);
scalar!(DAT_EP_RECV_QUERY_FUNC, 8, 8);
scalar!(DAT_EP_SET_WATERMARK_FUNC, 8, 8);
scalar!(DAT_LMR_FREE_FUNC, 8, 8);
scalar!(DAT_LMR_QUERY_FUNC, 8, 8);
scalar!(DAT_LMR_SYNC_RDMA_READ_FUNC, 8, 8);
scalar!(DAT_LMR_SYNC_RDMA_WRITE_FUNC, 8, 8);
scalar!(DAT_RMR_CREATE_FUNC, 8, 8);
scalar!(DAT_RMR_QUERY_FUNC, 8, 8);
scalar!(DAT_RMR_BIND_FUNC, 8, 8);
scalar!(DAT_RMR_FREE_FUNC, 8, 8);
scalar!(DAT_PSP_CREATE_FUNC, 8, 8);
scalar!(DAT_PSP_CREATE_ANY_FUNC, 8, 8);
scalar!(DAT_PSP_QUERY_FUNC, 8, 8);
scalar!(DAT_PSP_FREE_FUNC, 8, 8);
scalar!(DAT_RSP_CREATE_FUNC, 8, 8);
scalar!(DAT_RSP_QUERY_FUNC, 8, 8);
scalar!(DAT_RSP_FREE_FUNC, 8, 8);
scalar!(DAT_PZ_CREATE_FUNC, 8, 8);
scalar!(DAT_PZ_QUERY_FUNC, 8, 8);
scalar!(DAT_PZ_FREE_FUNC, 8, 8);
scalar!(DAT_SRQ_CREATE_FUNC, 8, 8);
scalar!(DAT_SRQ_SET_LW_FUNC, 8, 8);
scalar!(DAT_SRQ_FREE_FUNC, 8, 8);
scalar!(DAT_SRQ_QUERY_FUNC, 8, 8);
scalar!(DAT_SRQ_RESIZE_FUNC, 8, 8);
scalar!(DAT_SRQ_POST_RECV_FUNC, 8, 8);
scalar!(DAT_PROVIDER_INIT_FUNC, 8, 8);
scalar!(DAT_PROVIDER_FINI_FUNC, 8, 8);
record!(DAT_CONTEXT, 8, 8, {
    as_ptr: 0,
    as_64: 0,
    as_index: 0,
});
record!(DAT_SP_HANDLE, 8, 8, {
    rsp_handle: 0,
    psp_handle: 0,
});
record!(DAT_EVENT_DATA, 32, 8, {
    dto_completion_event_data: 0,
    rmr_completion_event_data: 0,
    cr_arrival_event_data: 0,
    connect_event_data: 0,
    asynch_error_event_data: 0,
    software_event_data: 0,
});
record!(DAT_REGION_DESCRIPTION, 16, 8, {
    for_va: 0,
    for_lmr_handle: 0,
    for_shared_memory: 0,
});
record!(DAT_NAMED_ATTR, 16, 8, {
    name: 0,
    value: 8,
});
record!(DAT_LMR_TRIPLET, 24, 8, {
    lmr_context: 0,
    pad: 4,
    virtual_address: 8,
    segment_length: 16,
});
record!(DAT_RMR_TRIPLET, 24, 8, {
    rmr_context: 0,
    pad: 4,
    target_address: 8,
    segment_length: 16,
});
record!(DAT_RMR_PARAM, 48, 8, {
    ia_handle: 0,
    pz_handle: 8,
    lmr_triplet: 16,
    mem_priv: 40,
    rmr_context: 44,
});
record!(DAT_IA_ATTR, 688, 8, {
    adapter_name: 0,
    vendor_name: 256,
    hardware_version_major: 512,
    hardware_version_minor: 516,
    firmware_version_major: 520,
    firmware_version_minor: 524,
    ia_address_ptr: 528,
    max_eps: 536,
    max_dto_per_ep: 540,
    max_rdma_read_per_ep_in: 544,
    max_rdma_read_per_ep_out: 548,
    max_evds: 552,
    max_evd_qlen: 556,
    max_iov_segments_per_dto: 560,
    max_lmrs: 564,
    max_lmr_block_size: 568,
    max_lmr_virtual_address: 576,
    max_pzs: 584,
    max_message_size: 592,
    max_rdma_size: 600,
    max_rmrs: 608,
    max_rmr_target_address: 616,
    max_srqs: 624,
    max_ep_per_srq: 628,
    max_recv_per_srq: 632,
    max_iov_segments_per_rdma_read: 636,
    max_iov_segments_per_rdma_write: 640,
    max_rdma_read_in: 644,
    max_rdma_read_out: 648,
    max_rdma_read_per_ep_in_guaranteed: 652,
    max_rdma_read_per_ep_out_guaranteed: 656,
    num_transport_attr: 660,
    transport_attr: 664,
    num_vendor_attr: 672,
    vendor_attr: 680,
});
record!(DAT_EP_ATTR, 104, 8, {
    service_type: 0,
    max_message_size: 8,
    max_rdma_size: 16,
    qos: 24,
    recv_completion_flags: 28,
    request_completion_flags: 32,
    max_recv_dtos: 36,
    max_request_dtos: 40,
    max_recv_iov: 44,
    max_request_iov: 48,
    max_rdma_read_in: 52,
    max_rdma_read_out: 56,
    srq_soft_hw: 60,
    max_rdma_read_iov: 64,
    max_rdma_write_iov: 68,
    ep_transport_specific_count: 72,
    ep_transport_specific: 80,
    ep_provider_specific_count: 88,
    ep_provider_specific: 96,
});
record!(DAT_EP_PARAM, 192, 8, {
    ia_handle: 0,
    ep_state: 8,
    local_ia_address_ptr: 16,
    local_port_qual: 24,
    remote_ia_address_ptr: 32,
    remote_port_qual: 40,
    pz_handle: 48,
    recv_evd_handle: 56,
    request_evd_handle: 64,
    connect_evd_handle: 72,
    srq_handle: 80,
    ep_attr: 88,
});
record!(DAT_SRQ_ATTR, 12, 4, {
    max_recv_dtos: 0,
    max_recv_iov: 4,
    low_watermark: 8,
});
record!(DAT_SRQ_PARAM, 48, 8, {
    ia_handle: 0,
    srq_state: 8,
    pz_handle: 16,
    max_recv_dtos: 24,
    max_recv_iov: 28,
    low_watermark: 32,
    available_dto_count: 36,
    outstanding_dto_count: 40,
});
record!(DAT_PZ_PARAM, 8, 8, {
    ia_handle: 0,
});
record!(DAT_PSP_PARAM, 32, 8, {
    ia_handle: 0,
    conn_qual: 8,
    evd_handle: 16,
    psp_flags: 24,
});
record!(DAT_RSP_PARAM, 32, 8, {
    ia_handle: 0,
    conn_qual: 8,
    evd_handle: 16,
    ep_handle: 24,
});
record!(DAT_CR_PARAM, 40, 8, {
    remote_ia_address_ptr: 0,
    remote_port_qual: 8,
    private_data_size: 16,
    private_data: 24,
    local_ep_handle: 32,
});
record!(DAT_DTO_COMPLETION_EVENT_DATA, 32, 8, {
    ep_handle: 0,
    user_cookie: 8,
    status: 16,
    transfered_length: 24,
});
record!(DAT_RMR_BIND_COMPLETION_EVENT_DATA, 24, 8, {
    rmr_handle: 0,
    user_cookie: 8,
    status: 16,
});
record!(DAT_CR_ARRIVAL_EVENT_DATA, 32, 8, {
    sp_handle: 0,
    local_ia_address_ptr: 8,
    conn_qual: 16,
    cr_handle: 24,
});
record!(DAT_CONNECTION_EVENT_DATA, 24, 8, {
    ep_handle: 0,
    private_data_size: 8,
    private_data: 16,
});
record!(DAT_ASYNCH_ERROR_EVENT_DATA, 16, 8, {
    dat_handle: 0,
    reason: 8,
});
record!(DAT_SOFTWARE_EVENT_DATA, 8, 8, {
    pointer: 0,
});
record!(DAT_EVENT, 48, 8, {
    event_number: 0,
    evd_handle: 8,
    event_data: 16,
});
record!(DAT_PROVIDER_INFO, 268, 4, {
    ia_name: 0,
    dapl_version_major: 256,
    dapl_version_minor: 260,
    is_thread_safe: 264,
});
record!(DAT_EVD_PARAM, 32, 8, {
    ia_handle: 0,
    evd_qlen: 8,
    evd_state: 12,
    cno_handle: 16,
    evd_flags: 24,
});
record!(DAT_OS_WAIT_PROXY_AGENT, 16, 8, {
    instance_data: 0,
    proxy_agent_func: 8,
});
record!(DAT_SHARED_MEMORY, 16, 8, {
    virtual_address: 0,
    shared_memory_id: 8,
});
record!(DAT_LMR_PARAM, 80, 8, {
    ia_handle: 0,
    mem_type: 8,
    region_desc: 16,
    length: 32,
    pz_handle: 40,
    mem_priv: 48,
    lmr_context: 52,
    rmr_context: 56,
    registered_size: 64,
    registered_address: 72,
});
record!(DAT_CNO_PARAM, 24, 8, {
    ia_handle: 0,
    agent: 8,
});
record!(DAT_PROVIDER_ATTR, 504, 8, {
    provider_name: 0,
    provider_version_major: 256,
    provider_version_minor: 260,
    dapl_version_major: 264,
    dapl_version_minor: 268,
    lmr_mem_types_supported: 272,
    iov_ownership_on_return: 276,
    dat_qos_supported: 280,
    completion_flags_supported: 284,
    is_thread_safe: 288,
    max_private_data_size: 292,
    supports_multipath: 296,
    ep_creator: 300,
    pz_support: 304,
    optimal_buffer_alignment: 308,
    evd_stream_merging_supported: 312,
    srq_supported: 456,
    srq_watermarks_supported: 460,
    srq_ep_pz_difference_supported: 464,
    srq_info_supported: 468,
    ep_recv_info_supported: 472,
    lmr_sync_req: 476,
    dto_async_return_guaranteed: 480,
    rdma_write_for_rdma_read_req: 484,
    num_provider_specific_attr: 488,
    provider_specific_attr: 496,
});
record!(DAT_PROVIDER, 560, 8, {
    device_name: 0,
    extension: 8,
    ia_open_func: 16,
    ia_query_func: 24,
    ia_close_func: 32,
    set_consumer_context_func: 40,
    get_consumer_context_func: 48,
    get_handle_type_func: 56,
    cno_create_func: 64,
    cno_modify_agent_func: 72,
    cno_query_func: 80,
    cno_free_func: 88,
    cno_wait_func: 96,
    cr_query_func: 104,
    cr_accept_func: 112,
    cr_reject_func: 120,
    cr_handoff_func: 128,
    evd_create_func: 136,
    evd_query_func: 144,
    evd_modify_cno_func: 152,
    evd_enable_func: 160,
    evd_disable_func: 168,
    evd_wait_func: 176,
    evd_resize_func: 184,
    evd_post_se_func: 192,
    evd_dequeue_func: 200,
    evd_free_func: 208,
    ep_create_func: 216,
    ep_query_func: 224,
    ep_modify_func: 232,
    ep_connect_func: 240,
    ep_dup_connect_func: 248,
    ep_disconnect_func: 256,
    ep_post_send_func: 264,
    ep_post_recv_func: 272,
    ep_post_rdma_read_func: 280,
    ep_post_rdma_write_func: 288,
    ep_get_status_func: 296,
    ep_free_func: 304,
    lmr_create_func: 312,
    lmr_query_func: 320,
    lmr_free_func: 328,
    rmr_create_func: 336,
    rmr_query_func: 344,
    rmr_bind_func: 352,
    rmr_free_func: 360,
    psp_create_func: 368,
    psp_query_func: 376,
    psp_free_func: 384,
    rsp_create_func: 392,
    rsp_query_func: 400,
    rsp_free_func: 408,
    pz_create_func: 416,
    pz_query_func: 424,
    pz_free_func: 432,
    psp_create_any_func: 440,
    ep_reset_func: 448,
    evd_set_unwaitable_func: 456,
    evd_clear_unwaitable_func: 464,
    lmr_sync_rdma_read_func: 472,
    lmr_sync_rdma_write_func: 480,
    ep_create_with_srq_func: 488,
    ep_recv_query_func: 496,
    ep_set_watermark_func: 504,
    srq_create_func: 512,
    srq_free_func: 520,
    srq_post_recv_func: 528,
    srq_query_func: 536,
    srq_resize_func: 544,
    srq_set_lw_func: 552,
});
