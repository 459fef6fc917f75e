//! The provider table.

use std::ffi::c_char;
use std::ptr;

use dat_face::Face;
use dat_udat12::DAT_PROVIDER;

use crate::{Udat12, cno, context, cr, ep, evd, ia, lmr, post, psp, pz, rmr, rsp, srq, wait};

/// The table of a provider library over the transport `F`. Every slot is filled.
///
/// # Parameters
/// * `device_name` - the name of the adapter, for as long as the table is used.
pub const fn table<F: Face<Version = Udat12>>(device_name: *const c_char) -> DAT_PROVIDER {
    DAT_PROVIDER {
        device_name,
        extension: ptr::null_mut(),
        ia_open_func: Some(ia::open::<F>),
        ia_query_func: Some(ia::query::<F>),
        ia_close_func: Some(ia::close::<F>),
        set_consumer_context_func: Some(context::set::<F>),
        get_consumer_context_func: Some(context::get::<F>),
        get_handle_type_func: Some(context::handle_type::<F>),
        cno_create_func: Some(cno::create::<F>),
        cno_modify_agent_func: Some(cno::modify_agent::<F>),
        cno_query_func: Some(cno::query::<F>),
        cno_free_func: Some(cno::free::<F>),
        cno_wait_func: Some(wait::cno_wait::<F>),
        cr_query_func: Some(cr::query::<F>),
        cr_accept_func: Some(cr::accept::<F>),
        cr_reject_func: Some(cr::reject::<F>),
        cr_handoff_func: Some(cr::handoff::<F>),
        evd_create_func: Some(evd::create::<F>),
        evd_query_func: Some(evd::query::<F>),
        evd_modify_cno_func: Some(evd::modify_cno::<F>),
        evd_enable_func: Some(evd::enable::<F>),
        evd_disable_func: Some(evd::disable::<F>),
        evd_wait_func: Some(wait::evd_wait::<F>),
        evd_resize_func: Some(evd::resize::<F>),
        evd_post_se_func: Some(evd::post_se::<F>),
        evd_dequeue_func: Some(post::evd_dequeue::<F>),
        evd_free_func: Some(evd::free::<F>),
        ep_create_func: Some(ep::create::<F>),
        ep_query_func: Some(ep::query::<F>),
        ep_modify_func: Some(ep::modify::<F>),
        ep_connect_func: Some(ep::connect::connect::<F>),
        ep_dup_connect_func: Some(ep::connect::dup_connect::<F>),
        ep_disconnect_func: Some(ep::connect::disconnect::<F>),
        ep_post_send_func: Some(post::ep_post_send::<F>),
        ep_post_recv_func: Some(post::ep_post_recv::<F>),
        ep_post_rdma_read_func: Some(post::ep_post_rdma_read::<F>),
        ep_post_rdma_write_func: Some(post::ep_post_rdma_write::<F>),
        ep_get_status_func: Some(ep::get_status::<F>),
        ep_free_func: Some(ep::free::<F>),
        lmr_create_func: Some(lmr::create::<F>),
        lmr_query_func: Some(lmr::query::<F>),
        lmr_free_func: Some(lmr::free::<F>),
        rmr_create_func: Some(rmr::create::<F>),
        rmr_query_func: Some(rmr::query::<F>),
        rmr_bind_func: Some(rmr::bind::<F>),
        rmr_free_func: Some(rmr::free::<F>),
        psp_create_func: Some(psp::create::<F>),
        psp_query_func: Some(psp::query::<F>),
        psp_free_func: Some(psp::free::<F>),
        rsp_create_func: Some(rsp::create::<F>),
        rsp_query_func: Some(rsp::query::<F>),
        rsp_free_func: Some(rsp::free::<F>),
        pz_create_func: Some(pz::create::<F>),
        pz_query_func: Some(pz::query::<F>),
        pz_free_func: Some(pz::free::<F>),
        psp_create_any_func: Some(psp::create_any::<F>),
        ep_reset_func: Some(ep::reset::<F>),
        evd_set_unwaitable_func: Some(evd::set_unwaitable::<F>),
        evd_clear_unwaitable_func: Some(evd::clear_unwaitable::<F>),
        lmr_sync_rdma_read_func: Some(lmr::sync_rdma_read::<F>),
        lmr_sync_rdma_write_func: Some(lmr::sync_rdma_write::<F>),
        ep_create_with_srq_func: Some(ep::create_with_srq::<F>),
        ep_recv_query_func: Some(ep::recv_query::<F>),
        ep_set_watermark_func: Some(ep::set_watermark::<F>),
        srq_create_func: Some(srq::create::<F>),
        srq_free_func: Some(srq::free::<F>),
        srq_post_recv_func: Some(post::srq_post_recv::<F>),
        srq_query_func: Some(srq::query::<F>),
        srq_resize_func: Some(srq::resize::<F>),
        srq_set_lw_func: Some(srq::set_lw::<F>),
    }
}
