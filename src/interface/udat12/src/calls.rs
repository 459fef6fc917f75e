//! The calls of uDAPL 1.2, one per line. The list of uDAPL 2.0, src/interface/udat20/src/calls.rs, explains the syntax.

/// Calls the macro `$callback` with the calls of uDAPL 1.2.
#[macro_export]
macro_rules! for_each_call {
    ($callback:path) => {
        $callback! {
            // The slots, in the order of the provider table.
            extern "C" fn dat_ia_openv(provider: DAT_NAME_PTR, asynch_evd_min_qlen: DAT_COUNT, asynch_evd_handle: *mut DAT_EVD_HANDLE, ia_handle: *mut DAT_IA_HANDLE) => wrap(dat_major: DAT_UINT32, dat_minor: DAT_UINT32, thread_safety: DAT_BOOLEAN), ia_open_func: DAT_IA_OPEN_FUNC;
            extern "C" fn dat_ia_query(ia_handle: DAT_IA_HANDLE, async_evd_handle: *mut DAT_EVD_HANDLE, ia_attr_mask: DAT_IA_ATTR_MASK, ia_attr: *mut DAT_IA_ATTR, provider_attr_mask: DAT_PROVIDER_ATTR_MASK, provider_attr: *mut DAT_PROVIDER_ATTR) => dispatch(DAT_INVALID_HANDLE_IA), ia_query_func: DAT_IA_QUERY_FUNC;
            extern "C" fn dat_ia_close(ia_handle: DAT_IA_HANDLE, close_flags: DAT_CLOSE_FLAGS) => wrap, ia_close_func: DAT_IA_CLOSE_FUNC;
            extern "C" fn dat_set_consumer_context(dat_handle: DAT_HANDLE, context: DAT_CONTEXT) => dispatch(DAT_INVALID_HANDLE1), set_consumer_context_func: DAT_SET_CONSUMER_CONTEXT_FUNC;
            extern "C" fn dat_get_consumer_context(dat_handle: DAT_HANDLE, context: *mut DAT_CONTEXT) => dispatch(DAT_INVALID_HANDLE1), get_consumer_context_func: DAT_GET_CONSUMER_CONTEXT_FUNC;
            extern "C" fn dat_get_handle_type(dat_handle: DAT_HANDLE, handle_type: *mut DAT_HANDLE_TYPE) => dispatch(DAT_INVALID_HANDLE1), get_handle_type_func: DAT_GET_HANDLE_TYPE_FUNC;
            extern "C" fn dat_cno_create(ia_handle: DAT_IA_HANDLE, agent: DAT_OS_WAIT_PROXY_AGENT, cno_handle: *mut DAT_CNO_HANDLE) => dispatch(DAT_INVALID_HANDLE_IA), cno_create_func: DAT_CNO_CREATE_FUNC;
            extern "C" fn dat_cno_modify_agent(cno_handle: DAT_CNO_HANDLE, agent: DAT_OS_WAIT_PROXY_AGENT) => dispatch(DAT_INVALID_HANDLE_CNO), cno_modify_agent_func: DAT_CNO_MODIFY_AGENT_FUNC;
            extern "C" fn dat_cno_query(cno_handle: DAT_CNO_HANDLE, cno_param_mask: DAT_CNO_PARAM_MASK, cno_param: *mut DAT_CNO_PARAM) => dispatch(DAT_INVALID_HANDLE_CNO), cno_query_func: DAT_CNO_QUERY_FUNC;
            extern "C" fn dat_cno_free(cno_handle: DAT_CNO_HANDLE) => dispatch(DAT_INVALID_HANDLE_CNO), cno_free_func: DAT_CNO_FREE_FUNC;
            extern "C-unwind" fn dat_cno_wait(cno_handle: DAT_CNO_HANDLE, timeout: DAT_TIMEOUT, evd_handle: *mut DAT_EVD_HANDLE) => dispatch(DAT_INVALID_HANDLE_CNO), cno_wait_func: DAT_CNO_WAIT_FUNC;
            extern "C" fn dat_cr_query(cr_handle: DAT_CR_HANDLE, cr_param_mask: DAT_CR_PARAM_MASK, cr_param: *mut DAT_CR_PARAM) => dispatch(DAT_INVALID_HANDLE_CR), cr_query_func: DAT_CR_QUERY_FUNC;
            extern "C" fn dat_cr_accept(cr_handle: DAT_CR_HANDLE, ep_handle: DAT_EP_HANDLE, private_data_size: DAT_COUNT, private_data: DAT_PVOID) => dispatch(DAT_INVALID_HANDLE_CR), cr_accept_func: DAT_CR_ACCEPT_FUNC;
            extern "C" fn dat_cr_reject(cr_handle: DAT_CR_HANDLE) => dispatch(DAT_INVALID_HANDLE_CR), cr_reject_func: DAT_CR_REJECT_FUNC;
            extern "C" fn dat_cr_handoff(cr_handle: DAT_CR_HANDLE, handoff: DAT_CONN_QUAL) => dispatch(DAT_INVALID_HANDLE_CR), cr_handoff_func: DAT_CR_HANDOFF_FUNC;
            extern "C" fn dat_evd_create(ia_handle: DAT_IA_HANDLE, evd_min_qlen: DAT_COUNT, cno_handle: DAT_CNO_HANDLE, evd_flags: DAT_EVD_FLAGS, evd_handle: *mut DAT_EVD_HANDLE) => dispatch(DAT_INVALID_HANDLE_IA), evd_create_func: DAT_EVD_CREATE_FUNC;
            extern "C" fn dat_evd_query(evd_handle: DAT_EVD_HANDLE, evd_param_mask: DAT_EVD_PARAM_MASK, evd_param: *mut DAT_EVD_PARAM) => dispatch(DAT_INVALID_HANDLE1), evd_query_func: DAT_EVD_QUERY_FUNC;
            extern "C" fn dat_evd_modify_cno(evd_handle: DAT_EVD_HANDLE, cno_handle: DAT_CNO_HANDLE) => dispatch(DAT_INVALID_HANDLE1), evd_modify_cno_func: DAT_EVD_MODIFY_CNO_FUNC;
            extern "C" fn dat_evd_enable(evd_handle: DAT_EVD_HANDLE) => dispatch(DAT_INVALID_HANDLE1), evd_enable_func: DAT_EVD_ENABLE_FUNC;
            extern "C" fn dat_evd_disable(evd_handle: DAT_EVD_HANDLE) => dispatch(DAT_INVALID_HANDLE1), evd_disable_func: DAT_EVD_DISABLE_FUNC;
            extern "C-unwind" fn dat_evd_wait(evd_handle: DAT_EVD_HANDLE, timeout: DAT_TIMEOUT, threshold: DAT_COUNT, event: *mut DAT_EVENT, n_more_events: *mut DAT_COUNT) => dispatch(DAT_INVALID_HANDLE1), evd_wait_func: DAT_EVD_WAIT_FUNC;
            extern "C" fn dat_evd_resize(evd_handle: DAT_EVD_HANDLE, evd_min_qlen: DAT_COUNT) => dispatch(DAT_INVALID_HANDLE1), evd_resize_func: DAT_EVD_RESIZE_FUNC;
            extern "C" fn dat_evd_post_se(evd_handle: DAT_EVD_HANDLE, event: *const DAT_EVENT) => dispatch(DAT_INVALID_HANDLE1), evd_post_se_func: DAT_EVD_POST_SE_FUNC;
            extern "C" fn dat_evd_dequeue(evd_handle: DAT_EVD_HANDLE, event: *mut DAT_EVENT) => dispatch(DAT_INVALID_HANDLE1), evd_dequeue_func: DAT_EVD_DEQUEUE_FUNC;
            extern "C" fn dat_evd_free(evd_handle: DAT_EVD_HANDLE) => dispatch(DAT_INVALID_HANDLE1), evd_free_func: DAT_EVD_FREE_FUNC;
            extern "C" fn dat_ep_create(ia_handle: DAT_IA_HANDLE, pz_handle: DAT_PZ_HANDLE, recv_completion_evd_handle: DAT_EVD_HANDLE, request_completion_evd_handle: DAT_EVD_HANDLE, connect_evd_handle: DAT_EVD_HANDLE, ep_attributes: *const DAT_EP_ATTR, ep_handle: *mut DAT_EP_HANDLE) => dispatch(DAT_INVALID_HANDLE_IA), ep_create_func: DAT_EP_CREATE_FUNC;
            extern "C" fn dat_ep_query(ep_handle: DAT_EP_HANDLE, ep_param_mask: DAT_EP_PARAM_MASK, ep_param: *mut DAT_EP_PARAM) => dispatch(DAT_INVALID_HANDLE_EP), ep_query_func: DAT_EP_QUERY_FUNC;
            extern "C" fn dat_ep_modify(ep_handle: DAT_EP_HANDLE, ep_param_mask: DAT_EP_PARAM_MASK, ep_param: *const DAT_EP_PARAM) => dispatch(DAT_INVALID_HANDLE_EP), ep_modify_func: DAT_EP_MODIFY_FUNC;
            extern "C" fn dat_ep_connect(ep_handle: DAT_EP_HANDLE, remote_ia_address: DAT_IA_ADDRESS_PTR, remote_conn_qual: DAT_CONN_QUAL, timeout: DAT_TIMEOUT, private_data_size: DAT_COUNT, private_data: DAT_PVOID, quality_of_service: DAT_QOS, connect_flags: DAT_CONNECT_FLAGS) => dispatch(DAT_INVALID_HANDLE_EP), ep_connect_func: DAT_EP_CONNECT_FUNC;
            extern "C" fn dat_ep_dup_connect(ep_handle: DAT_EP_HANDLE, ep_dup_handle: DAT_EP_HANDLE, timeout: DAT_TIMEOUT, private_data_size: DAT_COUNT, private_data: DAT_PVOID, quality_of_service: DAT_QOS) => dispatch(DAT_INVALID_HANDLE_EP), ep_dup_connect_func: DAT_EP_DUP_CONNECT_FUNC;
            extern "C" fn dat_ep_disconnect(ep_handle: DAT_EP_HANDLE, close_flags: DAT_CLOSE_FLAGS) => dispatch(DAT_INVALID_HANDLE_EP), ep_disconnect_func: DAT_EP_DISCONNECT_FUNC;
            extern "C" fn dat_ep_post_send(ep_handle: DAT_EP_HANDLE, num_segments: DAT_COUNT, local_iov: *mut DAT_LMR_TRIPLET, user_cookie: DAT_DTO_COOKIE, completion_flags: DAT_COMPLETION_FLAGS) => dispatch(DAT_INVALID_HANDLE_EP), ep_post_send_func: DAT_EP_POST_SEND_FUNC;
            extern "C" fn dat_ep_post_recv(ep_handle: DAT_EP_HANDLE, num_segments: DAT_COUNT, local_iov: *mut DAT_LMR_TRIPLET, user_cookie: DAT_DTO_COOKIE, completion_flags: DAT_COMPLETION_FLAGS) => dispatch(DAT_INVALID_HANDLE_EP), ep_post_recv_func: DAT_EP_POST_RECV_FUNC;
            extern "C" fn dat_ep_post_rdma_read(ep_handle: DAT_EP_HANDLE, num_segments: DAT_COUNT, local_iov: *mut DAT_LMR_TRIPLET, user_cookie: DAT_DTO_COOKIE, remote_iov: *const DAT_RMR_TRIPLET, completion_flags: DAT_COMPLETION_FLAGS) => dispatch(DAT_INVALID_HANDLE_EP), ep_post_rdma_read_func: DAT_EP_POST_RDMA_READ_FUNC;
            extern "C" fn dat_ep_post_rdma_write(ep_handle: DAT_EP_HANDLE, num_segments: DAT_COUNT, local_iov: *mut DAT_LMR_TRIPLET, user_cookie: DAT_DTO_COOKIE, remote_iov: *const DAT_RMR_TRIPLET, completion_flags: DAT_COMPLETION_FLAGS) => dispatch(DAT_INVALID_HANDLE_EP), ep_post_rdma_write_func: DAT_EP_POST_RDMA_WRITE_FUNC;
            extern "C" fn dat_ep_get_status(ep_handle: DAT_EP_HANDLE, ep_state: *mut DAT_EP_STATE, recv_idle: *mut DAT_BOOLEAN, request_idle: *mut DAT_BOOLEAN) => dispatch(DAT_INVALID_HANDLE_EP), ep_get_status_func: DAT_EP_GET_STATUS_FUNC;
            extern "C" fn dat_ep_free(ep_handle: DAT_EP_HANDLE) => dispatch(DAT_INVALID_HANDLE_EP), ep_free_func: DAT_EP_FREE_FUNC;
            extern "C" fn dat_lmr_create(ia_handle: DAT_IA_HANDLE, mem_type: DAT_MEM_TYPE, region_description: DAT_REGION_DESCRIPTION, length: DAT_VLEN, pz_handle: DAT_PZ_HANDLE, privileges: DAT_MEM_PRIV_FLAGS, lmr_handle: *mut DAT_LMR_HANDLE, lmr_context: *mut DAT_LMR_CONTEXT, rmr_context: *mut DAT_RMR_CONTEXT, registered_length: *mut DAT_VLEN, registered_address: *mut DAT_VADDR) => dispatch(DAT_INVALID_HANDLE_IA), lmr_create_func: DAT_LMR_CREATE_FUNC;
            extern "C" fn dat_lmr_query(lmr_handle: DAT_LMR_HANDLE, lmr_param_mask: DAT_LMR_PARAM_MASK, lmr_param: *mut DAT_LMR_PARAM) => dispatch(DAT_INVALID_HANDLE_LMR), lmr_query_func: DAT_LMR_QUERY_FUNC;
            extern "C" fn dat_lmr_free(lmr_handle: DAT_LMR_HANDLE) => dispatch(DAT_INVALID_HANDLE_LMR), lmr_free_func: DAT_LMR_FREE_FUNC;
            extern "C" fn dat_rmr_create(pz_handle: DAT_PZ_HANDLE, rmr_handle: *mut DAT_RMR_HANDLE) => dispatch(DAT_INVALID_HANDLE_PZ), rmr_create_func: DAT_RMR_CREATE_FUNC;
            extern "C" fn dat_rmr_query(rmr_handle: DAT_RMR_HANDLE, rmr_param_mask: DAT_RMR_PARAM_MASK, rmr_param: *mut DAT_RMR_PARAM) => dispatch(DAT_INVALID_HANDLE_RMR), rmr_query_func: DAT_RMR_QUERY_FUNC;
            extern "C" fn dat_rmr_bind(rmr_handle: DAT_RMR_HANDLE, lmr_triplet: *const DAT_LMR_TRIPLET, mem_priv: DAT_MEM_PRIV_FLAGS, ep_handle: DAT_EP_HANDLE, user_cookie: DAT_RMR_COOKIE, completion_flags: DAT_COMPLETION_FLAGS, context: *mut DAT_RMR_CONTEXT) => dispatch(DAT_INVALID_HANDLE_RMR), rmr_bind_func: DAT_RMR_BIND_FUNC;
            extern "C" fn dat_rmr_free(rmr_handle: DAT_RMR_HANDLE) => dispatch(DAT_INVALID_HANDLE_RMR), rmr_free_func: DAT_RMR_FREE_FUNC;
            extern "C" fn dat_psp_create(ia_handle: DAT_IA_HANDLE, conn_qual: DAT_CONN_QUAL, evd_handle: DAT_EVD_HANDLE, psp_flags: DAT_PSP_FLAGS, psp_handle: *mut DAT_PSP_HANDLE) => dispatch(DAT_INVALID_HANDLE_IA), psp_create_func: DAT_PSP_CREATE_FUNC;
            extern "C" fn dat_psp_query(psp_handle: DAT_PSP_HANDLE, psp_param_mask: DAT_PSP_PARAM_MASK, psp_param: *mut DAT_PSP_PARAM) => dispatch(DAT_INVALID_HANDLE_PSP), psp_query_func: DAT_PSP_QUERY_FUNC;
            extern "C" fn dat_psp_free(psp_handle: DAT_PSP_HANDLE) => dispatch(DAT_INVALID_HANDLE_PSP), psp_free_func: DAT_PSP_FREE_FUNC;
            extern "C" fn dat_rsp_create(ia_handle: DAT_IA_HANDLE, conn_qual: DAT_CONN_QUAL, ep_handle: DAT_EP_HANDLE, evd_handle: DAT_EVD_HANDLE, rsp_handle: *mut DAT_RSP_HANDLE) => dispatch(DAT_INVALID_HANDLE_IA), rsp_create_func: DAT_RSP_CREATE_FUNC;
            extern "C" fn dat_rsp_query(rsp_handle: DAT_RSP_HANDLE, rsp_param_mask: DAT_RSP_PARAM_MASK, rsp_param: *mut DAT_RSP_PARAM) => dispatch(DAT_INVALID_HANDLE_RSP), rsp_query_func: DAT_RSP_QUERY_FUNC;
            extern "C" fn dat_rsp_free(rsp_handle: DAT_RSP_HANDLE) => dispatch(DAT_INVALID_HANDLE_RSP), rsp_free_func: DAT_RSP_FREE_FUNC;
            extern "C" fn dat_pz_create(ia_handle: DAT_IA_HANDLE, pz_handle: *mut DAT_PZ_HANDLE) => dispatch(DAT_INVALID_HANDLE_IA), pz_create_func: DAT_PZ_CREATE_FUNC;
            extern "C" fn dat_pz_query(pz_handle: DAT_PZ_HANDLE, pz_param_mask: DAT_PZ_PARAM_MASK, pz_param: *mut DAT_PZ_PARAM) => dispatch(DAT_INVALID_HANDLE_PZ), pz_query_func: DAT_PZ_QUERY_FUNC;
            extern "C" fn dat_pz_free(pz_handle: DAT_PZ_HANDLE) => dispatch(DAT_INVALID_HANDLE_PZ), pz_free_func: DAT_PZ_FREE_FUNC;
            extern "C" fn dat_psp_create_any(ia_handle: DAT_IA_HANDLE, conn_qual: *mut DAT_CONN_QUAL, evd_handle: DAT_EVD_HANDLE, psp_flags: DAT_PSP_FLAGS, psp_handle: *mut DAT_PSP_HANDLE) => dispatch(DAT_INVALID_HANDLE_IA), psp_create_any_func: DAT_PSP_CREATE_ANY_FUNC;
            extern "C" fn dat_ep_reset(ep_handle: DAT_EP_HANDLE) => dispatch(DAT_INVALID_HANDLE_EP), ep_reset_func: DAT_EP_RESET_FUNC;
            extern "C" fn dat_evd_set_unwaitable(evd_handle: DAT_EVD_HANDLE) => dispatch(DAT_INVALID_HANDLE1), evd_set_unwaitable_func: DAT_EVD_SET_UNWAITABLE_FUNC;
            extern "C" fn dat_evd_clear_unwaitable(evd_handle: DAT_EVD_HANDLE) => dispatch(DAT_INVALID_HANDLE1), evd_clear_unwaitable_func: DAT_EVD_CLEAR_UNWAITABLE_FUNC;
            extern "C" fn dat_lmr_sync_rdma_read(ia_handle: DAT_IA_HANDLE, local_segments: *const DAT_LMR_TRIPLET, num_segments: DAT_VLEN) => dispatch(DAT_INVALID_HANDLE_IA), lmr_sync_rdma_read_func: DAT_LMR_SYNC_RDMA_READ_FUNC;
            extern "C" fn dat_lmr_sync_rdma_write(ia_handle: DAT_IA_HANDLE, local_segments: *const DAT_LMR_TRIPLET, num_segments: DAT_VLEN) => dispatch(DAT_INVALID_HANDLE_IA), lmr_sync_rdma_write_func: DAT_LMR_SYNC_RDMA_WRITE_FUNC;
            extern "C" fn dat_ep_create_with_srq(ia_handle: DAT_IA_HANDLE, pz_handle: DAT_PZ_HANDLE, recv_evd_handle: DAT_EVD_HANDLE, request_evd_handle: DAT_EVD_HANDLE, connect_evd_handle: DAT_EVD_HANDLE, srq_handle: DAT_SRQ_HANDLE, ep_attributes: *const DAT_EP_ATTR, ep_handle: *mut DAT_EP_HANDLE) => dispatch(DAT_INVALID_HANDLE_IA), ep_create_with_srq_func: DAT_EP_CREATE_WITH_SRQ_FUNC;
            extern "C" fn dat_ep_recv_query(ep_handle: DAT_EP_HANDLE, nbufs_allocated: *mut DAT_COUNT, bufs_alloc_span: *mut DAT_COUNT) => dispatch(DAT_INVALID_HANDLE_EP), ep_recv_query_func: DAT_EP_RECV_QUERY_FUNC;
            extern "C" fn dat_ep_set_watermark(ep_handle: DAT_EP_HANDLE, soft_high_watermark: DAT_COUNT, hard_high_watermark: DAT_COUNT) => dispatch(DAT_INVALID_HANDLE_EP), ep_set_watermark_func: DAT_EP_SET_WATERMARK_FUNC;
            extern "C" fn dat_srq_create(ia_handle: DAT_IA_HANDLE, pz_handle: DAT_PZ_HANDLE, srq_attr: *mut DAT_SRQ_ATTR, srq_handle: *mut DAT_SRQ_HANDLE) => dispatch(DAT_INVALID_HANDLE_IA), srq_create_func: DAT_SRQ_CREATE_FUNC;
            extern "C" fn dat_srq_free(srq_handle: DAT_SRQ_HANDLE) => dispatch(DAT_INVALID_HANDLE_SRQ), srq_free_func: DAT_SRQ_FREE_FUNC;
            extern "C" fn dat_srq_post_recv(srq_handle: DAT_SRQ_HANDLE, num_segments: DAT_COUNT, local_iov: *mut DAT_LMR_TRIPLET, user_cookie: DAT_DTO_COOKIE) => dispatch(DAT_INVALID_HANDLE_SRQ), srq_post_recv_func: DAT_SRQ_POST_RECV_FUNC;
            extern "C" fn dat_srq_query(srq_handle: DAT_SRQ_HANDLE, srq_param_mask: DAT_SRQ_PARAM_MASK, srq_param: *mut DAT_SRQ_PARAM) => dispatch(DAT_INVALID_HANDLE_SRQ), srq_query_func: DAT_SRQ_QUERY_FUNC;
            extern "C" fn dat_srq_resize(srq_handle: DAT_SRQ_HANDLE, srq_max_recv_dto: DAT_COUNT) => dispatch(DAT_INVALID_HANDLE_SRQ), srq_resize_func: DAT_SRQ_RESIZE_FUNC;
            extern "C" fn dat_srq_set_lw(srq_handle: DAT_SRQ_HANDLE, low_watermark: DAT_COUNT) => dispatch(DAT_INVALID_HANDLE_SRQ), srq_set_lw_func: DAT_SRQ_SET_LW_FUNC;

            // Calls without a slot.
            extern "C" fn dat_registry_list_providers(max_to_return: DAT_COUNT, entries_returned: *mut DAT_COUNT, dat_provider_list: *mut *mut DAT_PROVIDER_INFO) => own;
            extern "C" fn dat_registry_add_provider(provider: *const DAT_PROVIDER, provider_info: *const DAT_PROVIDER_INFO) => own;
            extern "C" fn dat_registry_remove_provider(provider: *const DAT_PROVIDER, provider_info: *const DAT_PROVIDER_INFO) => own;
            extern "C" fn dats_get_ia_handle(handle: c_ulong, ia_handle: *mut DAT_IA_HANDLE) => own;
            extern "C" fn dat_strerror(value: DAT_RETURN, major_message: *mut *const c_char, minor_message: *mut *const c_char) => own;
        }
    };
}
