//! The calls of uDAPL 2.0.

mod cno;
mod connect;
mod cr;
mod csp;
mod extension;
mod lmr;
mod post;
mod registry;
mod rmr;

/// Calls the macro `$callback` with each call that every library of uDAPL 2.0 exports, in the form that [`dat_udat::abi`]
/// describes.
#[macro_export]
macro_rules! for_each_call {
    ($callback:path) => {
        $crate::common::ia_calls!($callback);
        $crate::common::context_calls!($callback);
        $crate::common::pz_calls!($callback);
        $crate::common::lmr_calls!($callback, $crate::own_lmr_calls);
        $crate::common::rmr_calls!($callback, $crate::own_rmr_calls);
        $crate::common::evd_calls!($callback);
        $crate::common::cno_calls!($callback);
        $crate::common::ep_calls!($callback);
        $crate::common::connect_calls!($callback);
        $crate::common::post_calls!($callback);
        $crate::common::srq_calls!($callback);
        $crate::common::psp_calls!($callback);
        $crate::common::rsp_calls!($callback);
        $crate::common::cr_calls!($callback, $crate::own_cr_calls);
        $crate::extension_calls!($callback);
        $crate::common::registry_calls!($callback, $crate::own_registry_calls);
    };
}

/// Calls the macro `$callback` with each call that the headers of uDAPL 2.0 declare and other libraries do not export.
#[macro_export]
macro_rules! for_each_further_call {
    ($callback:path) => {
        $crate::further_rmr_calls!($callback);
        $crate::further_cno_calls!($callback);
        $crate::further_connect_calls!($callback);
        $crate::further_post_calls!($callback);
        $crate::csp_calls!($callback);
        $crate::further_registry_calls!($callback);
    };
}

/// Calls the macro `$callback` with the slots of the provider table in the order of the table.
#[macro_export]
macro_rules! for_each_slot {
    ($callback:path) => {
        $crate::common::slots! {
            $callback,
            dat_csp_create: csp_create_func, DAT_CSP_CREATE_FUNC;
            dat_csp_query: csp_query_func, DAT_CSP_QUERY_FUNC;
            dat_csp_free: csp_free_func, DAT_CSP_FREE_FUNC;
            dat_ep_common_connect: ep_common_connect_func, DAT_EP_COMMON_CONNECT_FUNC;
            dat_rmr_create_for_ep: rmr_create_for_ep_func, DAT_RMR_CREATE_FOR_EP_FUNC;
            dat_ep_post_send_with_invalidate: ep_post_send_with_invalidate_func, DAT_EP_POST_SEND_WITH_INVALIDATE_FUNC;
            dat_ep_post_rdma_read_to_rmr: ep_post_rdma_read_to_rmr_func, DAT_EP_POST_RDMA_READ_TO_RMR_FUNC;
            dat_cno_fd_create: cno_fd_create_func, DAT_CNO_FD_CREATE_FUNC;
            dat_cno_trigger: cno_trigger_func, DAT_CNO_TRIGGER_FUNC;
            dat_ia_ha_related: ia_ha_related_func, DAT_IA_HA_RELATED_FUNC;
            dat_extension_op: handle_extendedop_func, DAT_HANDLE_EXTENDEDOP_FUNC;
        }
    };
}
