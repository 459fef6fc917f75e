//! Structures and unions: size and alignment, then offset and size of each field

use dat_udat::record;

use crate::*;

record!(DAT_SP_HANDLE, 8, 8, {
    rsp_handle: 0, 8;
    psp_handle: 0, 8;
    csp_handle: 0, 8;
});

record!(DAT_EVENT_DATA, 40, 8, {
    dto_completion_event_data: 0, 32;
    rmr_completion_event_data: 0, 24;
    cr_arrival_event_data: 0, 40;
    connect_event_data: 0, 24;
    asynch_error_event_data: 0, 16;
    software_event_data: 0, 8;
});

record!(DAT_COMM, 12, 4, {
    domain: 0, 4;
    r#type: 4, 4;
    protocol: 8, 4;
});

record!(DAT_LMR_TRIPLET, 16, 8, {
    virtual_address: 0, 8;
    segment_length: 8, 4;
    lmr_context: 12, 4;
});

record!(DAT_RMR_TRIPLET, 16, 8, {
    virtual_address: 0, 8;
    segment_length: 8, 4;
    rmr_context: 12, 4;
});

record!(DAT_RMR_PARAM, 48, 8, {
    ia_handle: 0, 8;
    pz_handle: 8, 8;
    lmr_triplet: 16, 16;
    mem_priv: 32, 4;
    rmr_context: 36, 4;
    rmr_scope: 40, 4;
    va_type: 44, 4;
});

record!(DAT_EP_ATTR, 88, 8, {
    service_type: 0, 4;
    max_message_size: 4, 4;
    max_rdma_size: 8, 4;
    qos: 12, 4;
    recv_completion_flags: 16, 4;
    request_completion_flags: 20, 4;
    max_recv_dtos: 24, 4;
    max_request_dtos: 28, 4;
    max_recv_iov: 32, 4;
    max_request_iov: 36, 4;
    max_rdma_read_in: 40, 4;
    max_rdma_read_out: 44, 4;
    srq_soft_hw: 48, 4;
    max_rdma_read_iov: 52, 4;
    max_rdma_write_iov: 56, 4;
    ep_transport_specific_count: 60, 4;
    ep_transport_specific: 64, 8;
    ep_provider_specific_count: 72, 4;
    ep_provider_specific: 80, 8;
});

record!(DAT_EP_PARAM, 184, 8, {
    ia_handle: 0, 8;
    ep_state: 8, 4;
    comm: 12, 12;
    local_ia_address_ptr: 24, 8;
    local_port_qual: 32, 8;
    remote_ia_address_ptr: 40, 8;
    remote_port_qual: 48, 8;
    pz_handle: 56, 8;
    recv_evd_handle: 64, 8;
    request_evd_handle: 72, 8;
    connect_evd_handle: 80, 8;
    srq_handle: 88, 8;
    ep_attr: 96, 88;
});

record!(DAT_CSP_PARAM, 32, 8, {
    ia_handle: 0, 8;
    comm: 8, 8;
    address_ptr: 16, 8;
    evd_handle: 24, 8;
});

record!(DAT_DTO_COMPLETION_EVENT_DATA, 32, 8, {
    ep_handle: 0, 8;
    user_cookie: 8, 8;
    status: 16, 4;
    transfered_length: 20, 4;
    operation: 24, 4;
    rmr_context: 28, 4;
});

record!(DAT_CR_ARRIVAL_EVENT_DATA, 40, 8, {
    sp_handle: 0, 8;
    local_ia_address_ptr: 8, 8;
    conn_qual: 16, 8;
    cr_handle: 24, 8;
    truncate_flag: 32, 4;
});

record!(DAT_EVENT, 120, 8, {
    event_number: 0, 4;
    evd_handle: 8, 8;
    event_data: 16, 40;
    event_extension_data: 56, 64;
});

record!(DAT_LMR_PARAM, 80, 8, {
    ia_handle: 0, 8;
    mem_type: 8, 4;
    region_desc: 16, 16;
    length: 32, 8;
    pz_handle: 40, 8;
    mem_priv: 48, 4;
    va_type: 52, 4;
    lmr_context: 56, 4;
    rmr_context: 60, 4;
    registered_size: 64, 8;
    registered_address: 72, 8;
});

record!(DAT_CNO_PARAM, 32, 8, {
    ia_handle: 0, 8;
    proxy_type: 8, 4;
    proxy: 16, 16;
});

record!(DAT_IA_ATTR, 688, 8, {
    adapter_name: 0, 256;
    vendor_name: 256, 256;
    hardware_version_major: 512, 4;
    hardware_version_minor: 516, 4;
    firmware_version_major: 520, 4;
    firmware_version_minor: 524, 4;
    ia_address_ptr: 528, 8;
    max_eps: 536, 4;
    max_dto_per_ep: 540, 4;
    max_rdma_read_per_ep_in: 544, 4;
    max_rdma_read_per_ep_out: 548, 4;
    max_evds: 552, 4;
    max_evd_qlen: 556, 4;
    max_iov_segments_per_dto: 560, 4;
    max_lmrs: 564, 4;
    max_lmr_block_size: 568, 4;
    max_lmr_virtual_address: 576, 8;
    max_pzs: 584, 4;
    max_message_size: 588, 4;
    max_rdma_size: 592, 4;
    max_rmrs: 596, 4;
    max_rmr_target_address: 600, 8;
    max_srqs: 608, 4;
    max_ep_per_srq: 612, 4;
    max_recv_per_srq: 616, 4;
    max_iov_segments_per_rdma_read: 620, 4;
    max_iov_segments_per_rdma_write: 624, 4;
    max_rdma_read_in: 628, 4;
    max_rdma_read_out: 632, 4;
    max_rdma_read_per_ep_in_guaranteed: 636, 4;
    max_rdma_read_per_ep_out_guaranteed: 640, 4;
    zb_supported: 644, 4;
    extension_supported: 648, 4;
    extension_version: 652, 4;
    num_transport_attr: 656, 4;
    transport_attr: 664, 8;
    num_vendor_attr: 672, 4;
    vendor_attr: 680, 8;
});

record!(DAT_PROVIDER_ATTR, 520, 8, {});
dat_udat::provider_attr_fields! {
    rdma_read_lmr_rmr_context_exposure: 488, 4;
    rmr_scope_supported: 492, 4;
    is_signal_safe: 496, 4;
    ha_supported: 500, 4;
    ha_loadbalancing: 504, 4;
    num_provider_specific_attr: 508, 4;
    provider_specific_attr: 512, 8;
}

record!(DAT_PROVIDER, 648, 8, {});
dat_udat::provider_fields! {
    csp_create_func: 560, 8;
    csp_query_func: 568, 8;
    csp_free_func: 576, 8;
    ep_common_connect_func: 584, 8;
    rmr_create_for_ep_func: 592, 8;
    ep_post_send_with_invalidate_func: 600, 8;
    ep_post_rdma_read_to_rmr_func: 608, 8;
    cno_fd_create_func: 616, 8;
    cno_trigger_func: 624, 8;
    ia_ha_related_func: 632, 8;
    handle_extendedop_func: 640, 8;
}
