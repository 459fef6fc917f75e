//! The frame around the slow functions: panics and cancellation end here.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dat_udat12::{DAT_ERROR, DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE, DAT_RETURN, DAT_SUCCESS};
use host::cancel;

/// Runs the body of a slow function.
///
/// A panic becomes `DAT_INTERNAL_ERROR`; the panic hook has written its line by then. The thread cannot be cancelled
/// meanwhile: the body reads files and takes locks, and a thread that ended there would leave them behind.
pub fn slow(body: impl FnOnce() -> Result<(), DAT_RETURN>) -> DAT_RETURN {
    let before = cancel::forbid();
    let code = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => DAT_SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE),
    };
    cancel::restore(before);
    code
}

#[cfg(test)]
mod tests {
    use super::*;
    use dat_udat12::{DAT_ABORT, DAT_GET_TYPE};

    #[test]
    fn results_come_through() {
        assert_eq!(slow(|| Ok(())), DAT_SUCCESS);
        assert_eq!(slow(|| Err(DAT_ABORT)), DAT_ABORT);
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        let code = slow(|| panic!("on purpose"));
        assert_eq!(DAT_GET_TYPE(code), DAT_INTERNAL_ERROR);
    }
}
