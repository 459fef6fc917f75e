//! The calls that versions share.
//!
//! Type names in an entry refer to the version that uses the list.
//!
//! The documentation of an entry has these parts, in this order: the effect of the call, `# Returns`, `# Events`, and
//! `# Specification` if it is not uDAPL's text on the call. The documentation of an argument follows its type and
//! starts with `in`, `out` or `in/out`. It is used as follows:
//!
//! * The library's function has all of it.
//! * The C header has the part before the first heading, the types of return codes and the specification.
//! * The manual page has its synopsis, list of parameters and return values, in the order of the entry. All other text
//!   is in the page.
//!
//! Entries use the terms of the pages: dispatcher for EVD, notification object for CNO.
//!
//! `# Returns` starts with the effect of success and lists all types and subtypes, except `DAT_INTERNAL_ERROR`, which
//! any call may return, and `DAT_NOT_IMPLEMENTED`, which a provider may return from a call that it lacks. A type
//! without a subtype is listed without one. `..._WORD` is the previous subtype with another last word. An item ends
//! with "never from the providers of this project" if only third-party providers return it, and starts with "2.0: " if
//! only uDAPL 2.0 returns it. "is not an endpoint" suffices for a handle; the page adds the details.
//!
//! `cargo run -p dat-derived` writes and checks all this. `tests-c/codes/complete.sh` checks that each type has a test.

mod cno;
mod connect;
mod context;
mod cr;
mod ep;
mod evd;
mod ia;
mod lmr;
mod post;
mod psp;
mod pz;
mod registry;
mod rmr;
mod rsp;
mod srq;

/// Calls the macro `$callback` with the slots that all versions share, in the order of the table, and then with a
/// version's further slots. The order is part of the binary interface.
#[macro_export]
macro_rules! slots {
    ($callback:path, $($further:tt)*) => {
        $callback! {
            dat_ia_openv: ia_open_func, DAT_IA_OPEN_FUNC;
            dat_ia_query: ia_query_func, DAT_IA_QUERY_FUNC;
            dat_ia_close: ia_close_func, DAT_IA_CLOSE_FUNC;
            dat_set_consumer_context: set_consumer_context_func, DAT_SET_CONSUMER_CONTEXT_FUNC;
            dat_get_consumer_context: get_consumer_context_func, DAT_GET_CONSUMER_CONTEXT_FUNC;
            dat_get_handle_type: get_handle_type_func, DAT_GET_HANDLE_TYPE_FUNC;
            dat_cno_create: cno_create_func, DAT_CNO_CREATE_FUNC;
            dat_cno_modify_agent: cno_modify_agent_func, DAT_CNO_MODIFY_AGENT_FUNC;
            dat_cno_query: cno_query_func, DAT_CNO_QUERY_FUNC;
            dat_cno_free: cno_free_func, DAT_CNO_FREE_FUNC;
            dat_cno_wait: cno_wait_func, DAT_CNO_WAIT_FUNC;
            dat_cr_query: cr_query_func, DAT_CR_QUERY_FUNC;
            dat_cr_accept: cr_accept_func, DAT_CR_ACCEPT_FUNC;
            dat_cr_reject: cr_reject_func, DAT_CR_REJECT_FUNC;
            dat_cr_handoff: cr_handoff_func, DAT_CR_HANDOFF_FUNC;
            dat_evd_create: evd_create_func, DAT_EVD_CREATE_FUNC;
            dat_evd_query: evd_query_func, DAT_EVD_QUERY_FUNC;
            dat_evd_modify_cno: evd_modify_cno_func, DAT_EVD_MODIFY_CNO_FUNC;
            dat_evd_enable: evd_enable_func, DAT_EVD_ENABLE_FUNC;
            dat_evd_disable: evd_disable_func, DAT_EVD_DISABLE_FUNC;
            dat_evd_wait: evd_wait_func, DAT_EVD_WAIT_FUNC;
            dat_evd_resize: evd_resize_func, DAT_EVD_RESIZE_FUNC;
            dat_evd_post_se: evd_post_se_func, DAT_EVD_POST_SE_FUNC;
            dat_evd_dequeue: evd_dequeue_func, DAT_EVD_DEQUEUE_FUNC;
            dat_evd_free: evd_free_func, DAT_EVD_FREE_FUNC;
            dat_ep_create: ep_create_func, DAT_EP_CREATE_FUNC;
            dat_ep_query: ep_query_func, DAT_EP_QUERY_FUNC;
            dat_ep_modify: ep_modify_func, DAT_EP_MODIFY_FUNC;
            dat_ep_connect: ep_connect_func, DAT_EP_CONNECT_FUNC;
            dat_ep_dup_connect: ep_dup_connect_func, DAT_EP_DUP_CONNECT_FUNC;
            dat_ep_disconnect: ep_disconnect_func, DAT_EP_DISCONNECT_FUNC;
            dat_ep_post_send: ep_post_send_func, DAT_EP_POST_SEND_FUNC;
            dat_ep_post_recv: ep_post_recv_func, DAT_EP_POST_RECV_FUNC;
            dat_ep_post_rdma_read: ep_post_rdma_read_func, DAT_EP_POST_RDMA_READ_FUNC;
            dat_ep_post_rdma_write: ep_post_rdma_write_func, DAT_EP_POST_RDMA_WRITE_FUNC;
            dat_ep_get_status: ep_get_status_func, DAT_EP_GET_STATUS_FUNC;
            dat_ep_free: ep_free_func, DAT_EP_FREE_FUNC;
            dat_lmr_create: lmr_create_func, DAT_LMR_CREATE_FUNC;
            dat_lmr_query: lmr_query_func, DAT_LMR_QUERY_FUNC;
            dat_lmr_free: lmr_free_func, DAT_LMR_FREE_FUNC;
            dat_rmr_create: rmr_create_func, DAT_RMR_CREATE_FUNC;
            dat_rmr_query: rmr_query_func, DAT_RMR_QUERY_FUNC;
            dat_rmr_bind: rmr_bind_func, DAT_RMR_BIND_FUNC;
            dat_rmr_free: rmr_free_func, DAT_RMR_FREE_FUNC;
            dat_psp_create: psp_create_func, DAT_PSP_CREATE_FUNC;
            dat_psp_query: psp_query_func, DAT_PSP_QUERY_FUNC;
            dat_psp_free: psp_free_func, DAT_PSP_FREE_FUNC;
            dat_rsp_create: rsp_create_func, DAT_RSP_CREATE_FUNC;
            dat_rsp_query: rsp_query_func, DAT_RSP_QUERY_FUNC;
            dat_rsp_free: rsp_free_func, DAT_RSP_FREE_FUNC;
            dat_pz_create: pz_create_func, DAT_PZ_CREATE_FUNC;
            dat_pz_query: pz_query_func, DAT_PZ_QUERY_FUNC;
            dat_pz_free: pz_free_func, DAT_PZ_FREE_FUNC;
            dat_psp_create_any: psp_create_any_func, DAT_PSP_CREATE_ANY_FUNC;
            dat_ep_reset: ep_reset_func, DAT_EP_RESET_FUNC;
            dat_evd_set_unwaitable: evd_set_unwaitable_func, DAT_EVD_SET_UNWAITABLE_FUNC;
            dat_evd_clear_unwaitable: evd_clear_unwaitable_func, DAT_EVD_CLEAR_UNWAITABLE_FUNC;
            dat_lmr_sync_rdma_read: lmr_sync_rdma_read_func, DAT_LMR_SYNC_RDMA_READ_FUNC;
            dat_lmr_sync_rdma_write: lmr_sync_rdma_write_func, DAT_LMR_SYNC_RDMA_WRITE_FUNC;
            dat_ep_create_with_srq: ep_create_with_srq_func, DAT_EP_CREATE_WITH_SRQ_FUNC;
            dat_ep_recv_query: ep_recv_query_func, DAT_EP_RECV_QUERY_FUNC;
            dat_ep_set_watermark: ep_set_watermark_func, DAT_EP_SET_WATERMARK_FUNC;
            dat_srq_create: srq_create_func, DAT_SRQ_CREATE_FUNC;
            dat_srq_free: srq_free_func, DAT_SRQ_FREE_FUNC;
            dat_srq_post_recv: srq_post_recv_func, DAT_SRQ_POST_RECV_FUNC;
            dat_srq_query: srq_query_func, DAT_SRQ_QUERY_FUNC;
            dat_srq_resize: srq_resize_func, DAT_SRQ_RESIZE_FUNC;
            dat_srq_set_lw: srq_set_lw_func, DAT_SRQ_SET_LW_FUNC;
            $($further)*
        }
    };
}
