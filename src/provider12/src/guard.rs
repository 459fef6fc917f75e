//! Around the slow slots: panics and cancellation end here.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dat_udat12::{DAT_ERROR, DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE, DAT_RETURN, DAT_SUCCESS};
use host::cancel;

use crate::error::Answer;

/// Runs the body of a slow slot and gives its return code.
///
/// A panic becomes `DAT_INTERNAL_ERROR`; the panic hook of [`host::diagnostics`] has
/// written its line by then. The thread cannot be cancelled meanwhile: it would leave
/// locks behind, and its stack could not be unwound through this code.
pub(crate) fn slow(body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    let before = cancel::forbid();
    let code = caught(|| match body() {
        Ok(()) => DAT_SUCCESS,
        Err(code) => code,
    })
    .unwrap_or(INTERNAL);
    cancel::restore(before);
    code
}

/// What a panic is told as.
pub(crate) const INTERNAL: DAT_RETURN = DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE);

/// The result of `body`, or `None` if it panicked.
pub(crate) fn caught<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).ok()
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
