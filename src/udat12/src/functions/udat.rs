//! Functions of the user-level interface alone

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;
use crate::udat::*;

unsafe extern "C" {
    /// Registers memory. The results, each of which may be NULL but lmr_handle, are: the region,
    /// its name in local segments, its name to the remote side, and what was registered, at least
    /// what was asked for.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (adapter, zone, region), DAT_INVALID_PARAMETER
    /// (kind, description, length, privileges), DAT_MODEL_NOT_SUPPORTED,
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_lmr_create(3DAT).
    pub fn dat_lmr_create(
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
    ) -> DAT_RETURN;

    /// Makes an event dispatcher of at least evd_min_qlen events, enabled and waitable. cno_handle
    /// may be DAT_HANDLE_NULL.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (adapter, notification object),
    /// DAT_INVALID_PARAMETER (length, flags, NULL), DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2,
    /// dat_evd_create(3DAT).
    pub fn dat_evd_create(
        ia_handle: DAT_IA_HANDLE,
        evd_min_qlen: DAT_COUNT,
        cno_handle: DAT_CNO_HANDLE,
        evd_flags: DAT_EVD_FLAGS,
        evd_handle: *mut DAT_EVD_HANDLE,
    ) -> DAT_RETURN;

    /// Attaches an event dispatcher to another notification object, or with DAT_HANDLE_NULL to
    /// none.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (either). See uDAPL 1.2, dat_evd_modify_cno(3DAT).
    pub fn dat_evd_modify_cno(evd_handle: DAT_EVD_HANDLE, cno_handle: DAT_CNO_HANDLE) -> DAT_RETURN;

    /// Makes a notification object, which event dispatchers trigger; agent is called too, or
    /// DAT_OS_WAIT_PROXY_AGENT_NULL.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE (adapter), DAT_INVALID_PARAMETER (agent, NULL),
    /// DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2, dat_cno_create(3DAT).
    pub fn dat_cno_create(
        ia_handle: DAT_IA_HANDLE,
        agent: DAT_OS_WAIT_PROXY_AGENT,
        cno_handle: *mut DAT_CNO_HANDLE,
    ) -> DAT_RETURN;

    /// Gives a notification object another agent, or with DAT_OS_WAIT_PROXY_AGENT_NULL none.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (agent). See uDAPL 1.2,
    /// dat_cno_modify_agent(3DAT).
    pub fn dat_cno_modify_agent(cno_handle: DAT_CNO_HANDLE, agent: DAT_OS_WAIT_PROXY_AGENT) -> DAT_RETURN;

    /// Tells the chosen fields of a notification object.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits, NULL). See
    /// uDAPL 1.2, dat_cno_query(3DAT).
    pub fn dat_cno_query(
        cno_handle: DAT_CNO_HANDLE,
        cno_param_mask: DAT_CNO_PARAM_MASK,
        cno_param: *mut DAT_CNO_PARAM,
    ) -> DAT_RETURN;

    /// Destroys a notification object.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_STATE (an event dispatcher refers to
    /// it, or a thread waits on it). See uDAPL 1.2, dat_cno_free(3DAT).
    pub fn dat_cno_free(cno_handle: DAT_CNO_HANDLE) -> DAT_RETURN;

    /// Lets events of an event dispatcher trigger its notification object.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE. See uDAPL 1.2, dat_evd_enable(3DAT).
    pub fn dat_evd_enable(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN;

    /// Keeps events of an event dispatcher from triggering its notification object.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE. See uDAPL 1.2, dat_evd_disable(3DAT).
    pub fn dat_evd_disable(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN;

    /// Makes an event dispatcher unwaitable; a thread that waits on it returns with
    /// DAT_INVALID_STATE.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE. See uDAPL 1.2, dat_evd_set_unwaitable(3DAT).
    pub fn dat_evd_set_unwaitable(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN;

    /// Makes an event dispatcher waitable again.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE. See uDAPL 1.2, dat_evd_clear_unwaitable(3DAT).
    pub fn dat_evd_clear_unwaitable(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN;
}

unsafe extern "C-unwind" {
    /// Waits until a notification object is triggered. evd_handle tells an event dispatcher that
    /// triggered it: a hint, others may have events too. A cancellation point, as dat_evd_wait is.
    ///
    /// Returns DAT_SUCCESS; DAT_QUEUE_EMPTY (time ran out), DAT_INVALID_HANDLE,
    /// DAT_INVALID_PARAMETER (NULL), DAT_INTERRUPTED_CALL. See uDAPL 1.2, dat_cno_wait(3DAT).
    pub fn dat_cno_wait(
        cno_handle: DAT_CNO_HANDLE,
        timeout: DAT_TIMEOUT,
        evd_handle: *mut DAT_EVD_HANDLE,
    ) -> DAT_RETURN;

    /// Waits until at least threshold events are queued, then takes the oldest. n_more_events tells
    /// how many remain; it is valid after DAT_TIMEOUT_EXPIRED too, when nothing was taken. One
    /// thread can wait at a time. A cancellation point: a thread that pthread_cancel ends in it
    /// leaves the event dispatcher in order.
    ///
    /// Returns DAT_SUCCESS; DAT_TIMEOUT_EXPIRED, DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER
    /// (threshold below 1 or above the length, NULL), DAT_INVALID_STATE (unwaitable, a thread
    /// waits, or a stream that allows no threshold but 1), DAT_ABORT (adapter closed),
    /// DAT_INTERRUPTED_CALL. See uDAPL 1.2, dat_evd_wait(3DAT).
    pub fn dat_evd_wait(
        evd_handle: DAT_EVD_HANDLE,
        timeout: DAT_TIMEOUT,
        threshold: DAT_COUNT,
        event: *mut DAT_EVENT,
        n_more_events: *mut DAT_COUNT,
    ) -> DAT_RETURN;
}
