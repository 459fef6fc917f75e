//! The frame around the slow functions: panics and cancellation end here.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dat_udat12::{
    DAT_ERROR, DAT_INSUFFICIENT_RESOURCES, DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE, DAT_RESOURCE_MEMORY, DAT_RETURN,
    DAT_SUCCESS,
};
use host::cancel;
use host::memory::{self, NoMemory};

/// Runs the body of a slow function that opens or registers something, if there is memory for it.
///
/// Without memory the body does not run, and the code is `DAT_INSUFFICIENT_RESOURCES`. Otherwise it does what [`slow`]
/// does.
pub fn making(body: impl FnOnce() -> Result<(), DAT_RETURN>) -> DAT_RETURN {
    match memory::admit() {
        Ok(_admitted) => slow(body),
        Err(NoMemory) => OUT_OF_MEMORY,
    }
}

/// The return code of a call for which there is no memory.
pub const OUT_OF_MEMORY: DAT_RETURN = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY);

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
