//! The table of a provider

use core::ffi::c_char;

use crate::dat_platform_specific::DAT_PVOID;
use crate::udat_redirection::*;

pub mod slots;
pub use slots::*;

/// Table of the functions of a provider, in the order that is the binary interface. A provider
/// fills every slot; one that it does not implement answers DAT_NOT_IMPLEMENTED.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct dat_provider {
    /// Name of the adapter that it serves.
    pub device_name: *const c_char,
    /// For the provider's own use.
    pub extension: DAT_PVOID,
    /// dat_ia_openv without version and thread safety.
    pub ia_open_func: DAT_IA_OPEN_FUNC,
    /// dat_ia_query.
    pub ia_query_func: DAT_IA_QUERY_FUNC,
    /// dat_ia_close.
    pub ia_close_func: DAT_IA_CLOSE_FUNC,
    /// dat_set_consumer_context.
    pub set_consumer_context_func: DAT_SET_CONSUMER_CONTEXT_FUNC,
    /// dat_get_consumer_context.
    pub get_consumer_context_func: DAT_GET_CONSUMER_CONTEXT_FUNC,
    /// dat_get_handle_type.
    pub get_handle_type_func: DAT_GET_HANDLE_TYPE_FUNC,
    /// dat_cno_create.
    pub cno_create_func: DAT_CNO_CREATE_FUNC,
    /// dat_cno_modify_agent.
    pub cno_modify_agent_func: DAT_CNO_MODIFY_AGENT_FUNC,
    /// dat_cno_query.
    pub cno_query_func: DAT_CNO_QUERY_FUNC,
    /// dat_cno_free.
    pub cno_free_func: DAT_CNO_FREE_FUNC,
    /// dat_cno_wait.
    pub cno_wait_func: DAT_CNO_WAIT_FUNC,
    /// dat_cr_query.
    pub cr_query_func: DAT_CR_QUERY_FUNC,
    /// dat_cr_accept.
    pub cr_accept_func: DAT_CR_ACCEPT_FUNC,
    /// dat_cr_reject.
    pub cr_reject_func: DAT_CR_REJECT_FUNC,
    /// dat_cr_handoff.
    pub cr_handoff_func: DAT_CR_HANDOFF_FUNC,
    /// dat_evd_create.
    pub evd_create_func: DAT_EVD_CREATE_FUNC,
    /// dat_evd_query.
    pub evd_query_func: DAT_EVD_QUERY_FUNC,
    /// dat_evd_modify_cno.
    pub evd_modify_cno_func: DAT_EVD_MODIFY_CNO_FUNC,
    /// dat_evd_enable.
    pub evd_enable_func: DAT_EVD_ENABLE_FUNC,
    /// dat_evd_disable.
    pub evd_disable_func: DAT_EVD_DISABLE_FUNC,
    /// dat_evd_wait.
    pub evd_wait_func: DAT_EVD_WAIT_FUNC,
    /// dat_evd_resize.
    pub evd_resize_func: DAT_EVD_RESIZE_FUNC,
    /// dat_evd_post_se.
    pub evd_post_se_func: DAT_EVD_POST_SE_FUNC,
    /// dat_evd_dequeue.
    pub evd_dequeue_func: DAT_EVD_DEQUEUE_FUNC,
    /// dat_evd_free.
    pub evd_free_func: DAT_EVD_FREE_FUNC,
    /// dat_ep_create.
    pub ep_create_func: DAT_EP_CREATE_FUNC,
    /// dat_ep_query.
    pub ep_query_func: DAT_EP_QUERY_FUNC,
    /// dat_ep_modify.
    pub ep_modify_func: DAT_EP_MODIFY_FUNC,
    /// dat_ep_connect.
    pub ep_connect_func: DAT_EP_CONNECT_FUNC,
    /// dat_ep_dup_connect.
    pub ep_dup_connect_func: DAT_EP_DUP_CONNECT_FUNC,
    /// dat_ep_disconnect.
    pub ep_disconnect_func: DAT_EP_DISCONNECT_FUNC,
    /// dat_ep_post_send.
    pub ep_post_send_func: DAT_EP_POST_SEND_FUNC,
    /// dat_ep_post_recv.
    pub ep_post_recv_func: DAT_EP_POST_RECV_FUNC,
    /// dat_ep_post_rdma_read.
    pub ep_post_rdma_read_func: DAT_EP_POST_RDMA_READ_FUNC,
    /// dat_ep_post_rdma_write.
    pub ep_post_rdma_write_func: DAT_EP_POST_RDMA_WRITE_FUNC,
    /// dat_ep_get_status.
    pub ep_get_status_func: DAT_EP_GET_STATUS_FUNC,
    /// dat_ep_free.
    pub ep_free_func: DAT_EP_FREE_FUNC,
    /// dat_lmr_create.
    pub lmr_create_func: DAT_LMR_CREATE_FUNC,
    /// dat_lmr_query.
    pub lmr_query_func: DAT_LMR_QUERY_FUNC,
    /// dat_lmr_free.
    pub lmr_free_func: DAT_LMR_FREE_FUNC,
    /// dat_rmr_create.
    pub rmr_create_func: DAT_RMR_CREATE_FUNC,
    /// dat_rmr_query.
    pub rmr_query_func: DAT_RMR_QUERY_FUNC,
    /// dat_rmr_bind.
    pub rmr_bind_func: DAT_RMR_BIND_FUNC,
    /// dat_rmr_free.
    pub rmr_free_func: DAT_RMR_FREE_FUNC,
    /// dat_psp_create.
    pub psp_create_func: DAT_PSP_CREATE_FUNC,
    /// dat_psp_query.
    pub psp_query_func: DAT_PSP_QUERY_FUNC,
    /// dat_psp_free.
    pub psp_free_func: DAT_PSP_FREE_FUNC,
    /// dat_rsp_create.
    pub rsp_create_func: DAT_RSP_CREATE_FUNC,
    /// dat_rsp_query.
    pub rsp_query_func: DAT_RSP_QUERY_FUNC,
    /// dat_rsp_free.
    pub rsp_free_func: DAT_RSP_FREE_FUNC,
    /// dat_pz_create.
    pub pz_create_func: DAT_PZ_CREATE_FUNC,
    /// dat_pz_query.
    pub pz_query_func: DAT_PZ_QUERY_FUNC,
    /// dat_pz_free.
    pub pz_free_func: DAT_PZ_FREE_FUNC,
    /// dat_psp_create_any.
    pub psp_create_any_func: DAT_PSP_CREATE_ANY_FUNC,
    /// dat_ep_reset.
    pub ep_reset_func: DAT_EP_RESET_FUNC,
    /// dat_evd_set_unwaitable.
    pub evd_set_unwaitable_func: DAT_EVD_SET_UNWAITABLE_FUNC,
    /// dat_evd_clear_unwaitable.
    pub evd_clear_unwaitable_func: DAT_EVD_CLEAR_UNWAITABLE_FUNC,
    /// dat_lmr_sync_rdma_read.
    pub lmr_sync_rdma_read_func: DAT_LMR_SYNC_RDMA_READ_FUNC,
    /// dat_lmr_sync_rdma_write.
    pub lmr_sync_rdma_write_func: DAT_LMR_SYNC_RDMA_WRITE_FUNC,
    /// dat_ep_create_with_srq.
    pub ep_create_with_srq_func: DAT_EP_CREATE_WITH_SRQ_FUNC,
    /// dat_ep_recv_query.
    pub ep_recv_query_func: DAT_EP_RECV_QUERY_FUNC,
    /// dat_ep_set_watermark.
    pub ep_set_watermark_func: DAT_EP_SET_WATERMARK_FUNC,
    /// dat_srq_create.
    pub srq_create_func: DAT_SRQ_CREATE_FUNC,
    /// dat_srq_free.
    pub srq_free_func: DAT_SRQ_FREE_FUNC,
    /// dat_srq_post_recv.
    pub srq_post_recv_func: DAT_SRQ_POST_RECV_FUNC,
    /// dat_srq_query.
    pub srq_query_func: DAT_SRQ_QUERY_FUNC,
    /// dat_srq_resize.
    pub srq_resize_func: DAT_SRQ_RESIZE_FUNC,
    /// dat_srq_set_lw.
    pub srq_set_lw_func: DAT_SRQ_SET_LW_FUNC,
}

/// Table of the functions of a provider, in the order that is the binary interface. A provider
/// fills every slot; one that it does not implement answers DAT_NOT_IMPLEMENTED.
pub type DAT_PROVIDER = dat_provider;
