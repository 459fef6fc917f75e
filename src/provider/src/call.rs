//! The frame of each call, which stops panics and cancellation, and converts an error into a return code.
//!
//! A slot converts an error of the core into a [`Fault`], which contains the position of a C argument.
//! [`Version::code`] converts the fault into the return code.
//!
//! | frame | calls | cancellation | panics | memory |
//! |---|---|---|---|---|
//! | [`making`] | create something | disabled | caught | checked before the call |
//! | [`slow`] | query, change or free | disabled | caught | from the reserve |
//! | [`fast`] | posts, dequeues, short queries | disabled | end the process | not allocated |
//! | [`fast_path`] | the same, in a thread with an epoch record | unchanged | end the process | not allocated |
//!
//! Changing the cancellation state costs two calls of libc. [`fast_path`] leaves it unchanged, because its calls reach
//! no cancellation point (see [`Transport`](dat_core::transport::Transport)), or disable cancellation there
//! ([`host::cancel`]). No input makes a fast call panic: its assertions guard `unsafe` blocks and always hold.

use std::mem::ManuallyDrop;

use dat_core::Object;
use dat_core::error::{Arg, Error, Role};
use dat_core::transport::Transport;
use dat_udat::{DAT_HANDLE, DAT_QUEUE_EMPTY, DAT_RETURN, DAT_SUCCESS};
use host::cancel::{self, uncancelled};
use host::cold_path;
use host::diagnostics::{CALL, RETURN};
use host::memory::{self, NoMemory};
use host::thread::isolate;

use crate::{Domain, Provider, Version, fork};

/// The cause of a failed call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The handle with this role is no live object of its kind.
    Handle(Role),
    /// The argument at this position, from 1, is invalid; 0 if the position is unknown.
    Argument(u32),
    /// An error of the core that concerns no argument or handle.
    Core(Error),
    /// No adapter of this name is registered.
    NotRegistered,
    /// The qualifier of an RSP is in use. For PSPs, [`Error::QualifierInUse`] has another code.
    ReservedQualifierInUse,
    /// A call that does not wait found no trigger in the CNO. For waits and EVDs, [`Error::QueueEmpty`] has another
    /// code.
    NotTriggered,
}

impl Fault {
    /// Returns the fault of an error in a call with arguments at `positions`.
    #[inline]
    pub fn new(error: Error, positions: &[(Arg, u32)]) -> Self {
        // An empty queue is frequent in programs that poll, so only this case is inlined.
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

/// Result of a slot, or of a part of a slot.
pub type Answer<T> = Result<T, Fault>;

/// Positions of a call's arguments, from 1. An [`Arg`] that is not in the list has the position 0.
pub type Positions = &'static [(Arg, u32)];

/// Converts errors of the core into faults.
pub trait At<T> {
    /// Converts the error with [`Fault::new`].
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

#[inline(always)]
pub(crate) fn code<F: Provider>(answer: Answer<()>) -> DAT_RETURN {
    match answer {
        Ok(()) => DAT_SUCCESS,
        Err(fault) => failed::<F>(fault),
    }
}

/// Runs a call that creates something, like [`slow`]. Fails with [`OUT_OF_MEMORY`] if memory is short.
pub fn making<F: Provider>(body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    match memory::admit() {
        Ok(_admitted) => slow::<F>(body),
        Err(NoMemory) => code::<F>(Err(OUT_OF_MEMORY)),
    }
}

/// Runs `body` and returns its return code. A panic becomes [`PANICKED`].
///
/// Disables cancellation, which would leave locks locked and unwind frames with destructors. Queries and frees need no
/// admission: [`host::memory`] reserves memory for them.
pub fn slow<F: Provider>(body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    let (mut body, mut answer) = (Some(body), Err(PANICKED));
    framed(F::domain(), &mut || {
        if let Some(body) = body.take() {
            answer = body();
        }
    });
    code::<F>(answer)
}

/// The part of [`slow`] that exists once, not in each slot. Returns also after a panic in `body`.
#[inline(never)]
fn framed<T: Transport>(domain: &'static Domain<T>, body: &mut dyn FnMut()) {
    let before = cancel::forbid();
    fork::finish(domain);
    let _ = isolate(body);
    cancel::restore(before);
}

/// Runs the extended operation `name` on the object with this handle like [`slow`], and logs it.
pub fn operation<F: Provider>(name: &str, handle: DAT_HANDLE, body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    uncancelled(|| log::debug!(target: CALL, "{name} handle={handle:p}"));
    let code = slow::<F>(body);
    uncancelled(|| log::debug!(target: RETURN, "{name} returns {}", F::Version::CODE_NAMES.shown(code)));
    code
}

/// Defines the slot of a call whose only argument is a handle, as a method of the object.
#[macro_export]
macro_rules! simple_slot {
    ($slot:ident: $type:ident as $role:ident, $method:ident) => {
        #[doc = concat!("Slot of ", stringify!($slot), ".")]
        pub fn $slot<F: $crate::Provider>(handle: $crate::udat::DAT_HANDLE) -> $crate::udat::DAT_RETURN {
            let role = dat_core::error::Role::$role;
            $crate::call::slow::<F>(|| {
                let object = $crate::handle::find::<F, dat_core::$type<F::Transport>>(handle, role)?;
                $crate::At::at(object.$method(), &[])
            })
        }
    };
}

/// Defines the slot of a query. `$fields` has all bits of its mask. With `fast` before the name, the slot runs by
/// [`fast`] instead of [`slow`].
#[macro_export]
macro_rules! query_slot {
    ($slot:ident: $($query:tt)*) => { $crate::query_slot!(slow $slot: $($query)*); };
    ($run:ident $slot:ident: $type:ident as $role:ident, $mask:ty, $fields:expr, $param:ty, $answer:expr) => {
        #[doc = concat!("Slot of ", stringify!($slot), ".")]
        pub fn $slot<F: $crate::Provider>(
            handle: $crate::udat::DAT_HANDLE,
            mask: $mask,
            param: $crate::ptr::OutPtr<$param>,
        ) -> $crate::udat::DAT_RETURN {
            type Object<F> = dat_core::$type<<F as $crate::Provider>::Transport>;
            let role = dat_core::error::Role::$role;
            $crate::call::$run::<F>(|| {
                $crate::handle::query::<F, Object<F>, _>(handle, role, mask & !$fields, param, $answer)
            })
        }
    };
}

/// Runs a post, dequeue or short query. Disables cancellation, because `body` can drop an object's last reference, and
/// this drop can reach a cancellation point.
pub fn fast<F: Provider>(body: impl FnOnce() -> Answer<()>) -> DAT_RETURN {
    uncancelled(|| code::<F>(body()))
}

/// Runs `body` with the handle's object in an epoch section. If the fast lookup fails, calls `otherwise`, a separate
/// function so that `fast_path` needs few registers. If `found` returns `false`, returns [`Error::QueueEmpty`]'s code.
#[inline(always)]
pub fn fast_path<F: Provider, O: Object>(
    handle: DAT_HANDLE,
    found: impl FnOnce(&O) -> bool,
    body: impl FnOnce(&O) -> Answer<()>,
    otherwise: impl FnOnce() -> DAT_RETURN,
) -> DAT_RETURN {
    let Some(held) = F::domain().enter::<O>(handle) else {
        cold_path();
        return otherwise();
    };
    // A panic ends the process, so the guard needs no drop on unwinding.
    let held = ManuallyDrop::new(held);
    if !found(&held) {
        drop(ManuallyDrop::into_inner(held));
        return DAT_QUEUE_EMPTY;
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

#[cold]
#[inline(never)]
fn failed<F: Provider>(fault: Fault) -> DAT_RETURN {
    F::Version::code(fault)
}

/// The fault of a panic.
pub const PANICKED: Fault = Fault::Core(Error::Internal);

/// The fault of a lack of memory.
pub const OUT_OF_MEMORY: Fault = Fault::Core(Error::NO_MEMORY);

#[cfg(test)]
mod tests;
