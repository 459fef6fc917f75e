//! Structures and unions: size and alignment, then offset and size of each field

use crate::dat::*;
use crate::record;
use crate::udat::*;

record!(DAT_CONTEXT, 8, 8, {
    as_ptr: 0, 8;
    as_64: 0, 8;
    as_index: 0, 8;
});

record!(DAT_REGION_DESCRIPTION, 16, 8, {
    for_va: 0, 8;
    for_lmr_handle: 0, 8;
    for_shared_memory: 0, 16;
});

record!(DAT_NAMED_ATTR, 16, 8, {
    name: 0, 8;
    value: 8, 8;
});

record!(DAT_SRQ_ATTR, 12, 4, {
    max_recv_dtos: 0, 4;
    max_recv_iov: 4, 4;
    low_watermark: 8, 4;
});

record!(DAT_SRQ_PARAM, 48, 8, {
    ia_handle: 0, 8;
    srq_state: 8, 4;
    pz_handle: 16, 8;
    max_recv_dtos: 24, 4;
    max_recv_iov: 28, 4;
    low_watermark: 32, 4;
    available_dto_count: 36, 4;
    outstanding_dto_count: 40, 4;
});

record!(DAT_PZ_PARAM, 8, 8, {
    ia_handle: 0, 8;
});

record!(DAT_PSP_PARAM, 32, 8, {
    ia_handle: 0, 8;
    conn_qual: 8, 8;
    evd_handle: 16, 8;
    psp_flags: 24, 4;
});

record!(DAT_RSP_PARAM, 32, 8, {
    ia_handle: 0, 8;
    conn_qual: 8, 8;
    evd_handle: 16, 8;
    ep_handle: 24, 8;
});

record!(DAT_CR_PARAM, 40, 8, {
    remote_ia_address_ptr: 0, 8;
    remote_port_qual: 8, 8;
    private_data_size: 16, 4;
    private_data: 24, 8;
    local_ep_handle: 32, 8;
});

record!(DAT_RMR_BIND_COMPLETION_EVENT_DATA, 24, 8, {
    rmr_handle: 0, 8;
    user_cookie: 8, 8;
    status: 16, 4;
});

record!(DAT_CONNECTION_EVENT_DATA, 24, 8, {
    ep_handle: 0, 8;
    private_data_size: 8, 4;
    private_data: 16, 8;
});

record!(DAT_ASYNCH_ERROR_EVENT_DATA, 16, 8, {
    dat_handle: 0, 8;
    reason: 8, 4;
});

record!(DAT_SOFTWARE_EVENT_DATA, 8, 8, {
    pointer: 0, 8;
});

record!(DAT_PROVIDER_INFO, 268, 4, {
    ia_name: 0, 256;
    dapl_version_major: 256, 4;
    dapl_version_minor: 260, 4;
    is_thread_safe: 264, 4;
});

record!(DAT_EVD_PARAM, 32, 8, {
    ia_handle: 0, 8;
    evd_qlen: 8, 4;
    evd_state: 12, 4;
    cno_handle: 16, 8;
    evd_flags: 24, 4;
});

record!(DAT_OS_WAIT_PROXY_AGENT, 16, 8, {
    instance_data: 0, 8;
    proxy_agent_func: 8, 8;
});

record!(DAT_SHARED_MEMORY, 16, 8, {
    virtual_address: 0, 8;
    shared_memory_id: 8, 8;
});

/// Checks the attributes of a provider of a version: the fields that all have, and those of its own.
#[macro_export]
macro_rules! provider_attr_fields {
    ($($own:tt)*) => {
        $crate::fields!(DAT_PROVIDER_ATTR, {
            provider_name: 0, 256;
            provider_version_major: 256, 4;
            provider_version_minor: 260, 4;
            dapl_version_major: 264, 4;
            dapl_version_minor: 268, 4;
            lmr_mem_types_supported: 272, 4;
            iov_ownership_on_return: 276, 4;
            dat_qos_supported: 280, 4;
            completion_flags_supported: 284, 4;
            is_thread_safe: 288, 4;
            max_private_data_size: 292, 4;
            supports_multipath: 296, 4;
            ep_creator: 300, 4;
            pz_support: 304, 4;
            optimal_buffer_alignment: 308, 4;
            evd_stream_merging_supported: 312, 144;
            srq_supported: 456, 4;
            srq_watermarks_supported: 460, 4;
            srq_ep_pz_difference_supported: 464, 4;
            srq_info_supported: 468, 4;
            ep_recv_info_supported: 472, 4;
            lmr_sync_req: 476, 4;
            dto_async_return_guaranteed: 480, 4;
            rdma_write_for_rdma_read_req: 484, 4;
            $($own)*
        });
    };
}

/// Checks the provider table of a version: the fields that all have, and those of its own.
#[macro_export]
macro_rules! provider_fields {
    ($($own:tt)*) => {
        $crate::fields!(DAT_PROVIDER, {
            device_name: 0, 8;
            extension: 8, 8;
            ia_open_func: 16, 8;
            ia_query_func: 24, 8;
            ia_close_func: 32, 8;
            set_consumer_context_func: 40, 8;
            get_consumer_context_func: 48, 8;
            get_handle_type_func: 56, 8;
            cno_create_func: 64, 8;
            cno_modify_agent_func: 72, 8;
            cno_query_func: 80, 8;
            cno_free_func: 88, 8;
            cno_wait_func: 96, 8;
            cr_query_func: 104, 8;
            cr_accept_func: 112, 8;
            cr_reject_func: 120, 8;
            cr_handoff_func: 128, 8;
            evd_create_func: 136, 8;
            evd_query_func: 144, 8;
            evd_modify_cno_func: 152, 8;
            evd_enable_func: 160, 8;
            evd_disable_func: 168, 8;
            evd_wait_func: 176, 8;
            evd_resize_func: 184, 8;
            evd_post_se_func: 192, 8;
            evd_dequeue_func: 200, 8;
            evd_free_func: 208, 8;
            ep_create_func: 216, 8;
            ep_query_func: 224, 8;
            ep_modify_func: 232, 8;
            ep_connect_func: 240, 8;
            ep_dup_connect_func: 248, 8;
            ep_disconnect_func: 256, 8;
            ep_post_send_func: 264, 8;
            ep_post_recv_func: 272, 8;
            ep_post_rdma_read_func: 280, 8;
            ep_post_rdma_write_func: 288, 8;
            ep_get_status_func: 296, 8;
            ep_free_func: 304, 8;
            lmr_create_func: 312, 8;
            lmr_query_func: 320, 8;
            lmr_free_func: 328, 8;
            rmr_create_func: 336, 8;
            rmr_query_func: 344, 8;
            rmr_bind_func: 352, 8;
            rmr_free_func: 360, 8;
            psp_create_func: 368, 8;
            psp_query_func: 376, 8;
            psp_free_func: 384, 8;
            rsp_create_func: 392, 8;
            rsp_query_func: 400, 8;
            rsp_free_func: 408, 8;
            pz_create_func: 416, 8;
            pz_query_func: 424, 8;
            pz_free_func: 432, 8;
            psp_create_any_func: 440, 8;
            ep_reset_func: 448, 8;
            evd_set_unwaitable_func: 456, 8;
            evd_clear_unwaitable_func: 464, 8;
            lmr_sync_rdma_read_func: 472, 8;
            lmr_sync_rdma_write_func: 480, 8;
            ep_create_with_srq_func: 488, 8;
            ep_recv_query_func: 496, 8;
            ep_set_watermark_func: 504, 8;
            srq_create_func: 512, 8;
            srq_free_func: 520, 8;
            srq_post_recv_func: 528, 8;
            srq_query_func: 536, 8;
            srq_resize_func: 544, 8;
            srq_set_lw_func: 552, 8;
            $($own)*
        });
    };
}
