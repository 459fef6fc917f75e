//! Types of the slots of the user-level interface alone

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;
use crate::udat::*;

/// Slot of dat_lmr_create.
pub type DAT_LMR_CREATE_FUNC = Option<
    unsafe extern "C" fn(
        ia_handle: DAT_IA_HANDLE,
        mem_type: DAT_MEM_TYPE,
        region_description: DAT_REGION_DESCRIPTION,
        length: DAT_VLEN,
        pz_handle: DAT_PZ_HANDLE,
        privileges: DAT_MEM_PRIV_FLAGS,
        lmr_handle: *mut DAT_LMR_HANDLE,
        lmr_context: *mut DAT_LMR_CONTEXT,
        rmr_context: *mut DAT_RMR_CONTEXT,
        registered_length: *mut DAT_VLEN,
        registered_address: *mut DAT_VADDR,
    ) -> DAT_RETURN,
>;

/// Slot of dat_evd_create.
pub type DAT_EVD_CREATE_FUNC = Option<
    unsafe extern "C" fn(
        ia_handle: DAT_IA_HANDLE,
        evd_min_qlen: DAT_COUNT,
        cno_handle: DAT_CNO_HANDLE,
        evd_flags: DAT_EVD_FLAGS,
        evd_handle: *mut DAT_EVD_HANDLE,
    ) -> DAT_RETURN,
>;

/// Slot of dat_evd_modify_cno.
pub type DAT_EVD_MODIFY_CNO_FUNC =
    Option<unsafe extern "C" fn(evd_handle: DAT_EVD_HANDLE, cno_handle: DAT_CNO_HANDLE) -> DAT_RETURN>;

/// Slot of dat_cno_create.
pub type DAT_CNO_CREATE_FUNC = Option<
    unsafe extern "C" fn(
        ia_handle: DAT_IA_HANDLE,
        agent: DAT_OS_WAIT_PROXY_AGENT,
        cno_handle: *mut DAT_CNO_HANDLE,
    ) -> DAT_RETURN,
>;

/// Slot of dat_cno_modify_agent.
pub type DAT_CNO_MODIFY_AGENT_FUNC =
    Option<unsafe extern "C" fn(cno_handle: DAT_CNO_HANDLE, agent: DAT_OS_WAIT_PROXY_AGENT) -> DAT_RETURN>;

/// Slot of dat_cno_query.
pub type DAT_CNO_QUERY_FUNC = Option<
    unsafe extern "C" fn(
        cno_handle: DAT_CNO_HANDLE,
        cno_param_mask: DAT_CNO_PARAM_MASK,
        cno_param: *mut DAT_CNO_PARAM,
    ) -> DAT_RETURN,
>;

/// Slot of dat_cno_free.
pub type DAT_CNO_FREE_FUNC = Option<unsafe extern "C" fn(cno_handle: DAT_CNO_HANDLE) -> DAT_RETURN>;

/// Slot of dat_cno_wait. In Rust it may unwind: a thread that pthread_cancel ends passes through.
pub type DAT_CNO_WAIT_FUNC = Option<
    unsafe extern "C-unwind" fn(
        cno_handle: DAT_CNO_HANDLE,
        timeout: DAT_TIMEOUT,
        evd_handle: *mut DAT_EVD_HANDLE,
    ) -> DAT_RETURN,
>;

/// Slot of dat_evd_enable.
pub type DAT_EVD_ENABLE_FUNC = Option<unsafe extern "C" fn(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN>;

/// Slot of dat_evd_wait. In Rust it may unwind: a thread that pthread_cancel ends passes through.
pub type DAT_EVD_WAIT_FUNC = Option<
    unsafe extern "C-unwind" fn(
        evd_handle: DAT_EVD_HANDLE,
        timeout: DAT_TIMEOUT,
        threshold: DAT_COUNT,
        event: *mut DAT_EVENT,
        n_more_events: *mut DAT_COUNT,
    ) -> DAT_RETURN,
>;

/// Slot of dat_evd_disable.
pub type DAT_EVD_DISABLE_FUNC = Option<unsafe extern "C" fn(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN>;

/// Slot of dat_evd_set_unwaitable.
pub type DAT_EVD_SET_UNWAITABLE_FUNC = Option<unsafe extern "C" fn(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN>;

/// Slot of dat_evd_clear_unwaitable.
pub type DAT_EVD_CLEAR_UNWAITABLE_FUNC = Option<unsafe extern "C" fn(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN>;
