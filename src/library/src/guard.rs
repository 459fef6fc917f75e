//! The frame around the slow functions: panics and cancellation end here.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dat_udat::dat_error::{DAT_RETURN, DAT_SUCCESS};
use host::cancel;
use host::diagnostics::{self, CALL, Function, PROVIDER_CALL, RETURN, Role};
use host::memory::{self, NoMemory};

use crate::api::Api;

/// Runs the body of a slow function that opens or registers something, if there is memory for it.
///
/// Without memory the body does not run, and the code is `DAT_INSUFFICIENT_RESOURCES`. Otherwise it does what [`slow`]
/// does.
pub fn making<A: Api>(body: impl FnOnce() -> Result<(), DAT_RETURN>) -> DAT_RETURN {
    match memory::admit() {
        Ok(_admitted) => slow::<A>(body),
        Err(NoMemory) => A::CODES.out_of_memory,
    }
}

/// Runs the body of a slow function.
///
/// A panic becomes `DAT_INTERNAL_ERROR`; the panic hook has written its line by then. The thread cannot be cancelled
/// meanwhile: the body reads files and takes locks, and a thread that ended there would leave them behind.
pub fn slow<A: Api>(body: impl FnOnce() -> Result<(), DAT_RETURN>) -> DAT_RETURN {
    let before = cancel::forbid();
    diagnostics::init(A::NAME, Role::Registry);
    let function = Function::of(&body).name();
    // Whoever registers is a provider.
    let targets = match function {
        "dat_registry_add_provider" | "dat_registry_remove_provider" => [PROVIDER_CALL; 2],
        _ => [CALL, RETURN],
    };
    log::debug!(target: targets[0], "{function}");
    let code = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => DAT_SUCCESS,
        Ok(Err(code)) => code,
        Err(_) => A::CODES.internal_error,
    };
    log::debug!(target: targets[1], "{function} returns {code:#010x}");
    cancel::restore(before);
    code
}

#[cfg(test)]
mod tests {
    use dat_udat12::{DAT_ABORT, DAT_GET_TYPE, DAT_INTERNAL_ERROR};

    use super::*;
    use crate::testing::Udat;

    #[test]
    fn results_come_through() {
        assert_eq!(slow::<Udat>(|| Ok(())), DAT_SUCCESS);
        assert_eq!(slow::<Udat>(|| Err(DAT_ABORT)), DAT_ABORT);
    }

    #[test]
    fn a_panic_is_an_internal_error() {
        let code = slow::<Udat>(|| panic!("on purpose"));
        assert_eq!(DAT_GET_TYPE(code), DAT_INTERNAL_ERROR);
    }
}
