//! Around the slow slots: panics and cancellation end here.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dat_udat12::{DAT_ERROR, DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE, DAT_RETURN, DAT_SUCCESS};

use crate::error::Answer;

/// Runs the body of a slow slot and gives its return code.
///
/// A panic becomes `DAT_INTERNAL_ERROR`; the panic hook of [`dat_registry::diagnostics`] has
/// written its line by then. The thread cannot be cancelled meanwhile: it would leave
/// locks behind, and its stack could not be unwound through this code.
pub(crate) fn slow(body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    let before = forbid_cancel();
    let code = caught(|| match body() {
        Ok(()) => DAT_SUCCESS,
        Err(code) => code,
    })
    .unwrap_or(INTERNAL);
    restore_cancel(before);
    code
}

/// What a panic is told as.
pub(crate) const INTERNAL: DAT_RETURN = DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);

/// The result of `body`, or `None` if it panicked.
pub(crate) fn caught<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).ok()
}

/// Whether a thread could be cancelled before [`forbid_cancel`].
#[derive(Clone, Copy)]
pub(crate) struct CancelState(c_int);

const PTHREAD_CANCEL_DISABLE: c_int = 1;

unsafe extern "C-unwind" {
    // Not in the libc crate. Unwinds where it gives way to asynchronous cancellation.
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

/// From now on `pthread_cancel` of the calling thread has to wait.
pub(crate) fn forbid_cancel() -> CancelState {
    let mut before = 0;
    // SAFETY: the state is one of the two that there are; `before` outlives the call.
    unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut before) };
    CancelState(before)
}

/// Ends what [`forbid_cancel`] began.
pub(crate) fn restore_cancel(before: CancelState) {
    let mut ignored = 0;
    // SAFETY: the state is the one that was in force; the pointer outlives the call.
    unsafe { pthread_setcancelstate(before.0, &mut ignored) };
}

#[cfg(test)]
mod tests {
    use dat_udat12::DAT_ABORT;

    use super::*;

    #[test]
    fn results_come_through_and_panics_become_codes() {
        assert_eq!(slow(|| Ok(())), DAT_SUCCESS);
        assert_eq!(slow(|| Err(DAT_ABORT)), DAT_ABORT);
        assert_eq!(slow(|| panic!("on purpose")), INTERNAL);
    }
}
