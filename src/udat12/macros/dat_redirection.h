/** The provider that serves an object: what the first word behind its handle points to. */
#ifndef DAT_HANDLE_TO_PROVIDER
#define DAT_HANDLE_TO_PROVIDER(handle) (*(DAT_PROVIDER **)(handle))
#endif

/*
 * Upper-case macros: the functions by way of the table of the object's provider, without libdat in
 * between. No handle is checked, and the one that names the table is evaluated twice.
 */

/** dat_ia_query. */
#define DAT_IA_QUERY(ia, evd, ia_msk, ia_ptr, p_msk, p_ptr) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->ia_query_func)((ia), (evd), (ia_msk), (ia_ptr), (p_msk), (p_ptr))

/** dat_set_consumer_context. */
#define DAT_SET_CONSUMER_CONTEXT(handle, context) \
    (*DAT_HANDLE_TO_PROVIDER(handle)->set_consumer_context_func)((handle), (context))

/** dat_get_consumer_context. */
#define DAT_GET_CONSUMER_CONTEXT(handle, context) \
    (*DAT_HANDLE_TO_PROVIDER(handle)->get_consumer_context_func)((handle), (context))

/** dat_get_handle_type. */
#define DAT_GET_HANDLE_TYPE(handle, handle_type) \
    (*DAT_HANDLE_TO_PROVIDER(handle)->get_handle_type_func)((handle), (handle_type))

/** dat_cr_query. */
#define DAT_CR_QUERY(cr, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(cr)->cr_query_func)((cr), (mask), (param))

/** dat_cr_accept. */
#define DAT_CR_ACCEPT(cr, ep, size, pdata) \
    (*DAT_HANDLE_TO_PROVIDER(cr)->cr_accept_func)((cr), (ep), (size), (pdata))

/** dat_cr_reject. */
#define DAT_CR_REJECT(cr) \
    (*DAT_HANDLE_TO_PROVIDER(cr)->cr_reject_func)((cr))

/** dat_cr_handoff. */
#define DAT_CR_HANDOFF(cr, qual) \
    (*DAT_HANDLE_TO_PROVIDER(cr)->cr_handoff_func)((cr), (qual))

/** dat_evd_query. */
#define DAT_EVD_QUERY(evd, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_query_func)((evd), (mask), (param))

/** dat_evd_resize. */
#define DAT_EVD_RESIZE(evd, qsize) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_resize_func)((evd), (qsize))

/** dat_evd_post_se. */
#define DAT_EVD_POST_SE(evd, event) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_post_se_func)((evd), (event))

/** dat_evd_dequeue. */
#define DAT_EVD_DEQUEUE(evd, event) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_dequeue_func)((evd), (event))

/** dat_evd_free. */
#define DAT_EVD_FREE(evd) \
    (*DAT_HANDLE_TO_PROVIDER(evd)->evd_free_func)((evd))

/** dat_ep_create. */
#define DAT_EP_CREATE(ia, pz, in_evd, out_evd, connect_evd, attr, ep) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->ep_create_func)( \
        (ia), (pz), (in_evd), (out_evd), (connect_evd), (attr), (ep))

/** dat_ep_create_with_srq. */
#define DAT_EP_CREATE_WITH_SRQ(ia, pz, in_evd, out_evd, connect_evd, srq, attr, ep) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->ep_create_with_srq_func)( \
        (ia), (pz), (in_evd), (out_evd), (connect_evd), (srq), (attr), (ep))

/** dat_ep_query. */
#define DAT_EP_QUERY(ep, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_query_func)((ep), (mask), (param))

/** dat_ep_modify. */
#define DAT_EP_MODIFY(ep, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_modify_func)((ep), (mask), (param))

/** dat_ep_connect. */
#define DAT_EP_CONNECT(ep, ia_addr, conn_qual, timeout, psize, pdata, qos, flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_connect_func)( \
        (ep), (ia_addr), (conn_qual), (timeout), (psize), (pdata), (qos), (flags))

/** dat_ep_dup_connect. */
#define DAT_EP_DUP_CONNECT(ep, dup, timeout, psize, pdata, qos) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_dup_connect_func)( \
        (ep), (dup), (timeout), (psize), (pdata), (qos))

/** dat_ep_disconnect. */
#define DAT_EP_DISCONNECT(ep, flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_disconnect_func)((ep), (flags))

/** dat_ep_post_send. */
#define DAT_EP_POST_SEND(ep, size, lbuf, cookie, flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_post_send_func)((ep), (size), (lbuf), (cookie), (flags))

/** dat_ep_post_recv. */
#define DAT_EP_POST_RECV(ep, size, lbuf, cookie, flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_post_recv_func)((ep), (size), (lbuf), (cookie), (flags))

/** dat_ep_post_rdma_read. */
#define DAT_EP_POST_RDMA_READ(ep, size, lbuf, cookie, rbuf, flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_post_rdma_read_func)( \
        (ep), (size), (lbuf), (cookie), (rbuf), (flags))

/** dat_ep_post_rdma_write. */
#define DAT_EP_POST_RDMA_WRITE(ep, size, lbuf, cookie, rbuf, flags) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_post_rdma_write_func)( \
        (ep), (size), (lbuf), (cookie), (rbuf), (flags))

/** dat_ep_get_status. */
#define DAT_EP_GET_STATUS(ep, ep_state, recv_idle, request_idle) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_get_status_func)((ep), (ep_state), (recv_idle), (request_idle))

/** dat_ep_free. */
#define DAT_EP_FREE(ep) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_free_func)((ep))

/** dat_ep_reset. */
#define DAT_EP_RESET(ep) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_reset_func)((ep))

/** dat_ep_recv_query. */
#define DAT_EP_RECV_QUERY(ep, nbuf_alloc, buf_span) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_recv_query_func)((ep), (nbuf_alloc), (buf_span))

/** dat_ep_set_watermark. */
#define DAT_EP_SET_WATERMARK(ep, soft_wm, hard_wm) \
    (*DAT_HANDLE_TO_PROVIDER(ep)->ep_set_watermark_func)((ep), (soft_wm), (hard_wm))

/** dat_lmr_query. */
#define DAT_LMR_QUERY(lmr, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(lmr)->lmr_query_func)((lmr), (mask), (param))

/** dat_lmr_free. */
#define DAT_LMR_FREE(lmr) \
    (*DAT_HANDLE_TO_PROVIDER(lmr)->lmr_free_func)((lmr))

/** dat_lmr_sync_rdma_read. */
#define DAT_LMR_SYNC_RDMA_READ(ia, lbuf, size) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->lmr_sync_rdma_read_func)((ia), (lbuf), (size))

/** dat_lmr_sync_rdma_write. */
#define DAT_LMR_SYNC_RDMA_WRITE(ia, lbuf, size) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->lmr_sync_rdma_write_func)((ia), (lbuf), (size))

/** dat_rmr_create. */
#define DAT_RMR_CREATE(pz, rmr) \
    (*DAT_HANDLE_TO_PROVIDER(pz)->rmr_create_func)((pz), (rmr))

/** dat_rmr_query. */
#define DAT_RMR_QUERY(rmr, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(rmr)->rmr_query_func)((rmr), (mask), (param))

/** dat_rmr_bind. */
#define DAT_RMR_BIND(rmr, lmr, mem_priv, ep, cookie, flags, context) \
    (*DAT_HANDLE_TO_PROVIDER(rmr)->rmr_bind_func)( \
        (rmr), (lmr), (mem_priv), (ep), (cookie), (flags), (context))

/** dat_rmr_free. */
#define DAT_RMR_FREE(rmr) \
    (*DAT_HANDLE_TO_PROVIDER(rmr)->rmr_free_func)((rmr))

/** dat_psp_create. */
#define DAT_PSP_CREATE(ia, conn_qual, evd, flags, handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->psp_create_func)((ia), (conn_qual), (evd), (flags), (handle))

/** dat_psp_create_any. */
#define DAT_PSP_CREATE_ANY(ia, conn_qual, evd, flags, handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->psp_create_any_func)((ia), (conn_qual), (evd), (flags), (handle))

/** dat_psp_query. */
#define DAT_PSP_QUERY(psp, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(psp)->psp_query_func)((psp), (mask), (param))

/** dat_psp_free. */
#define DAT_PSP_FREE(psp) \
    (*DAT_HANDLE_TO_PROVIDER(psp)->psp_free_func)((psp))

/** dat_rsp_create. */
#define DAT_RSP_CREATE(ia, conn_qual, ep, evd, handle) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->rsp_create_func)((ia), (conn_qual), (ep), (evd), (handle))

/** dat_rsp_query. */
#define DAT_RSP_QUERY(rsp, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(rsp)->rsp_query_func)((rsp), (mask), (param))

/** dat_rsp_free. */
#define DAT_RSP_FREE(rsp) \
    (*DAT_HANDLE_TO_PROVIDER(rsp)->rsp_free_func)((rsp))

/** dat_pz_create. */
#define DAT_PZ_CREATE(ia, pz) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->pz_create_func)((ia), (pz))

/** dat_pz_query. */
#define DAT_PZ_QUERY(pz, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(pz)->pz_query_func)((pz), (mask), (param))

/** dat_pz_free. */
#define DAT_PZ_FREE(pz) \
    (*DAT_HANDLE_TO_PROVIDER(pz)->pz_free_func)((pz))

/**
 * dat_srq_create. The table is that of the adapter: other headers of 1.2 read it through srq, where
 * the result is yet to be written, so that their macro cannot work.
 */
#define DAT_SRQ_CREATE(ia, pz, attr, srq) \
    (*DAT_HANDLE_TO_PROVIDER(ia)->srq_create_func)((ia), (pz), (attr), (srq))

/** dat_srq_set_lw. */
#define DAT_SRQ_SET_LW(srq, lw) \
    (*DAT_HANDLE_TO_PROVIDER(srq)->srq_set_lw_func)((srq), (lw))

/** dat_srq_free. */
#define DAT_SRQ_FREE(srq) \
    (*DAT_HANDLE_TO_PROVIDER(srq)->srq_free_func)((srq))

/** dat_srq_query. */
#define DAT_SRQ_QUERY(srq, mask, param) \
    (*DAT_HANDLE_TO_PROVIDER(srq)->srq_query_func)((srq), (mask), (param))

/** dat_srq_resize. */
#define DAT_SRQ_RESIZE(srq, qsize) \
    (*DAT_HANDLE_TO_PROVIDER(srq)->srq_resize_func)((srq), (qsize))

/** dat_srq_post_recv. */
#define DAT_SRQ_POST_RECV(srq, size, lbuf, cookie) \
    (*DAT_HANDLE_TO_PROVIDER(srq)->srq_post_recv_func)((srq), (size), (lbuf), (cookie))
