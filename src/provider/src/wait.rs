//! The slots that block. [`dat_face::wait`] does the work; its frames own nothing, because a cancelled thread is
//! unwound through them.

use dat_core::wait::Limit;
use dat_face::ptr::OutPtr;
use dat_face::{Face, wait};
use dat_udat::{DAT_CNO_HANDLE, DAT_COUNT, DAT_EVD_HANDLE, DAT_RETURN, DAT_TIMEOUT};

use crate::Udat;
use crate::ep::connect::micros;
use crate::evd::Event;

/// Slot of dat_evd_wait.
///
/// # Safety
/// Each pointer is NULL or writable.
pub unsafe extern "C-unwind" fn dat_evd_wait<F: Face<Version: Udat>>(
    evd_handle: DAT_EVD_HANDLE,
    timeout: DAT_TIMEOUT,
    threshold: DAT_COUNT,
    event: *mut Event<F>,
    n_more_events: *mut DAT_COUNT,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let event = unsafe { OutPtr::new(event) };
    // SAFETY: the caller's promise.
    let n_more_events = unsafe { OutPtr::new(n_more_events) };
    wait::evd_wait::<F>(evd_handle, || Limit::from_micros(micros(timeout)), threshold, event, n_more_events)
}

/// Slot of dat_cno_wait.
///
/// # Safety
/// `evd_handle` is NULL or writable.
pub unsafe extern "C-unwind" fn dat_cno_wait<F: Face<Version: Udat>>(
    cno_handle: DAT_CNO_HANDLE,
    timeout: DAT_TIMEOUT,
    evd_handle: *mut DAT_EVD_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let evd_handle = unsafe { OutPtr::new(evd_handle) };
    wait::cno_wait::<F>(cno_handle, Limit::from_micros(micros(timeout)), evd_handle)
}
