//! The slots that block.
//!
//! A thread may be cancelled while it waits, and cancellation unwinds its stack as if an
//! exception of another language went through. Rust allows that for frames that own nothing
//! with a destructor. So the frames that are on the stack during the sleep, [`evd_wait`],
//! [`cno_wait`] and `sleep_on`, have plain data alone; everything else happens in *steps*,
//! which return before the sleep, catch panics and cannot be cancelled. What a wait holds
//! meanwhile is with the core, and goes when the thread ends.

use std::ffi::c_int;
use std::ptr;
use std::time::Duration;

use dat_core::error::{Arg, Error, Role};
use dat_core::wait::{EvdOutcome, Limit, MAX_FDS, Sleep, Step, cno_begin, cno_resume, evd_begin, evd_resume};
use dat_core::{Cno, Evd, Handle};
use dat_udat12::{DAT_CNO_HANDLE, DAT_COUNT, DAT_EVD_HANDLE, DAT_EVENT, DAT_RETURN, DAT_SUCCESS, DAT_TIMEOUT};
use host::cancel;
use libc::{nfds_t, pollfd, sigset_t, timespec};

use crate::attr::count;
use crate::ep::connect::micros;
use crate::error::{Answer, At, Positions, code, invalid_arg};
use crate::event::c_event;
use crate::guard::{INTERNAL, caught};
use crate::handle::{Face, c_handle, find};
use crate::ptr::OutPtr;

/// What a step asks for. Plain data.
#[derive(Clone, Copy)]
enum Next {
    Return(DAT_RETURN),
    Sleep(Sleep),
}

unsafe extern "C-unwind" {
    // As in the libc crate, but it may unwind: it is where a thread is cancelled.
    fn ppoll(fds: *mut pollfd, count: nfds_t, timeout: *const timespec, mask: *const sigset_t) -> c_int;
}

/// Sleeps until one of the descriptors is readable or the time is up. Gives whether a signal
/// ended it. Owns nothing: it may be unwound.
fn sleep_on(sleep: &Sleep) -> bool {
    let mut fds = [pollfd { fd: -1, events: libc::POLLIN, revents: 0 }; MAX_FDS];
    let mut used: nfds_t = 0;
    for (place, fd) in fds.iter_mut().zip(sleep.fds).take(sleep.count) {
        place.fd = fd;
        used += 1;
    }
    let limit = sleep.timeout.map(time_of);
    let limit = limit.as_ref().map_or(ptr::null(), ptr::from_ref);
    // SAFETY: the descriptors and the limit outlive the call; there is no signal mask.
    let result = unsafe { ppoll(fds.as_mut_ptr(), used, limit, ptr::null()) };
    // SAFETY: every thread has an errno.
    result < 0 && unsafe { *libc::__errno_location() } == libc::EINTR
}

fn time_of(time: Duration) -> timespec {
    timespec {
        tv_sec: libc::time_t::try_from(time.as_secs()).unwrap_or(libc::time_t::MAX),
        tv_nsec: time.subsec_nanos().into(),
    }
}

/// Where dat_evd_wait has its arguments that the core checks.
const WAIT: Positions = &[(Arg::Threshold, 3)];

/// The arguments of dat_evd_wait. Plain data.
#[derive(Clone, Copy)]
struct EvdCall {
    evd_handle: DAT_EVD_HANDLE,
    event: *mut DAT_EVENT,
    n_more_events: *mut DAT_COUNT,
}

impl EvdCall {
    /// The first step.
    ///
    /// # Safety
    /// The pointers are NULL or writable.
    unsafe fn begin<F: Face>(self, timeout: DAT_TIMEOUT, threshold: DAT_COUNT) -> Next {
        let first = || -> Answer<Next> {
            let evd = find::<F, Evd<F>>(self.evd_handle, Role::Evd)?;
            if self.event.is_null() {
                return Err(invalid_arg(4));
            }
            if self.n_more_events.is_null() {
                return Err(invalid_arg(5));
            }
            let threshold = usize::try_from(threshold).map_err(|_| invalid_arg(3))?;
            let step = evd_begin(evd, threshold, Limit::from_micros(micros(timeout)));
            // SAFETY: the caller's promise.
            Ok(unsafe { self.after::<F>(step) })
        };
        caught(first).unwrap_or(Err(INTERNAL)).unwrap_or_else(Next::Return)
    }

    /// A later step.
    ///
    /// # Safety
    /// As for [`EvdCall::begin`].
    unsafe fn resume<F: Face>(self, interrupted: bool) -> Next {
        let next = || {
            let step = evd_resume::<F>(interrupted);
            // SAFETY: the caller's promise.
            unsafe { self.after::<F>(step) }
        };
        caught(next).unwrap_or(Next::Return(INTERNAL))
    }

    /// What a step of the core asks for; writes the results if it was the last one.
    ///
    /// # Safety
    /// As for [`EvdCall::begin`].
    unsafe fn after<F: Face>(self, step: Step<EvdOutcome>) -> Next {
        let outcome = match step {
            Step::Sleep(sleep) => return Next::Sleep(sleep),
            Step::Done(outcome) => outcome,
        };
        // SAFETY: the caller's promise.
        let event = unsafe { OutPtr::new(self.event) };
        // SAFETY: the caller's promise.
        let n_more_events = unsafe { OutPtr::new(self.n_more_events) };
        let counted = matches!(outcome.result, Ok(_) | Err(Error::TimeoutExpired | Error::Interrupted));
        if let (true, Some(out)) = (counted, n_more_events.optional()) {
            out.write(count(outcome.more));
        }
        match outcome.result.at(WAIT) {
            Ok(taken) => {
                if let Some(out) = event.optional() {
                    out.write(c_event::<F>(self.evd_handle, taken));
                }
                Next::Return(DAT_SUCCESS)
            }
            Err(code) => Next::Return(code),
        }
    }
}

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
pub unsafe extern "C-unwind" fn evd_wait<F: Face>(
    evd_handle: DAT_EVD_HANDLE,
    timeout: DAT_TIMEOUT,
    threshold: DAT_COUNT,
    event: *mut DAT_EVENT,
    n_more_events: *mut DAT_COUNT,
) -> DAT_RETURN {
    let call = EvdCall { evd_handle, event, n_more_events };
    let before = cancel::forbid();
    // SAFETY: the caller's promise.
    let mut next = unsafe { call.begin::<F>(timeout, threshold) };
    loop {
        match next {
            Next::Return(code) => {
                cancel::restore(before);
                return code;
            }
            Next::Sleep(sleep) => {
                cancel::restore(before);
                let interrupted = sleep_on(&sleep);
                cancel::forbid();
                // SAFETY: the caller's promise.
                next = unsafe { call.resume::<F>(interrupted) };
            }
        }
    }
}

/// The step that `step` asks for; writes the result if it was the last one.
///
/// # Safety
/// `evd_handle` is NULL or writable.
unsafe fn after_cno(evd_handle: *mut DAT_EVD_HANDLE, step: Step<dat_core::Result<Handle>>) -> Next {
    let result = match step {
        Step::Sleep(sleep) => return Next::Sleep(sleep),
        Step::Done(result) => result,
    };
    let told = match result {
        Ok(evd) => Some(evd),
        Err(Error::QueueEmpty) => Some(Handle::NULL),
        Err(_) => None,
    };
    // SAFETY: the caller's promise.
    let out = unsafe { OutPtr::new(evd_handle) };
    if let (Some(told), Some(out)) = (told, out.optional()) {
        out.write(c_handle(told));
    }
    Next::Return(result.map_or_else(|error| code(error, &[]), |_| DAT_SUCCESS))
}

/// The first step of [`cno_wait`].
///
/// # Safety
/// `evd_handle` is NULL or writable.
unsafe fn begin_cno<F: Face>(
    cno_handle: DAT_CNO_HANDLE,
    timeout: DAT_TIMEOUT,
    evd_handle: *mut DAT_EVD_HANDLE,
) -> Next {
    let first = || -> Answer<Next> {
        let cno = find::<F, Cno<F>>(cno_handle, Role::Cno)?;
        if evd_handle.is_null() {
            return Err(invalid_arg(3));
        }
        let step = cno_begin(cno, Limit::from_micros(micros(timeout)));
        // SAFETY: the caller's promise.
        Ok(unsafe { after_cno(evd_handle, step) })
    };
    caught(first).unwrap_or(Err(INTERNAL)).unwrap_or_else(Next::Return)
}

/// A later step of [`cno_wait`].
///
/// # Safety
/// `evd_handle` is NULL or writable.
unsafe fn resume_cno<F: Face>(interrupted: bool, evd_handle: *mut DAT_EVD_HANDLE) -> Next {
    let next = || {
        let step = cno_resume::<F>(interrupted);
        // SAFETY: the caller's promise.
        unsafe { after_cno(evd_handle, step) }
    };
    caught(next).unwrap_or(Next::Return(INTERNAL))
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
    let before = cancel::forbid();
    // SAFETY: the caller's promise.
    let mut next = unsafe { begin_cno::<F>(cno_handle, timeout, evd_handle) };
    loop {
        match next {
            Next::Return(code) => {
                cancel::restore(before);
                return code;
            }
            Next::Sleep(sleep) => {
                cancel::restore(before);
                let interrupted = sleep_on(&sleep);
                cancel::forbid();
                // SAFETY: the caller's promise.
                next = unsafe { resume_cno::<F>(interrupted, evd_handle) };
            }
        }
    }
}
