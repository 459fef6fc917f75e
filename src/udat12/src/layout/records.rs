//! Structures and unions: size and alignment, then offset and size of each field

use dat_udat::record;

use crate::*;

record!(DAT_SP_HANDLE, 8, 8, {
    rsp_handle: 0, 8;
    psp_handle: 0, 8;
});

record!(DAT_EVENT_DATA, 32, 8, {
    dto_completion_event_data: 0, 32;
    rmr_completion_event_data: 0, 24;
    cr_arrival_event_data: 0, 32;
    connect_event_data: 0, 24;
    asynch_error_event_data: 0, 16;
    software_event_data: 0, 8;
});

record!(DAT_LMR_TRIPLET, 24, 8, {
    lmr_context: 0, 4;
    pad: 4, 4;
    virtual_address: 8, 8;
    segment_length: 16, 8;
});

record!(DAT_RMR_TRIPLET, 24, 8, {
    rmr_context: 0, 4;
    pad: 4, 4;
    target_address: 8, 8;
    segment_length: 16, 8;
});

record!(DAT_RMR_PARAM, 48, 8, {
    ia_handle: 0, 8;
    pz_handle: 8, 8;
    lmr_triplet: 16, 24;
    mem_priv: 40, 4;
    rmr_context: 44, 4;
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
    max_lmr_block_size: 568, 8;
    max_lmr_virtual_address: 576, 8;
    max_pzs: 584, 4;
    max_message_size: 592, 8;
    max_rdma_size: 600, 8;
    max_rmrs: 608, 4;
    max_rmr_target_address: 616, 8;
    max_srqs: 624, 4;
    max_ep_per_srq: 628, 4;
    max_recv_per_srq: 632, 4;
    max_iov_segments_per_rdma_read: 636, 4;
    max_iov_segments_per_rdma_write: 640, 4;
    max_rdma_read_in: 644, 4;
    max_rdma_read_out: 648, 4;
    max_rdma_read_per_ep_in_guaranteed: 652, 4;
    max_rdma_read_per_ep_out_guaranteed: 656, 4;
    num_transport_attr: 660, 4;
    transport_attr: 664, 8;
    num_vendor_attr: 672, 4;
    vendor_attr: 680, 8;
});

record!(DAT_EP_ATTR, 104, 8, {
    service_type: 0, 4;
    max_message_size: 8, 8;
    max_rdma_size: 16, 8;
    qos: 24, 4;
    recv_completion_flags: 28, 4;
    request_completion_flags: 32, 4;
    max_recv_dtos: 36, 4;
    max_request_dtos: 40, 4;
    max_recv_iov: 44, 4;
    max_request_iov: 48, 4;
    max_rdma_read_in: 52, 4;
    max_rdma_read_out: 56, 4;
    srq_soft_hw: 60, 4;
    max_rdma_read_iov: 64, 4;
    max_rdma_write_iov: 68, 4;
    ep_transport_specific_count: 72, 4;
    ep_transport_specific: 80, 8;
    ep_provider_specific_count: 88, 4;
    ep_provider_specific: 96, 8;
});

record!(DAT_EP_PARAM, 192, 8, {
    ia_handle: 0, 8;
    ep_state: 8, 4;
    local_ia_address_ptr: 16, 8;
    local_port_qual: 24, 8;
    remote_ia_address_ptr: 32, 8;
    remote_port_qual: 40, 8;
    pz_handle: 48, 8;
    recv_evd_handle: 56, 8;
    request_evd_handle: 64, 8;
    connect_evd_handle: 72, 8;
    srq_handle: 80, 8;
    ep_attr: 88, 104;
});

record!(DAT_DTO_COMPLETION_EVENT_DATA, 32, 8, {
    ep_handle: 0, 8;
    user_cookie: 8, 8;
    status: 16, 4;
    transfered_length: 24, 8;
});

record!(DAT_CR_ARRIVAL_EVENT_DATA, 32, 8, {
    sp_handle: 0, 8;
    local_ia_address_ptr: 8, 8;
    conn_qual: 16, 8;
    cr_handle: 24, 8;
});

record!(DAT_EVENT, 48, 8, {
    event_number: 0, 4;
    evd_handle: 8, 8;
    event_data: 16, 32;
});

record!(DAT_LMR_PARAM, 80, 8, {
    ia_handle: 0, 8;
    mem_type: 8, 4;
    region_desc: 16, 16;
    length: 32, 8;
    pz_handle: 40, 8;
    mem_priv: 48, 4;
    lmr_context: 52, 4;
    rmr_context: 56, 4;
    registered_size: 64, 8;
    registered_address: 72, 8;
});

record!(DAT_CNO_PARAM, 24, 8, {
    ia_handle: 0, 8;
    agent: 8, 16;
});

record!(DAT_PROVIDER_ATTR, 504, 8, {});
dat_udat::provider_attr_fields! {
    num_provider_specific_attr: 488, 4;
    provider_specific_attr: 496, 8;
}

record!(DAT_PROVIDER, 560, 8, {});
dat_udat::provider_fields! {}
