//! The slots that block. How they do it is in [`dat_face::wait`]; their frames own nothing, since
//! a cancelled thread is unwound through them.

use dat_core::wait::Limit;
use dat_face::ptr::OutPtr;
use dat_face::{Face, wait};
use dat_udat12::{DAT_CNO_HANDLE, DAT_COUNT, DAT_EVD_HANDLE, DAT_EVENT, DAT_RETURN, DAT_TIMEOUT};

use crate::Udat12;
use crate::ep::connect::micros;

/// Slot of dat_evd_wait: waits for events and takes the oldest.
///
/// At entry every queued event counts; while the thread is blocked only one that notifies ends the
/// wait. One thread at a time may wait. A cancellation point.
///
/// # Parameters
/// * `evd_handle` - in, the dispatcher, waitable.
/// * `timeout` - in, microseconds; 0 only looks, `DAT_TIMEOUT_INFINITE` waits for ever.
/// * `threshold` - in, events that must be queued, 1 to the length of the queue; 1 if an endpoint that is
///   configured to be unsignalled or to wait for solicited messages feeds the dispatcher.
/// * `event` - out, the oldest event.
/// * `n_more_events` - out, events that are queued after it; on `DAT_TIMEOUT_EXPIRED` and
///   `DAT_INTERRUPTED_CALL` events that are queued.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE1` | not a dispatcher |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG4`, `DAT_INVALID_ARG5` | a result is NULL |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | the threshold is below 1 or above the length of the queue |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_WAITER` | another thread waits |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_UNWAITABLE` | it is, or becomes, unwaitable |
/// | `DAT_INVALID_STATE` / `DAT_INVALID_STATE_EVD_CONFIG_NOTIFY`, `..._SOLICITED` | another threshold than 1 with such an endpoint |
/// | `DAT_TIMEOUT_EXPIRED` | the time is up; nothing was taken |
/// | `DAT_INTERRUPTED_CALL` | a signal came; nothing was taken |
/// | `DAT_ABORT` | the dispatcher was destroyed |
///
/// # Specification
/// uDAPL 1.2, dat_evd_wait(3DAT).
///
/// # Safety
/// Each pointer is NULL or writable.
pub unsafe extern "C-unwind" fn evd_wait<F: Face<Version = Udat12>>(
    evd_handle: DAT_EVD_HANDLE,
    timeout: DAT_TIMEOUT,
    threshold: DAT_COUNT,
    event: *mut DAT_EVENT,
    n_more_events: *mut DAT_COUNT,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let event = unsafe { OutPtr::new(event) };
    // SAFETY: the caller's promise.
    let n_more_events = unsafe { OutPtr::new(n_more_events) };
    wait::evd_wait::<F>(evd_handle, Limit::from_micros(micros(timeout)), threshold, event, n_more_events)
}

/// Slot of dat_cno_wait: waits until a notification object is triggered.
///
/// A trigger that came before is taken at once. Several threads may wait; a trigger wakes one
/// of them. A cancellation point.
///
/// # Parameters
/// * `cno_handle` - in, the notification object.
/// * `timeout` - in, microseconds; 0 only looks, `DAT_TIMEOUT_INFINITE` waits for ever.
/// * `evd_handle` - out, an EVD that triggered it: a hint, others may have too. NULL if the
///   time is up or the adapter was closed.
///
/// # Errors
/// | returned | when |
/// |---|---|
/// | `DAT_INVALID_HANDLE` / `DAT_INVALID_HANDLE_CNO` | not a notification object |
/// | `DAT_INVALID_PARAMETER` / `DAT_INVALID_ARG3` | `evd_handle` is NULL |
/// | `DAT_QUEUE_EMPTY` | the time is up |
/// | `DAT_INTERRUPTED_CALL` | a signal came |
///
/// # Specification
/// uDAPL 1.2, dat_cno_wait(3DAT).
///
/// # Safety
/// `evd_handle` is NULL or writable.
pub unsafe extern "C-unwind" fn cno_wait<F: Face>(
    cno_handle: DAT_CNO_HANDLE,
    timeout: DAT_TIMEOUT,
    evd_handle: *mut DAT_EVD_HANDLE,
) -> DAT_RETURN {
    // SAFETY: the caller's promise.
    let evd_handle = unsafe { OutPtr::new(evd_handle) };
    wait::cno_wait::<F>(cno_handle, Limit::from_micros(micros(timeout)), evd_handle)
}
