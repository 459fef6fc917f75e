//! Around the slow functions: panics and cancellation end here.

use std::ffi::c_int;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dat_udat12::{DAT_ERROR, DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE, DAT_RETURN, DAT_SUCCESS};

/// Runs the body of a slow function.
///
/// A panic becomes `DAT_INTERNAL_ERROR`; the panic hook has written its line by then. The thread
/// cannot be cancelled meanwhile: the body reads files and takes locks, and a thread that ended
/// there would leave them behind.
pub fn slow(body: impl FnOnce() -> Result<(), DAT_RETURN>) -> DAT_RETURN {
    let _uncancelled = Uncancelled::new();
    match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => DAT_SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE),
    }
}

/// While this lives, `pthread_cancel` of the thread has to wait.
struct Uncancelled {
    before: c_int,
}

const PTHREAD_CANCEL_DISABLE: c_int = 1;

unsafe extern "C" {
    // Not in the libc crate.
    fn pthread_setcancelstate(state: c_int, before: *mut c_int) -> c_int;
}

impl Uncancelled {
    fn new() -> Self {
        let mut before = 0;
        // SAFETY: the state is one of the two there are; `before` outlives the call.
        unsafe { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &mut before) };
        Uncancelled { before }
    }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        let mut ignored = 0;
        // SAFETY: the state is the one that was in force; the pointer outlives the call.
        unsafe { pthread_setcancelstate(self.before, &mut ignored) };
    }
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
