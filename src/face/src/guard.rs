//! The frame around each call: panics and cancellation end here, and faults become codes.

use std::panic::{AssertUnwindSafe, catch_unwind};

use dat_core::error::Error;
use host::cancel::{self, uncancelled};

use crate::{Answer, Code, Face, Fault, SUCCESS, Version};

/// The return code of a call that ended with `answer`.
#[inline(always)]
pub(crate) fn code<F: Face>(answer: Answer<()>) -> Code {
    match answer {
        Ok(()) => SUCCESS,
        Err(fault) => F::Version::code(fault),
    }
}

/// Runs the body of a slow call and gives its return code.
///
/// A panic becomes the code of [`Error::Internal`]; the panic hook of [`host::diagnostics`]
/// has written its line by then. The thread cannot be cancelled meanwhile: it would leave
/// locks behind, and its stack could not be unwound through this code.
pub fn slow<F: Face>(body: impl FnOnce() -> Answer<()>) -> Code {
    let before = cancel::forbid();
    let code = code::<F>(caught(body).unwrap_or(Err(PANICKED)));
    cancel::restore(before);
    code
}

/// Runs the body of a fast call and gives its return code. The body neither allocates nor panics:
/// should it panic all the same, the process ends, since no frame here catches. The thread cannot be
/// cancelled meanwhile.
#[inline(always)]
pub fn fast<F: Face>(body: impl FnOnce() -> Answer<()>) -> Code {
    uncancelled(|| code::<F>(body()))
}

/// The fault of a call that panicked.
pub const PANICKED: Fault = Fault::Core(Error::Internal);

/// The result of `body`, or `None` if it panicked.
pub fn caught<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).ok()
}
