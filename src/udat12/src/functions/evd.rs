//! Functions: event dispatchers

use crate::dat::*;
use crate::dat_error::DAT_RETURN;
use crate::dat_platform_specific::*;

unsafe extern "C" {
    /// Changes the number of events that an event dispatcher can hold to at least evd_min_qlen. No
    /// event is lost.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (length below 1),
    /// DAT_INVALID_STATE (more events are queued), DAT_INSUFFICIENT_RESOURCES. See uDAPL 1.2,
    /// dat_evd_resize(3DAT).
    pub fn dat_evd_resize(evd_handle: DAT_EVD_HANDLE, evd_min_qlen: DAT_COUNT) -> DAT_RETURN;

    /// Posts a software event: event_number must be DAT_SOFTWARE_EVENT, and the pointer in it is
    /// carried.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (event, or the event
    /// dispatcher does not admit software events), DAT_QUEUE_FULL. See uDAPL 1.2,
    /// dat_evd_post_se(3DAT).
    pub fn dat_evd_post_se(evd_handle: DAT_EVD_HANDLE, event: *const DAT_EVENT) -> DAT_RETURN;

    /// Takes the oldest event, without waiting.
    ///
    /// Returns DAT_SUCCESS; DAT_QUEUE_EMPTY, DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (NULL),
    /// DAT_INVALID_STATE (a thread waits on it). See uDAPL 1.2, dat_evd_dequeue(3DAT).
    pub fn dat_evd_dequeue(evd_handle: DAT_EVD_HANDLE, event: *mut DAT_EVENT) -> DAT_RETURN;

    /// Tells the chosen fields of an event dispatcher.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_PARAMETER (unknown bits, NULL). See
    /// uDAPL 1.2, dat_evd_query(3DAT).
    pub fn dat_evd_query(
        evd_handle: DAT_EVD_HANDLE,
        evd_param_mask: DAT_EVD_PARAM_MASK,
        evd_param: *mut DAT_EVD_PARAM,
    ) -> DAT_RETURN;

    /// Destroys an event dispatcher; events in it are lost.
    ///
    /// Returns DAT_SUCCESS; DAT_INVALID_HANDLE, DAT_INVALID_STATE (a stream feeds it, or a thread
    /// waits on it). See uDAPL 1.2, dat_evd_free(3DAT).
    pub fn dat_evd_free(evd_handle: DAT_EVD_HANDLE) -> DAT_RETURN;
}
