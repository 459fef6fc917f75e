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
