//! The frame around each call: panics and cancellation end here, and the reason why a call fails becomes its return
//! code.
//!
//! The core says what is wrong; the call says, with a list of positions, which argument of the C function that is.
//! Faults stay typed until the call returns, where [`Version::code`] gives them their numbers.
//!
//! Fast calls reach no cancellation point (see [`Transport`](dat_core::transport::Transport)) and leave the state of the
//! thread alone, which would cost two calls of libc. What may run in one of them after all and is a cancellation point
//! forbids it itself ([`host::cancel`]). Slow calls run in `making`, which lets in a call that
//! makes something only while the reserve of memory has a share for every call under way or the system as much, or in
//! `slow`, which always lets in. Fast calls are not guarded against panics, and nothing that a program or a peer does
//! makes them panic: their assertions stand before `unsafe` blocks and hold always.

use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};

use dat_core::Object;
use dat_core::error::{Arg, Error, Resource, Role};
use dat_udat::{DAT_HANDLE, DAT_RETURN, DAT_SUCCESS};
use host::cancel::{self, uncancelled};
use host::cold_path;
use host::diagnostics::{CALL, Function, RETURN};
use host::memory::{self, NoMemory};

use crate::{Provider, Version};

/// The reason why a call fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The handle in this role is not that of a live object of its kind.
    Handle(Role),
    /// The argument at this position, counted from 1, is invalid; 0 for one without a position.
    Argument(u32),
    /// An error of the core that is not about an argument or a handle.
    Core(Error),
    /// No adapter of this name is registered.
    NotRegistered,
    /// The qualifier of a reserved service point is taken. [`Error::QualifierInUse`] is about a public one: programs
    /// treat the code of that as an ordinary answer, and a version may give it another form.
    ReservedQualifierInUse,
    /// A notification object is not triggered, and nobody waits for it. [`Error::QueueEmpty`] is about a wait and about
    /// dispatchers: programs poll these, and a version may give the code of that another form.
    NotTriggered,
}

impl Fault {
    /// The fault for an `error` of the core in a call whose arguments are at `positions`.
    #[inline]
    pub fn new(error: Error, positions: &[(Arg, u32)]) -> Self {
        // For a program that polls this is no rare case.
        if matches!(error, Error::QueueEmpty) { Fault::Core(error) } else { Fault::positioned(error, positions) }
    }

    #[cold]
    #[inline(never)]
    fn positioned(error: Error, positions: &[(Arg, u32)]) -> Self {
        match error {
            Error::InvalidHandle(role) => Fault::Handle(role),
            Error::InvalidParameter(arg) => {
                Fault::Argument(positions.iter().find(|(known, _)| *known == arg).map_or(0, |(_, position)| *position))
            }
            other => Fault::Core(other),
        }
    }
}

/// Result of a part of a call.
pub type Answer<T> = Result<T, Fault>;

/// Positions of arguments, counted from 1, by their role in a call.
pub type Positions = &'static [(Arg, u32)];

/// Gives the errors of the core their positions among the arguments.
pub trait At<T> {
    /// Returns the value, or the fault of a call whose arguments are at `positions`.
    ///
    /// # Errors
    /// The fault that [`Fault::new`] makes of the error.
    fn at(self, positions: Positions) -> Answer<T>;
}

impl From<NoMemory> for Fault {
    fn from(_: NoMemory) -> Self {
        OUT_OF_MEMORY
    }
}

impl<T> At<T> for dat_core::Result<T> {
    #[inline]
    fn at(self, positions: Positions) -> Answer<T> {
        self.map_err(|error| Fault::new(error, positions))
    }
}

impl At<()> for () {
    fn at(self, _: Positions) -> Answer<()> {
        Ok(())
    }
}

/// The return code of a call that ended with `answer`.
#[inline(always)]
pub(crate) fn code<F: Provider>(answer: Answer<()>) -> DAT_RETURN {
    match answer {
        Ok(()) => DAT_SUCCESS,
        Err(fault) => failed::<F>(fault),
    }
}

/// Runs the body of a slow call that makes something, if there is memory for it, and gives its return code.
///
/// Without memory the body does not run, and the code is that of [`Resource::Memory`]. Otherwise it does what [`slow`]
/// does.
pub fn making<F: Provider>(body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    match memory::admit() {
        Ok(_admitted) => slow::<F>(body),
        Err(NoMemory) => code::<F>(Err(OUT_OF_MEMORY)),
    }
}

/// Runs the body of a slow call and gives its return code. The calls that find something out or take something down
/// run in this frame even when memory is out: the reserve of [`host::memory`] has a part for them.
///
/// A panic becomes the code of [`Error::Internal`]; the panic hook of [`host::diagnostics`] has written its line by
/// then. The thread cannot be cancelled meanwhile: cancellation would leave locks behind, and the stack could not be
/// unwound through this code.
pub fn slow<F: Provider>(body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    let before = cancel::forbid();
    let function = Function::of(&body);
    log::debug!(target: CALL, "{function}");
    let code = code::<F>(caught(body).unwrap_or(Err(PANICKED)));
    log::debug!(target: RETURN, "{function} returns {code:#010x}");
    cancel::restore(before);
    code
}

/// Defines the slot of a call that has one argument, the handle of an object: a method of this object without parameters.
#[macro_export]
macro_rules! simple_slot {
    ($slot:ident: $type:ident as $role:ident, $method:ident) => {
        #[doc = concat!("Slot of ", stringify!($slot), ".")]
        pub fn $slot<F: $crate::Provider>(handle: $crate::udat::DAT_HANDLE) -> $crate::udat::DAT_RETURN {
            let role = $crate::core::error::Role::$role;
            $crate::call::slow::<F>(|| {
                let object = $crate::handle::find::<F, $crate::core::$type<F::Transport>>(handle, role)?;
                $crate::At::at(object.$method(), &[])
            })
        }
    };
}

/// Runs the body of a fast call, which is a post, a dequeue or a short query, and gives its return code. The body neither
/// allocates nor panics. If it panicked anyway, the process would end, because no frame here catches. The thread cannot be
/// cancelled meanwhile: the body may drop the last reference to an object.
pub fn fast<F: Provider>(body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    uncancelled(|| code::<F>(body()))
}

/// Does what [`fast`] does, for a call that often finds nothing, because programs poll by it.
pub fn polling<F: Provider>(body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    uncancelled(|| match body() {
        Err(Fault::Core(Error::QueueEmpty)) => F::Version::QUEUE_EMPTY,
        answer => code::<F>(answer),
    })
}

/// Does what [`fast`] does, with the object of type `O` behind `handle`, if that can be entered in the quickest way, as nearly
/// always. For all else the code is that of `otherwise`, which has a function of its own, so that this one has little to keep.
/// If `found` says that the body would find nothing, the code is that of [`Error::QueueEmpty`].
#[inline(always)]
pub fn quickly<F: Provider, O: Object>(
    handle: DAT_HANDLE,
    found: impl FnOnce(&O) -> bool,
    body: impl FnOnce(&O) -> Answer<()>,
    otherwise: impl FnOnce() -> DAT_RETURN,
) -> DAT_RETURN {
    let Some(held) = F::domain().get_quickly::<O>(handle) else {
        cold_path();
        return otherwise();
    };
    // A panic would end the process, so that nothing would have to be left.
    let held = ManuallyDrop::new(held);
    if !found(&held) {
        drop(ManuallyDrop::into_inner(held));
        return F::Version::QUEUE_EMPTY;
    }
    match body(&held) {
        Ok(()) => {
            drop(ManuallyDrop::into_inner(held));
            DAT_SUCCESS
        }
        Err(fault) => {
            cold_path();
            drop(ManuallyDrop::into_inner(held));
            failed::<F>(fault)
        }
    }
}

/// The return code of a fault.
#[cold]
#[inline(never)]
fn failed<F: Provider>(fault: Fault) -> DAT_RETURN {
    F::Version::code(fault)
}

/// The fault of a call that panicked.
pub const PANICKED: Fault = Fault::Core(Error::Internal);

/// The fault of a call for which there is no memory.
pub const OUT_OF_MEMORY: Fault = Fault::Core(Error::InsufficientResources(Resource::Memory));

/// The result of `body`, or `None` if it panicked.
pub fn caught<R>(body: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(body)).ok()
}

#[cfg(test)]
mod tests;
