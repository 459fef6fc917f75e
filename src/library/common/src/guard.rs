//! The wrapper of slow functions, which catches panics and disables cancellation.

use std::fmt::Display;

use dat_udat::dat_error::{DAT_ERROR, DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE, DAT_RETURN, DAT_SUCCESS};
use host::cancel;
use host::diagnostics::{self, CALL, Function, PROVIDER_CALL, RETURN, Role};
use host::memory::{self, NoMemory};
use host::thread::isolate;

use crate::api::{Api, OUT_OF_MEMORY};

/// Like [`slow`], for a function that creates something: returns `DAT_INSUFFICIENT_RESOURCES` if memory is low.
pub fn making<A: Api>(body: impl FnOnce() -> Result<(), DAT_RETURN>) -> DAT_RETURN {
    making_with::<A>(&"", body)
}

/// Like [`making`], and logs `arguments` after the name of the function.
pub fn making_with<A: Api>(arguments: &dyn Display, body: impl FnOnce() -> Result<(), DAT_RETURN>) -> DAT_RETURN {
    match memory::admit() {
        Ok(_admitted) => framed::<A>(CALL, RETURN, arguments, body),
        Err(NoMemory) => OUT_OF_MEMORY,
    }
}

/// Runs the body of a slow function. Disables cancellation, because the body opens files and takes locks. Returns
/// `DAT_INTERNAL_ERROR` after a panic, which the panic hook has logged.
pub fn slow<A: Api>(body: impl FnOnce() -> Result<(), DAT_RETURN>) -> DAT_RETURN {
    framed::<A>(CALL, RETURN, &"", body)
}

/// Like [`slow`], for a function that providers call: logs with the target [`PROVIDER_CALL`].
pub fn slow_for_provider<A: Api>(body: impl FnOnce() -> Result<(), DAT_RETURN>) -> DAT_RETURN {
    framed::<A>(PROVIDER_CALL, PROVIDER_CALL, &"", body)
}

fn framed<A: Api>(
    call: &'static str,
    return_: &'static str,
    arguments: &dyn Display,
    body: impl FnOnce() -> Result<(), DAT_RETURN>,
) -> DAT_RETURN {
    let before = cancel::forbid();
    diagnostics::init(A::NAME, Role::Registry);
    let function = Function::of(&body);
    log::debug!(target: call, "{function}{arguments}");
    let code = match isolate(body) {
        Some(Ok(())) => DAT_SUCCESS,
        Some(Err(code)) => code,
        None => DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE),
    };
    log::debug!(target: return_, "{function} returns {}", A::NAMES.shown(code));
    cancel::restore(before);
    code
}

#[cfg(test)]
mod tests;
